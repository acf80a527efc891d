// Counts by key in the memory of this process: `burst` at once, then one in each interval (GCRA).
import { BoundedCache } from './bounded-cache.ts'

type Rate = { key: string; intervalMs: number; burst: number }

export class RateLimits {
  readonly #until = new BoundedCache<number>(10_000)

  /** In milliseconds; 0 if another one is within the limit. `at`: milliseconds since 1970. */
  waitFor({ key, intervalMs, burst }: Rate, at: number): number {
    return Math.max(0, this.#from(key, at) + intervalMs - at - burst * intervalMs)
  }

  count({ key, intervalMs }: Rate, at: number): void {
    this.#until.set(key, this.#from(key, at) + intervalMs, 1)
  }

  #from(key: string, at: number): number {
    return Math.max(this.#until.get(key) ?? 0, at)
  }
}
