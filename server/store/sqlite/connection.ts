// How the main thread reads and writes the database. The Reader runs each read on a connection of the main thread; the
// Writer gathers writes, hands them to the writer thread together and settles each caller's promise.
import { Worker } from 'node:worker_threads'
import { CarillonError, overloaded } from '../../basics/errors.ts'
import { WorkInTurns } from '../../basics/event-loop.ts'
import type { ChangeSignal, Input } from '../store.ts'
import { outcomeUnknown, wentAway } from '../unavailable.ts'
import { asStoreError, type Database, type Statement } from './database.ts'
import type { FileLoss, FileNumber } from './file/guard.ts'
import { writes } from './operations.ts'
import type { WriteReply, WriteRequest, WriterMessage } from './writer-thread.ts'

type Value = string | number | null | Uint8Array

/** Kept until the process ends: a connection that is garbage-collected is closed. */
const abandoned: Database[] = []

/**
 * The reads in one turn of the event loop share one read transaction (a transaction for a single read costs 2.5 us). It ends
 * early when a commit is reported, so that a caller reads what it wrote.
 */
export class Reader {
  readonly #database: Database
  readonly #statements = new Map<string, Statement>()
  readonly #begin: Statement
  readonly #commit: Statement
  #isOpen = false
  #isClosed = false
  /** The snapshot of this connection ends with the work and not with the turn. */
  readonly #ofMoment: Reader | undefined
  #lastMoment: Promise<unknown> = Promise.resolve()

  /** `forMoments` is a second connection, for `atOneMoment`. */
  constructor(database: Database, forMoments?: Database) {
    this.#database = database
    this.#ofMoment = forMoments && new Reader(forMoments)
    this.#begin = database.prepare('begin')
    this.#commit = database.prepare('commit')
  }

  one<Row extends unknown[]>(sql: string, ...values: Value[]): Row | undefined {
    return this.#read('get', sql, values) as Row | undefined
  }

  all<Row extends unknown[]>(sql: string, ...values: Value[]): Row[] {
    return this.#read('all', sql, values) as Row[]
  }

  /** Every row, as an object with the names of the columns. Slower than `all`. */
  objects<Row>(sql: string, ...values: Value[]): Row[] {
    const rows = this.#read('all', sql, values, false) as Row[]
    // SQLite's objects have no prototype.
    return rows.map((row) => ({ ...row }))
  }

  /** Lets the next read see what was committed since this turn's first read. */
  endSnapshot = (): void => {
    if (!this.#isOpen) return
    this.#isOpen = false
    try {
      this.#commit.run()
    } catch {
      // A read met a damaged page and has thrown; there is nothing to lose here.
      if (this.#database.isTransaction) this.#database.exec('rollback')
    }
  }

  /** Several reads in several turns of the event loop that see one moment of the database. One such work runs after another. */
  atOneMoment<Result>(work: (reader: Reader) => Promise<Result>): Promise<Result> {
    const reader = this.#ofMoment as Reader
    const result = this.#lastMoment.then(() => work(reader)).finally(reader.endSnapshot)
    this.#lastMoment = result.catch(() => undefined)
    return result
  }

  close(): void {
    if (this.#isClosed) return
    this.#ofMoment?.close()
    this.endSnapshot()
    this.#isClosed = true
    this.#database.close()
  }

  /** Like `close`, if the file at the path is another one now: closing its last connection would write to it. */
  abandon(): void {
    this.#ofMoment?.abandon()
    this.endSnapshot()
    this.#isClosed = true
    abandoned.push(this.#database)
  }

  #read(method: 'get' | 'all', sql: string, values: Value[], asArrays = true): unknown {
    try {
      this.#beginSnapshot()
      return this.#prepared(sql, asArrays)[method](...values)
    } catch (error) {
      throw asStoreError(error)
    }
  }

  #beginSnapshot(): void {
    if (this.#isOpen) return
    if (this.#isClosed) throw new CarillonError('UNAVAILABLE', 'The store is closed')
    this.#begin.run()
    this.#isOpen = true
    if (this.#ofMoment !== undefined) setImmediate(this.endSnapshot)
  }

  #prepared(sql: string, asArrays: boolean): Statement {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const statement = this.#database.prepare(sql)
    statement.setReturnArrays(asArrays)
    this.#statements.set(sql, statement)
    return statement
  }
}

/** In recipients; every other write counts as one. A commit of that many takes a tenth of a second. */
const maxInOneCommit = 1_000
/** If more wait, a write is refused at once, long before its client would time out. */
const maxWaiting = 30_000
const commitTimeoutMs = 6_000
/** Each settled write resumes a request. All requests of one commit in one turn would block the event loop for milliseconds. */
const maxSettlingMs = 0.2

type PendingWrite = {
  request: WriteRequest
  weight: number
  resolve: (value: never) => void
  reject: (error: unknown) => void
}

type Writes = typeof writes
type WriteOperations = {
  [Name in keyof Writes]: (change: Parameters<Writes[Name]>[1]) => Promise<ReturnType<Writes[Name]>>
}

/** The database that was found at `path` when the store was opened, and the history of changes that continues in it. */
export type WriterPlace = { path: string; file: FileNumber; history: string; cacheKib: number }

/** If the writer thread dies, every pending write is rejected at once. */
export class Writer {
  readonly #thread: Worker
  readonly #onCommit: (signals: readonly ChangeSignal[]) => void
  readonly #failure = Promise.withResolvers<Error>()
  readonly failed = this.#failure.promise
  #loss: FileLoss | undefined
  #waiting: PendingWrite[] = []
  #inProgress: PendingWrite[] = []
  readonly #settling = new WorkInTurns<[PendingWrite, WriteReply]>(maxSettlingMs, (one) => this.#settle(...one))
  #weightWaiting = 0
  #handedOverAt = 0
  #hasFailed = false
  #death: Error | undefined
  #closing: Promise<void> | undefined
  #isEndExpected = false
  readonly #ended = Promise.withResolvers<void>()

  constructor(place: WriterPlace, onCommit: (signals: readonly ChangeSignal[]) => void) {
    this.#onCommit = onCommit
    this.#thread = new Worker(new URL('./writer-thread.ts', import.meta.url), { workerData: place })
    this.#thread.on('message', (message: WriterMessage) => this.#receive(message))
    this.#thread.on('error', (error) => this.#die(error instanceof Error ? error : new Error(String(error))))
    this.#thread.on('exit', (code) => {
      if (!this.#isEndExpected) this.#die(new Error(`The writer thread ended with exit status ${code}`))
      this.#ended.resolve()
    })
  }

  operations(): WriteOperations {
    const names = Object.keys(writes) as (keyof Writes)[]
    const operations = names.map((name) => [name, async (change: unknown) => this.#write([name, change])])
    return Object.fromEntries(operations) as WriteOperations
  }

  #write<Result>(request: WriteRequest): Promise<Result> {
    this.refuseIfStopped()
    if (this.#weightWaiting >= maxWaiting) throw overloaded('Too many writes are waiting for the disk')
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    const weight = request[0] === 'deliver' ? (request[1] as Input<'deliver'>).recipients.length : 1
    this.#waiting.push({ request, weight, resolve, reject })
    this.#weightWaiting += weight
    if (this.#inProgress.length === 0 && this.#waiting.length === 1) setImmediate(() => this.#handOver())
    return promise
  }

  refuseIfStopped(): void {
    if (this.#death !== undefined) throw cannotBeWritten(this.#death)
    if (this.#closing !== undefined) throw new CarillonError('UNAVAILABLE', 'The store is closing')
  }

  /** Throws UNAVAILABLE if nothing can be written now. After a failure it tries: a commit that changes nothing. */
  async probe(): Promise<void> {
    this.refuseIfStopped()
    if (this.#inProgress.length > 0 && performance.now() - this.#handedOverAt > commitTimeoutMs)
      throw new CarillonError('UNAVAILABLE', 'The store cannot write: a commit does not complete')
    if (this.#hasFailed) await this.#write(['changeNothing', null])
  }

  /** Refuses further writes, completes those that wait, and ends the thread. A second call returns the same promise. */
  close(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#closing
  }

  /** Whether the file at the path is another one now. Then no connection may be closed, because closing writes to it. */
  get isFileLost(): boolean {
    return this.#loss?.isLogOnly === false
  }

  async #end(): Promise<void> {
    while (this.#waiting.length + this.#inProgress.length + this.#settling.size > 0) await new Promise(setImmediate)
    this.#isEndExpected = true
    this.#thread.postMessage('close')
    await this.#ended.promise
  }

  #handOver(): void {
    if (this.#inProgress.length > 0 || this.#waiting.length === 0 || this.#death !== undefined) return
    this.#inProgress = this.#waiting.splice(0, this.#countForOneCommit())
    this.#handedOverAt = performance.now()
    this.#thread.postMessage(this.#inProgress.map(({ request }) => request))
  }

  /** At least one, whatever its weight. */
  #countForOneCommit(): number {
    let count = 0
    let weight = 0
    for (const waiting of this.#waiting) {
      if (count > 0 && weight + waiting.weight > maxInOneCommit) break
      weight += waiting.weight
      count++
    }
    this.#weightWaiting -= weight
    return count
  }

  #receive({ replies, signals, loss }: WriterMessage): void {
    this.#onCommit(signals)
    const done = replies.length === 0 ? [] : this.#inProgress
    if (replies.length > 0) this.#inProgress = []
    if (loss !== undefined) {
      this.#loss = loss
      this.#die(new CarillonError('UNAVAILABLE', loss.reason, { remedy: loss.remedy }))
    }
    // A message about what another process wrote settles no write.
    if (replies.length === 0) return
    this.#hasFailed = replies.every((reply) => !reply.ok)
    this.#handOver()
    for (const [index, reply] of replies.entries()) this.#settling.add([done[index] as PendingWrite, reply])
  }

  #settle({ resolve, reject }: PendingWrite, reply: WriteReply): void {
    if (reply.ok) resolve(reply.value as never)
    else reject(this.#errorOf(reply))
  }

  #errorOf({ message, sqliteCode, isOfCommit }: Extract<WriteReply, { ok: false }>): unknown {
    const error = Object.assign(new Error(message), { errcode: sqliteCode })
    if (this.#loss === undefined) return asStoreError(error, { isOfCommit })
    return isOfCommit ? outcomeUnknown(error) : cannotBeWritten(error)
  }

  #die(error: Error): void {
    this.#death ??= error
    this.#failure.resolve(error)
    const stranded = [...this.#inProgress, ...this.#waiting]
    this.#inProgress = []
    this.#waiting = []
    this.#weightWaiting = 0
    const unknown = wentAway(error)
    for (const { reject } of stranded) reject(unknown)
  }
}

function cannotBeWritten(cause: Error): CarillonError {
  return new CarillonError('UNAVAILABLE', 'The store cannot be written', { remedy: 'Restart the service.', cause })
}
