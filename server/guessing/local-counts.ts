// Counts in the memory of this process, with the limits of guesses.store.ts: for what is refused before it waits for its turn in the store.
import { BoundedCache } from '../basics/bounded-cache.ts'
import { type Count, counted, type GuessLimits, liveRow, refusalsOf } from './guesses.store.ts'

export class LocalCounts {
  readonly #counts = new BoundedCache<Count>(10_000)

  /** Counts one more under every key if each of them accepts it; otherwise counts nothing and returns false. */
  accepts({ limits, at }: GuessLimits): boolean {
    const rows = limits.flatMap(({ key }) => {
      const count = this.#counts.get(key)
      return count === undefined ? [] : [{ key, ...count }]
    })
    if (refusalsOf({ limits, at }, rows).length > 0) return false
    for (const limit of limits) this.#counts.set(limit.key, counted(limit, liveRow(limit, rows, at), at), 1)
    return true
  }
}
