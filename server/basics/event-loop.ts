// Gives work a share of a turn, so that timers and connections run.
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'

const maxImmediates = 64

/** `maxMs` of a turn includes work that items resume. */
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

  add(item: Item): void {
    this.#waiting.push(item)
    this.#scheduleTurn()
  }

  /** Work that an item resumes ends before the next reads the clock. */
  #scheduleTurn(): void {
    if (this.#isTurnScheduled || this.#waiting.length === 0) return
    this.#isTurnScheduled = true
    setImmediate(() => {
      this.#turnBeganAt = performance.now()
    })
    for (let n = Math.min(this.#waiting.length, maxImmediates); n > 0; n--)
      setImmediate(this.#handleFirst)
    setImmediate(() => {
      this.#isTurnScheduled = false
      this.#scheduleTurn()
    })
  }

  readonly #handleFirst = (): void => {
    if (this.#waiting.length > 0 && this.#isWithinShare())
      this.#handle(this.#waiting.shift() as Item)
  }

  #isWithinShare(): boolean {
    return performance.now() - this.#turnBeganAt < this.#maxMs
  }
}

const longWork = new WorkInTurns<() => void>(2, (resume) => resume())

export async function yieldToEventLoop(): Promise<void> {
  if (!longWork.hasTimeLeft) await new Promise<void>((resume) => longWork.add(resume))
}

/** Yields after every 50 items of a client's list. */
export async function mapInTurns<Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Result,
): Promise<Result[]> {
  const results: Result[] = []
  for (const item of items) {
    results.push(map(item))
    if (results.length % 50 === 0) await yieldToEventLoop()
  }
  return results
}

let turnEnd: Promise<void> | undefined

export async function endOfTurn(): Promise<void> {
  turnEnd ??= nextTurn()
  await turnEnd
  turnEnd = undefined
}

export function oneAtATime<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | undefined
  return () => {
    running ??= work().finally(() => {
      running = undefined
    })
    return running
  }
}

const maxWorkers = 8
const retryMs = 1_000

/** An item that fails is tried again. */
export class WorkQueue<Item> {
  readonly #work: (item: Item) => Promise<void>
  readonly #onFailure: (error: unknown) => void
  readonly #waiting = new Set<Item>()
  #pause: Promise<void> | undefined
  #workers = 0

  constructor(work: (item: Item) => Promise<void>, onFailure: (error: unknown) => void) {
    this.#work = work
    this.#onFailure = onFailure
  }

  add(item: Item): void {
    this.#waiting.add(item)
    if (this.#workers >= maxWorkers) return
    this.#workers++
    // The wait lets one read serve several changes of an inbox.
    void nextTurn().then(() => this.#workThrough())
  }

  async #workThrough(): Promise<void> {
    for (const item of this.#waiting) {
      this.#waiting.delete(item)
      try {
        await this.#work(item)
      } catch (error) {
        this.#waiting.add(item)
        // An unavailable store fails for every item.
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
