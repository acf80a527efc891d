// Gathers the concurrent calls of one kind, so that they share a round trip and a commit, as those of SQLite's writer do.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { overloaded, unavailable } from '../../../basics/errors.ts'
import { isOfOneCall } from './failures.ts'

/** In the unit of `weightOf`. A batch of that many recipients takes less than a tenth of a second. */
const maxInOneBatch = 1_000
/** The next batch is sent while the server commits the one before. More would only wait for the same locks. */
const maxBatches = 2
const maxWaiting = 5_000
/** The time that a call without a batch waits for a connection, too. */
const waitTimeoutMs = 2_000
/** Each settled call resumes a request. All requests of one batch in one turn would block the event loop for milliseconds. */
const maxSettledInOneTurn = 4

export type Row = readonly (string | number | boolean | null)[]
export type Value = string | number | boolean | null | readonly (string | null)[] | readonly number[]
/** `name` is that of the prepared statement: one text for each name. */
export type Read = (name: string, text: string, values: Value[]) => Promise<Row[]>

/** The result of a call that its batch did not run: the caller runs it alone. Nothing of it was stored. */
export const alone = Symbol('alone')

/** A kind of calls that share a statement. */
export type Together<Call, Result> = {
  /** Runs all calls or none, in one round trip. The results are in the order of the calls. */
  run: (read: Read, calls: readonly Call[]) => Promise<readonly (Result | typeof alone)[]>
  weightOf: (call: Call) => number
  /** No batch has two calls with the same one; undefined if the call may share a batch with any other. */
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
  #batches = 0

  constructor(kind: Together<Call, Result>, read: Read) {
    this.#kind = kind
    this.#read = read
  }

  /** Throws UNAVAILABLE if too many calls wait, or if this one waited too long to be sent; then nothing was done. */
  add(call: Call): Promise<Result | typeof alone> {
    if (this.#waiting.length >= maxWaiting) throw overloaded('Too many calls are waiting for the store')
    const { promise, resolve, reject } = Promise.withResolvers<Result | typeof alone>()
    const timer = setTimeout(() => this.#refuseFirst(), waitTimeoutMs).unref()
    this.#waiting.push({ call, timer, resolve, reject })
    // In the next turn, so that the calls of this turn go together.
    if (this.#waiting.length === 1 && this.#batches < maxBatches) setImmediate(() => this.#sendAll())
    return promise
  }

  #sendAll(): void {
    while (this.#waiting.length > 0 && this.#batches < maxBatches) void this.#send(this.#nextBatch())
  }

  async #send(batch: readonly Waiting<Call, Result>[]): Promise<void> {
    this.#batches++
    try {
      const calls = batch.map(({ call }) => call)
      const results = await this.#kind.run(this.#read, calls).catch((error) => {
        if (!isOfOneCall(error)) throw error
        return calls.map((): typeof alone => alone)
      })
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

  /** At least one call, whatever its weight. */
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

  /** The timers end in the order of the calls. */
  #refuseFirst(): void {
    this.#waiting.shift()?.reject(unavailable('The store cannot be reached now; nothing was done'))
  }
}
