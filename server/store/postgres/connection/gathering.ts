// Concurrent calls of one kind share a round trip and a commit.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { overloaded, unavailable } from '../../../basics/errors.ts'
import { isOfOneCall } from './failures.ts'

/** In the unit of `weightOf`. So many recipients take less than 0.1 s. */
const maxInOneBatch = 1_000
/** One is sent while another commits. More would wait for the same locks. */
const maxBatches = 2
const maxWaiting = 5_000
const waitTimeoutMs = 2_000
/** Each settled call resumes a request: many in one turn would hold the event loop. */
const maxSettledInOneTurn = 4

export type Row = readonly (string | number | boolean | null)[]
export type Value =
  | string
  | number
  | boolean
  | null
  | readonly (string | null)[]
  | readonly number[]
export type Read = (name: string, text: string, values: Value[]) => Promise<Row[]>

/** Nothing of the call was stored: the caller runs it alone. */
export const alone = Symbol('alone')

export type Together<Call, Result> = {
  /** All calls or none. Results are in the order of the calls. */
  run: (read: Read, calls: readonly Call[]) => Promise<readonly (Result | typeof alone)[]>
  weightOf: (call: Call) => number
  /** A batch has no two calls with one key; undefined fits any batch. */
  keyOf: (call: Call) => string | undefined
}

type Waiting<Call, Result> = {
  call: Call
  timer: NodeJS.Timeout
  resolve: (result: Result | typeof alone) => void
  reject: (error: unknown) => void
}

export class Gathering<Call, Result> {
  readonly #kind: Together<Call, Result>
  readonly #read: Read
  #waiting: Waiting<Call, Result>[] = []
  readonly #onBatch: (calls: number, ms: number) => void
  #batches = 0

  constructor(
    kind: Together<Call, Result>,
    read: Read,
    onBatch: (calls: number, ms: number) => void = () => {},
  ) {
    this.#kind = kind
    this.#read = read
    this.#onBatch = onBatch
  }

  get size(): number {
    return this.#waiting.length
  }

  /** Throws UNAVAILABLE, with nothing done, if too many calls wait or this one waited too long. */
  add(call: Call): Promise<Result | typeof alone> {
    if (this.#waiting.length >= maxWaiting)
      throw overloaded('Too many calls are waiting for the store')
    const { promise, resolve, reject } = Promise.withResolvers<Result | typeof alone>()
    const timer = setTimeout(() => this.#refuseFirst(), waitTimeoutMs).unref()
    this.#waiting.push({ call, timer, resolve, reject })
    if (this.#waiting.length === 1 && this.#batches < maxBatches)
      setImmediate(() => this.#sendAll())
    return promise
  }

  #sendAll(): void {
    while (this.#waiting.length > 0 && this.#batches < maxBatches)
      void this.#send(this.#nextBatch())
  }

  async #send(batch: readonly Waiting<Call, Result>[]): Promise<void> {
    this.#batches++
    const beganAt = performance.now()
    try {
      const calls = batch.map(({ call }) => call)
      const results = await this.#kind.run(this.#read, calls).catch((error) => {
        if (!isOfOneCall(error)) throw error
        return calls.map((): typeof alone => alone)
      })
      this.#onBatch(batch.length, performance.now() - beganAt)
      this.#end()
      for (const [index, { resolve }] of batch.entries()) {
        if (index > 0 && index % maxSettledInOneTurn === 0) await nextTurn()
        resolve(results[index] as Result | typeof alone)
      }
    } catch (error) {
      this.#end()
      for (const { reject } of batch) reject(error)
    }
  }

  #end(): void {
    this.#batches--
    this.#sendAll()
  }

  #nextBatch(): Waiting<Call, Result>[] {
    const keys = new Set<string>()
    let count = 0
    let weight = 0
    for (const { call } of this.#waiting) {
      const key = this.#kind.keyOf(call)
      weight += this.#kind.weightOf(call)
      if (count > 0 && (weight > maxInOneBatch || (key !== undefined && keys.has(key)))) break
      if (key !== undefined) keys.add(key)
      count++
    }
    const batch = this.#waiting.splice(0, count)
    for (const { timer } of batch) clearTimeout(timer)
    return batch
  }

  #refuseFirst(): void {
    this.#waiting.shift()?.reject(unavailable('The store cannot be reached now; nothing was done'))
  }
}
