// Reads the counts of guesses, to refuse one before it costs a write. sqlite/writes/guesses.ts checks them again.
import type { GuessLimits, GuessRefusal } from '../../../store.ts'
import type { Reader } from '../../connection.ts'
import { type CountRow, refusalsOf } from '../../guess-limits.ts'

export const guessCount = 'select failures, at, expires_at as "expiresAt" from guess_count where key = ?'

export async function guessRefusals(reader: Reader, limits: GuessLimits): Promise<GuessRefusal[]> {
  return refusalsOf(limits, (key) => reader.objects<CountRow>(guessCount, key)[0])
}
