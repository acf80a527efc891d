// Works through items a few at a time, and yields to the event loop in between. An item that fails is tried again.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { yieldToEventLoop } from '../basics/event-loop.ts'

const maxWorkers = 8
const retryMs = 1_000

export class WorkQueue<Item> {
  readonly #work: (item: Item) => Promise<void>
  readonly #onFailure: (error: unknown) => void
  readonly #waiting = new Set<Item>()
  readonly #failed = new Set<Item>()
  #retrying: NodeJS.Timeout | undefined
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

  remove(item: Item): void {
    this.#waiting.delete(item)
    this.#failed.delete(item)
  }

  async #workThrough(): Promise<void> {
    for (const item of this.#waiting) {
      this.#waiting.delete(item)
      try {
        await this.#work(item)
      } catch (error) {
        this.#tryLater(item, error)
      }
      await yieldToEventLoop()
    }
    this.#workers--
  }

  /** An unavailable store fails for every item: `onFailure` is called once a second, not once for each item. */
  #tryLater(item: Item, error: unknown): void {
    this.#failed.add(item)
    if (this.#retrying !== undefined) return
    this.#onFailure(error)
    this.#retrying = setTimeout(() => {
      this.#retrying = undefined
      const again = [...this.#failed]
      this.#failed.clear()
      for (const one of again) this.add(one)
    }, retryMs).unref()
  }
}
