// The time by which rows are removed: a wrong clock would remove all old rows for ever.
import { seeTime } from '../audit/time-seen.store.ts'
import { iso } from '../basics/clock.ts'
import type { Log } from '../basics/log.ts'
import type { Store } from '../store/store.ts'

const hourMs = 3_600_000
const heldCheckMs = 60_000

type Dependencies = { store: Store; wall: () => number; log: Log; newestAt: number | undefined }

export class RemovalClock {
  readonly #dependencies: Dependencies
  #checkedAt = Number.NEGATIVE_INFINITY
  #isHeld = false

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** 0 while the clock is too far ahead: nothing is too old. */
  now = async (): Promise<number> => {
    const at = this.#dependencies.wall()
    if (Math.abs(at - this.#checkedAt) >= (this.#isHeld ? heldCheckMs : hourMs))
      await this.#check(at)
    return this.#isHeld ? 0 : at
  }

  async #check(at: number): Promise<void> {
    const { store, log, newestAt } = this.#dependencies
    const { seenAt, heldUntil } = await store.write(seeTime, { at, newestAt })
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
