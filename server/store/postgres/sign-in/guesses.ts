// Counts guesses on PostgreSQL. The limits are in functions/sign-in/guesses.sql.
import { guessClockLeewayMs } from '../../operations.ts'
import type { GuessLimits, GuessRefusal, Input } from '../../store.ts'
import type { Database } from '../connection/connection.ts'
import { auditText } from './audit-text.ts'

export async function guessRefusals(db: Database, limits: GuessLimits): Promise<GuessRefusal[]> {
  const row = await db.one('guessRefusals', 'select guess_refusals($1, $2, $3, $4, $5, $6, $7, $8)', valuesOf(limits))
  return row?.[0] as unknown as GuessRefusal[]
}

export async function reserveGuess(db: Database, limits: GuessLimits): Promise<GuessRefusal[]> {
  const row = await db.one('reserveGuess', 'select reserve_guess($1, $2, $3, $4, $5, $6, $7, $8)', valuesOf(limits))
  return row?.[0] as unknown as GuessRefusal[]
}

function valuesOf({ counts, rates, at }: GuessLimits) {
  const [keys, steps] = [rates.map(({ key }) => key), rates.map(({ intervalMs }) => intervalMs)]
  const bursts = rates.map(({ burst }) => burst)
  return [[...counts.keys], [...counts.delaysMs], counts.keptMs, keys, steps, bursts, guessClockLeewayMs, at]
}

export async function clearGuesses(db: Database, { keys, rates }: Input<'clearGuesses'>): Promise<void> {
  const values = [[...keys], rates.map(({ key }) => key), rates.map(({ intervalMs }) => intervalMs)]
  await db.one('clearGuesses', 'select clear_guesses($1, $2, $3)', values)
}

export async function forgetGuesses(db: Database, change: Input<'forgetGuesses'>): Promise<'done' | 'absent'> {
  const { prefix, audit } = change
  const row = await db.one('forgetGuesses', 'select forget_guesses($1, $2)', [prefix, auditText(audit)])
  return row?.[0] === true ? 'done' : 'absent'
}

export async function removeOldGuesses(db: Database, before: number): Promise<void> {
  const text = `delete from guess_count where ctid in (
      select ctid from guess_count where expires_at < $1 order by expires_at limit $2
    )`
  await db.removeInBatches('removeOldGuesses', text, [before])
}
