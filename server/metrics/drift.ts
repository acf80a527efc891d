// Checks each hour whether the counters of some inboxes agree with their rows.
import { yieldToEventLoop } from '../basics/event-loop.ts'
import { firstIdAt, madeAt } from '../basics/ids.ts'
import type { Log } from '../basics/log.ts'
import { driftOf } from '../inbox/examined/recount.store.ts'
import { type Size, sizesAfter } from '../inbox/retention.store.ts'
import type { Store } from '../store/store.ts'

const hourMs = 3_600_000
const firstMs = 60_000
const points = 10
const inboxesOfPoint = 20
/** On SQLite a larger recount would block the event loop. */
const maxSize = 20_000

type Dependencies = { store: Store; log: Log; now: () => number; random: () => number }

export class Drift {
  readonly #dependencies: Dependencies
  readonly #timers: NodeJS.Timeout[]
  checked = 0
  found = 0

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    // If the store cannot be read, the next hour will do.
    const check = () => void this.check().catch(() => {})
    this.#timers = [setTimeout(check, firstMs).unref(), setInterval(check, hourMs).unref()]
  }

  end(): void {
    for (const timer of this.#timers) clearTimeout(timer)
  }

  async check(): Promise<void> {
    const { store, log } = this.#dependencies
    const [first] = await store.read(sizesAfter, '')
    const sample = new Set<string>()
    for (let n = 0; first !== undefined && n < points; n++)
      for (const { userId } of await this.#inboxesFrom(madeAt(first.userId))) sample.add(userId)
    let found = 0
    for (const userId of sample) {
      const counters = await store.read(driftOf, userId)
      this.checked++
      if (counters.length > 0) {
        found++
        log.error(
          { event: 'counters-differ', userId, counters },
          'the counters of an inbox differ from its rows',
        )
      }
      await yieldToEventLoop()
    }
    this.found = found
  }

  /** From a random moment on: ids begin with their time. */
  async #inboxesFrom(firstAt: number): Promise<Size[]> {
    const { store, now, random } = this.#dependencies
    const at = firstAt + Math.floor(random() * Math.max(0, now() - firstAt))
    const found = await store.read(sizesAfter, firstIdAt(at))
    const sizes = found.length > 0 ? found : await store.read(sizesAfter, '')
    return sizes.filter(({ size }) => size <= maxSize).slice(0, inboxesOfPoint)
  }
}
