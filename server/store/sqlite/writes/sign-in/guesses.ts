// Counts guesses, takes them back and removes them. Each write runs in the writer thread's transaction, one after the other.

import type { GuessLimits, GuessRefusal, Input } from '../../../store.ts'
import { type CountRow, counted, keysOf, refusalsOf } from '../../guess-limits.ts'
import type { WriteContext } from '../context.ts'
import { recordAudit } from './audit.ts'

export function reserveGuess({ sql }: WriteContext, limits: GuessLimits): GuessRefusal[] {
  const find = (key: string) =>
    sql.get`select failures, at, expires_at as "expiresAt" from guess_count where key = ${key}` as CountRow | undefined
  const refusals = refusalsOf(limits, find)
  if (refusals.length > 0) return refusals
  for (const key of keysOf(limits)) {
    const { failures, at, expiresAt } = counted(limits, key, find(key))
    sql.run`
      insert into guess_count (key, failures, at, expires_at) values (${key}, ${failures}, ${at}, ${expiresAt})
      on conflict (key) do update set failures = ${failures}, at = ${at}, expires_at = ${expiresAt}`
  }
  return []
}

export function clearGuesses({ sql }: WriteContext, { keys, rates }: Input<'clearGuesses'>): void {
  for (const key of keys) sql.run`delete from guess_count where key = ${key}`
  for (const { key, intervalMs } of rates) {
    sql.run`update guess_count set failures = failures - 1, expires_at = expires_at - ${intervalMs} where key = ${key}`
    sql.run`delete from guess_count where key = ${key} and failures <= 0`
  }
}

export function forgetGuesses(context: WriteContext, { prefix, audit }: Input<'forgetGuesses'>): 'done' | 'absent' {
  const { changes } = context.sql.run`
    delete from guess_count where key >= ${prefix} and key < ${prefix + maxCharacter}`
  if (changes === 0) return 'absent'
  recordAudit(context, audit)
  return 'done'
}

export function removeOldGuesses({ sql }: WriteContext, before: number): void {
  sql.run`delete from guess_count where expires_at < ${before}`
}

/** After every character that a key has. */
const maxCharacter = '\u{10ffff}'
