// What an exchange changed in what the server keeps: rows that are new, changed or gone.
import type { Exchange, Row } from './world.ts'

/** `changed`: the names of the columns that are new or have another value. `earlier`: the values before; undefined for a new row. */
export type KeptRow = Row & {
  kind: 'new' | 'changed' | 'gone'
  changed: readonly string[]
  earlier: Row['columns'] | undefined
}

/** The columns that tell the rows of a table apart. */
const keys: Readonly<Record<string, readonly string[]>> = {
  session: ['user_id', 'secret_hash'],
  token_cutoff: ['user_id', 'sign_in_id'],
  known_device: ['user_id', 'label', 'network'],
  inbox: ['user_id'],
}

export function changesOf({ rows: { before, after } }: Pick<Exchange, 'rows'>): KeptRow[] {
  const earlier = new Map(before.map((row) => [nameOf(row), row]))
  const later = new Set(after.map(nameOf))
  const gone = before.filter((row) => !later.has(nameOf(row)))
  return [
    ...after.flatMap((row) => changeOf(row, earlier.get(nameOf(row)))),
    ...gone.map((row) => ({ ...row, kind: 'gone' as const, changed: [], earlier: row.columns })),
  ]
}

function changeOf(row: Row, earlier: Row | undefined): KeptRow[] {
  if (earlier === undefined) return [{ ...row, kind: 'new', changed: Object.keys(row.columns), earlier: undefined }]
  const changed = Object.entries(row.columns).flatMap(([name, value]) =>
    earlier.columns[name] === value ? [] : [name],
  )
  return changed.length === 0 ? [] : [{ ...row, kind: 'changed', changed, earlier: earlier.columns }]
}

function nameOf({ table, columns }: Row): string {
  const names = keys[table] ?? Object.keys(columns)
  return JSON.stringify([table, ...names.map((name) => columns[name])])
}
