// Failed guesses of passwords, codes and links. They are counted in the store, so that the nodes share the counts and a restart keeps
// them. A guess is counted before it is evaluated, so that guesses in progress count as well.

import type { Audited } from '../audit/audit.promise.ts'

/** Each key counts by itself: after n guesses, the next one waits `delaysMs[n]` after the last; the last delay is that of every larger n. */
export type GuessCounts = {
  keys: readonly string[]
  delaysMs: readonly number[]
  /** The count begins again this long after the last guess. */
  keptMs: number
}
/** A limit by rate: at most `burst` guesses at once, and then one in each `intervalMs` (a leaky bucket). */
export type GuessRate = { key: string; intervalMs: number; burst: number }
export type GuessLimits = { counts: GuessCounts; rates: readonly GuessRate[]; at: number }
/** A key that does not accept a guess before this moment. */
export type GuessRefusal = { key: string; notBefore: number }

export interface Guesses {
  /** The keys that would refuse a guess now. */
  guessRefusals(limits: GuessLimits): Promise<GuessRefusal[]>
  /**
   * Counts a guess under every key if each of them accepts it, and returns an empty list. Otherwise counts nothing and returns the keys
   * that refuse it. Of calls at the same time, as many are counted as if each came after the other. A count whose last
   * guess is in the future begins again, because the clock was set back since.
   */
  reserveGuess(limits: GuessLimits): Promise<GuessRefusal[]>
  /** Takes back a guess that was right: removes the counts of `keys`, and takes one guess from each of the rates. */
  clearGuesses(guess: {
    keys: readonly string[]
    rates: readonly Pick<GuessRate, 'key' | 'intervalMs'>[]
  }): Promise<void>
  /** Removes every count whose key begins with `prefix`. Without one, it changes nothing and returns 'absent'. */
  forgetGuesses(change: { prefix: string } & Audited): Promise<'done' | 'absent'>
  /** Removes at most 1,000 of the counts that have begun again by `before`. Returns how many. */
  removeOldGuesses(before: number): Promise<number>
}
