// Works through items a few at a time, and yields to the event loop in between. An item that fails is tried again.
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { yieldToEventLoop } from '../basics/event-loop.ts'

const maxWorkers = 8
const retryMs = 1_000

export class WorkQueue<Item> {
  readonly #work: (item: Item) => Promise<void>
  readonly #onFailure: (error: unknown) => void
  readonly #waiting = new Set<Item>()
  /** Ends a second after the last reported failure. */
  #pause: Promise<void> | undefined
  #workers = 0

  constructor(work: (item: Item) => Promise<void>, onFailure: (error: unknown) => void) {
    this.#work = work
    this.#onFailure = onFailure
  }

  /** Works on the item soon: once, even if it is added several times before that. */
  add(item: Item): void {
    this.#waiting.add(item)
    if (this.#workers >= maxWorkers) return
    this.#workers++
    // In a later turn, so that several changes of one inbox in the same turn need one read.
    void nextTurn().then(() => this.#workThrough())
  }

  async #workThrough(): Promise<void> {
    for (const item of this.#waiting) {
      this.#waiting.delete(item)
      try {
        await this.#work(item)
      } catch (error) {
        this.#waiting.add(item)
        await this.#pauseAfter(error)
      }
      await yieldToEventLoop()
    }
    this.#workers--
  }

  /** An unavailable store fails for every item: `onFailure` is called once a second, not once for each item. */
  #pauseAfter(error: unknown): Promise<void> {
    if (this.#pause === undefined) this.#onFailure(error)
    this.#pause ??= sleep(retryMs, undefined, { ref: false }).finally(() => {
      this.#pause = undefined
    })
    return this.#pause
  }
}
