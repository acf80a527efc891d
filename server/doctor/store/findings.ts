// What an engine answers when it is examined, and the sentences that both engines share.

import type { SigningKey } from '../../store/store.ts'
import { iso } from '../../times.ts'
import { type Finding, fault, ok, warning } from '../finding.ts'

/** `deep` also reads what is kept, as far as the engine can say whether it is damaged. */
export type Examination = { now: () => number; deep?: boolean }

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

/** The row of the mark of a move (marks.ts). */
export type MovingRow = { target: string; started_at: number; ended_at: number | null }

/** What the marks of a move say: their tables are there or not. */
export function markFindings({ isFilling, moving }: { isFilling: boolean; moving: MovingRow | undefined }): Finding[] {
  const findings: Finding[] = []
  if (isFilling)
    findings.push(
      fault('move', {
        found: 'a move or a restore has filled this database by half',
        change: 'run the same command again: it finishes what it began',
      }),
    )
  if (moving !== undefined) findings.push(fault('move', movingWords(moving)))
  return findings
}

const giveUp = 'or give it up: npx carillon move --give-up --from THIS'

function movingWords({ target, started_at, ended_at }: MovingRow): { found: string; change: string } {
  const since = iso(Number(ended_at ?? started_at))
  if (ended_at === null)
    return {
      found: `it is being moved to ${target} since ${since}, and takes no writes until that is done`,
      change: `run the same move again; ${giveUp} (what was copied is of no use then)`,
    }
  return {
    found: `it was moved to ${target} at ${since}, and takes no writes since`,
    change: `set CARILLON_DATABASE_URL to that one; ${giveUp} (what was written to the new one is not in it)`,
  }
}
