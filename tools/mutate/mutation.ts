// One security check, as a text of a file and what disables it, with the tests of which one must then fail.

export type Mutation = { name: string; file: string; from: string; to: string; tests: readonly string[] }

/** What the mutated service does, the text of the check, and the text that disables it. */
type Row = readonly [does: string, from: string, to: string]

/** Checks of one file that the same tests protect. `about` begins the name of each. */
export function checksIn(
  about: string,
  { file, tests, rows }: { file: string; tests: readonly string[]; rows: readonly Row[] },
): Mutation[] {
  return rows.map(([does, from, to]) => ({ name: `${about}: ${does}`, file, from, to, tests }))
}
