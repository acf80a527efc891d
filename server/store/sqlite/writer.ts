// Gathers writes for the writer thread and settles each promise.
import { Worker } from 'node:worker_threads'
import { Durations } from '../../basics/counts.ts'
import { type CarillonError, overloaded, unavailable } from '../../basics/errors.ts'
import { WorkInTurns } from '../../basics/event-loop.ts'
import type { AuditEntry, ChangeSignal, RecordListener } from '../events.ts'
import { outcomeUnknown, wentAway } from '../unavailable.ts'
import { asStoreError } from './database.ts'
import type { FileLoss, FileNumber } from './file/identity.ts'

/** In the unit of `weight`. A commit of so many takes 0.1 s. */
const maxInOneCommit = 1_000
/** Above this a write is refused at once, before its client times out. */
const maxWaiting = 30_000
const commitTimeoutMs = 6_000
/** Settling all in one turn would block the event loop for long. */
const maxSettlingMs = 0.2

/** In place of the name of a write, it tries a commit. */
export const changeNothing = ''

export type WriteRequest = readonly [name: string, input: unknown]
export type WriteReply =
  | { ok: true; value: unknown; recorded?: readonly AuditEntry[] }
  | { ok: false; message: string; sqliteCode: number | undefined; isOfCommit: boolean }
export type WriterMessage = {
  replies: WriteReply[]
  signals: ChangeSignal[]
  /** With a loss, nothing more is written. */
  loss?: FileLoss | undefined
}

type PendingWrite = {
  request: WriteRequest
  weight: number
  resolve: (value: never) => void
  reject: (error: unknown) => void
}

/** `history` continues in `file`, which was at `path` at the opening. */
export type WriterPlace = {
  path: string
  file: FileNumber
  history: string
  lostLog?: string | undefined
}

type Options = {
  entry: URL
  place: WriterPlace
  onCommit: (signals: readonly ChangeSignal[]) => void
  onRecorded: RecordListener
}

/** If the writer thread dies, all pending writes are rejected at once. */
export class Writer {
  readonly #thread: Worker
  readonly #options: Options
  readonly #failure = Promise.withResolvers<Error>()
  readonly failed = this.#failure.promise
  #loss: FileLoss | undefined
  #waiting: PendingWrite[] = []
  #inProgress: PendingWrite[] = []
  readonly #settling = new WorkInTurns<[PendingWrite, WriteReply]>(maxSettlingMs, (one) =>
    this.#settle(...one),
  )
  readonly #commits = new Durations()
  #written = 0
  #weightWaiting = 0
  #handedOverAt = 0
  #hasFailed = false
  #death: Error | undefined
  #closing: Promise<void> | undefined
  #isEndExpected = false
  readonly #ended = Promise.withResolvers<void>()

  constructor(options: Options) {
    this.#options = options
    this.#thread = new Worker(options.entry, { workerData: options.place })
    this.#thread.on('message', (message: WriterMessage) => this.#receive(message))
    this.#thread.on('error', (error) =>
      this.#die(error instanceof Error ? error : new Error(String(error))),
    )
    this.#thread.on('exit', (code) => {
      if (!this.#isEndExpected)
        this.#die(new Error(`The writer thread ended with exit status ${code}`))
      this.#ended.resolve()
    })
  }

  async write<Result>(request: WriteRequest, weight = 1): Promise<Result> {
    this.refuseIfStopped()
    if (this.#weightWaiting >= maxWaiting)
      throw overloaded('Too many writes are waiting for the disk')
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    this.#waiting.push({ request, weight, resolve, reject })
    this.#weightWaiting += weight
    if (this.#inProgress.length === 0 && this.#waiting.length === 1)
      setImmediate(() => this.#handOver())
    return promise
  }

  numbers() {
    return { commits: this.#commits, written: this.#written, waiting: this.#waiting.length }
  }

  refuseIfStopped(): void {
    if (this.#death !== undefined) throw cannotBeWritten(this.#death)
    if (this.#closing !== undefined) throw unavailable('The store is closing')
  }

  /** After a failure it tries a commit without changes. Throws UNAVAILABLE. */
  async probe(): Promise<void> {
    this.refuseIfStopped()
    if (this.#inProgress.length > 0 && performance.now() - this.#handedOverAt > commitTimeoutMs)
      throw unavailable('The store cannot write: a commit does not complete')
    if (this.#hasFailed) await this.write([changeNothing, null])
  }

  /** Refuses further writes, completes the waiting ones, ends the thread. */
  close(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#closing
  }

  /** Closing a connection would write to the file at the path. */
  get isFileLost(): boolean {
    return this.#loss?.isLogOnly === false
  }

  async #end(): Promise<void> {
    while (this.#waiting.length + this.#inProgress.length + this.#settling.size > 0)
      await new Promise(setImmediate)
    this.#isEndExpected = true
    this.#thread.postMessage('close')
    await this.#ended.promise
  }

  #handOver(): void {
    if (this.#inProgress.length > 0 || this.#waiting.length === 0 || this.#death !== undefined)
      return
    this.#inProgress = this.#waiting.splice(0, this.#countForOneCommit())
    this.#handedOverAt = performance.now()
    this.#thread.postMessage(this.#inProgress.map(({ request }) => request))
  }

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
    this.#options.onCommit(signals)
    const done = this.#inProgress.splice(0, replies.length)
    if (loss !== undefined) {
      this.#loss = loss
      this.#die(unavailable(loss.reason, loss.remedy))
    }
    if (replies.length === 0) return
    this.#commits.add(performance.now() - this.#handedOverAt)
    this.#written += replies.length
    this.#hasFailed = replies.every((reply) => !reply.ok)
    this.#handOver()
    const [only] = done
    if (only !== undefined && done.length === 1) this.#settle(only, replies[0] as WriteReply)
    else
      for (const [index, reply] of replies.entries())
        this.#settling.add([done[index] as PendingWrite, reply])
  }

  #settle({ resolve, reject }: PendingWrite, reply: WriteReply): void {
    if (!reply.ok) reject(this.#errorOf(reply))
    else if (reply.recorded === undefined) resolve(reply.value as never)
    else this.#options.onRecorded(reply.recorded).then(() => resolve(reply.value as never), reject)
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
  return unavailable('The store cannot be written', 'Restart the service.', cause)
}
