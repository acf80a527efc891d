// The time by which rows are removed. A clock that is wrong at a start would otherwise remove every old row for ever.
import { newestRowAt, seeTime } from '../audit/time-seen.store.ts'
import { iso } from '../basics/clock.ts'
import type { Log } from '../basics/log.ts'
import type { Store } from '../store/store.ts'

const hourMs = 3_600_000
/** While the clock is not believed, another process may have waited for most of the hour. */
const heldCheckMs = 60_000

type Dependencies = { store: Store; wall: () => number; log: Log }

export class RemovalClock {
  readonly #dependencies: Dependencies
  #checkedAt = Number.NEGATIVE_INFINITY
  #isHeld = false
  #newestAt: number | undefined

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** Reads the time of the newest row. Called before this process adds a row, whose time would look like the last one. */
  async look(): Promise<void> {
    this.#newestAt = await this.#dependencies.store.read(newestRowAt)
  }

  /** Milliseconds since 1970; 0, at which nothing is too old, while the clock is ahead of everything that was seen before. */
  now = async (): Promise<number> => {
    const at = this.#dependencies.wall()
    const passedMs = at - this.#checkedAt
    if (passedMs < 0 || passedMs >= (this.#isHeld ? heldCheckMs : hourMs)) await this.#check(at)
    return this.#isHeld ? 0 : at
  }

  async #check(at: number): Promise<void> {
    const { store, log } = this.#dependencies
    if (this.#newestAt === undefined) await this.look()
    const { seenAt, heldUntil } = await store.write(seeTime, { at, newestAt: this.#newestAt })
    const wasHeld = this.#isHeld
    this.#isHeld = heldUntil !== undefined
    this.#checkedAt = at
    if (heldUntil === undefined || wasHeld) return
    const sentence =
      `the clock is more than seven days past ${iso(seenAt)}, the last time that was seen. Nothing is removed by age ` +
      `until ${iso(heldUntil)}. If the clock is wrong, stop the service before then and correct it: timedatectl set-ntp true`
    log.warn({ event: 'clock-ahead', seenAt: iso(seenAt), heldUntil: iso(heldUntil) }, sentence)
  }
}
