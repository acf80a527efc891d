// What an engine answers when it is examined, and the sentences that both engines share.
import { type Finding, fault, ok, warning } from '../finding.ts'
import type { SigningKey } from './store.ts'

export type Examined = {
  findings: Finding[]
  /** Undefined where they could not be read. */
  signingKeys: SigningKey[] | undefined
}

/** How the migrations that a database has stand to those that this program knows. */
export function schemaFinding({ applied, known }: { applied: readonly string[]; known: readonly string[] }): Finding {
  const newer = applied.find((name) => !known.includes(name))
  const missing = known.filter((name) => !applied.includes(name))
  if (newer !== undefined)
    return fault('schema', {
      found: `${newer} was made by a newer Carillon; this program knows ${known.at(-1)}`,
      change: 'run the version that made it, or a later one',
    })
  if (missing.length === 0) return ok('schema', `${applied.at(-1)}, as this program has it`)
  const found = applied.length === 0 ? 'the database has no tables yet' : `${missing.join(', ')} not applied yet`
  return warning('schema', { found, change: 'npx carillon migrate' })
}

/** What the marks of a move say (marks.ts): their tables are there or not. */
export function markFindings({ isFilling, isMoving }: { isFilling: boolean; isMoving: boolean }): Finding[] {
  const findings: Finding[] = []
  if (isFilling)
    findings.push(
      fault('move', {
        found: 'a move or a restore has filled this database by half',
        change: 'run the same command again: it finishes what it began',
      }),
    )
  if (isMoving)
    findings.push(
      fault('move', {
        found: 'this database takes no writes: it is being moved, or was',
        change: 'CARILLON_DATABASE_URL as the move was told; to take it back: npx carillon move --give-up --from ...',
      }),
    )
  return findings
}
