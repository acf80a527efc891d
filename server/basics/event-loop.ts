// The share of one turn of the event loop that work of one kind may use. The rest waits for later turns, so that timers and connections run.
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'

/** An immediate costs little, even one that finds the share used up. */
const maxImmediates = 64

/** Items in the order of arrival. A turn handles them until `maxMs` are used up, including what each of them resumes. */
export class WorkInTurns<Item> {
  readonly #handle: (item: Item) => void
  readonly #maxMs: number
  readonly #waiting: Item[] = []
  #turnBeganAt = 0
  #isTurnScheduled = false

  constructor(maxMs: number, handle: (item: Item) => void) {
    this.#maxMs = maxMs
    this.#handle = handle
  }

  get size(): number {
    return this.#waiting.length
  }

  get hasTimeLeft(): boolean {
    return this.#waiting.length === 0 && this.#isWithinShare()
  }

  /** Handles the item in this turn's check phase or a later one. */
  add(item: Item): void {
    this.#waiting.push(item)
    this.#scheduleTurn()
  }

  /** One immediate per item: what the item resumes is done before the following immediate reads the clock. */
  #scheduleTurn(): void {
    if (this.#isTurnScheduled || this.#waiting.length === 0) return
    this.#isTurnScheduled = true
    setImmediate(() => {
      this.#turnBeganAt = performance.now()
    })
    for (let n = Math.min(this.#waiting.length, maxImmediates); n > 0; n--) setImmediate(this.#handleFirst)
    setImmediate(() => {
      this.#isTurnScheduled = false
      this.#scheduleTurn()
    })
  }

  readonly #handleFirst = (): void => {
    if (this.#waiting.length > 0 && this.#isWithinShare()) this.#handle(this.#waiting.shift() as Item)
  }

  #isWithinShare(): boolean {
    return performance.now() - this.#turnBeganAt < this.#maxMs
  }
}

const longWork = new WorkInTurns<() => void>(2, (resume) => resume())

/** Call it between pieces of long work. Resolves at once, or in a later turn if the share is used up or others wait. */
export async function yieldToEventLoop(): Promise<void> {
  if (!longWork.hasTimeLeft) await new Promise<void>((resume) => longWork.add(resume))
}

/** As `items.map(map)`, for a list that a client may have made long: it yields to the event loop after every 50 items. */
export async function mapInTurns<Item, Result>(items: readonly Item[], map: (item: Item) => Result): Promise<Result[]> {
  const results: Result[] = []
  for (const item of items) {
    results.push(map(item))
    if (results.length % 50 === 0) await yieldToEventLoop()
  }
  return results
}

let turnEnd: Promise<void> | undefined

/** Resolves at the end of this turn, for all that wait for it. */
export async function endOfTurn(): Promise<void> {
  turnEnd ??= nextTurn()
  await turnEnd
  turnEnd = undefined
}

const maxWorkers = 8
const retryMs = 1_000

/** Works through items a few at a time, and yields to the event loop in between. An item that fails is tried again. */
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
        // An unavailable store fails for every item, and is reported once a second.
        if (this.#pause === undefined) this.#onFailure(error)
        this.#pause ??= sleep(retryMs, undefined, { ref: false }).finally(() => {
          this.#pause = undefined
        })
        await this.#pause
      }
      await yieldToEventLoop()
    }
    this.#workers--
  }
}
