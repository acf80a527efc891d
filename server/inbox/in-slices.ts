// Work that must not keep the event loop: items are worked on a few at a time, and for some milliseconds in one turn;
// requests are answered in between. What fails is tried again.
import { setImmediate as nextTurn } from 'node:timers/promises'

const atOnce = 8
const sliceMs = 4
const retryMs = 1_000

export class InSlices<Item> {
  readonly #work: (item: Item) => Promise<void>
  readonly #onFailure: (error: unknown) => void
  readonly #waiting = new Set<Item>()
  readonly #failed = new Set<Item>()
  #retrying: NodeJS.Timeout | undefined
  #workers = 0
  #sliceBegan = 0
  #nextSlice: Promise<void> | undefined

  constructor(work: (item: Item) => Promise<void>, onFailure: (error: unknown) => void) {
    this.#work = work
    this.#onFailure = onFailure
  }

  /** Works on it soon; once, however often it is added until then. */
  add(item: Item): void {
    this.#waiting.add(item)
    if (this.#workers >= atOnce) return
    this.#workers++
    // Not in this turn: what comes together is one piece of work.
    void nextTurn().then(() => this.#workOff())
  }

  remove(item: Item): void {
    this.#waiting.delete(item)
    this.#failed.delete(item)
  }

  /** Resolves in the next turn where this one has lasted long enough, for whatever else works in the same slices. */
  async pause(): Promise<void> {
    if (performance.now() - this.#sliceBegan < sliceMs) return
    // One for all: a slice each would add up.
    this.#nextSlice ??= nextTurn().then(() => {
      this.#nextSlice = undefined
      this.#sliceBegan = performance.now()
    })
    await this.#nextSlice
  }

  async #workOff(): Promise<void> {
    for (const item of this.#waiting) {
      this.#waiting.delete(item)
      try {
        await this.#work(item)
      } catch (error) {
        this.#tryLater(item, error)
      }
      await this.pause()
    }
    this.#workers--
  }

  /** A store that is away fails for everybody: that is told once a second, not once for each of them. */
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
