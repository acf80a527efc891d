// The main thread's end of the writer thread: gathers writes while a commit is under way, hands them over together,
// and answers each caller. When the thread dies every caller is told at once; none waits for ever.
import { Worker } from 'node:worker_threads'
import { CarillonError, overloaded } from '../../errors.ts'
import type { ChangeSignal } from '../store.ts'
import { outcomeUnknown, wentAway } from '../unavailable.ts'
import { asStoreError } from './database.ts'
import type { FileLoss, FileNumber } from './file/guard.ts'
import type { WriteName, WriteReply, WriteRequest, WriterMessage, Writes } from './writer-thread.ts'

/** In recipients; every other write counts as one. A commit of that many takes a tenth of a second. */
const maxInOneCommit = 1_000
/** Beyond it the answer is "not now", long before the caller's connection is given up. */
const maxWaiting = 30_000
const maxCommitMs = 6_000
/** Each answer sets a request going again; all of a commit's in one turn would keep the event loop for milliseconds. */
const answersInOneTurn = 4

type Waiting = {
  request: WriteRequest
  weight: number
  resolve: (value: never) => void
  reject: (error: unknown) => void
}

/** The database that was found at `path` when the store was opened, and the history that goes on in it. */
export type WriterPlace = { path: string; file: FileNumber; history: string }

export class Writer {
  readonly #thread: Worker
  readonly #onCommit: (rings: readonly ChangeSignal[]) => void
  readonly #fail: (error: Error) => void
  readonly failed: Promise<Error>
  #loss: FileLoss | undefined
  #waiting: Waiting[] = []
  #underWay: Waiting[] = []
  #answering = 0
  #weightWaiting = 0
  #handedOverAt = 0
  #hasFailed = false
  #death: Error | undefined
  #closing: Promise<void> | undefined
  #isAskedToEnd = false
  readonly #ended: Promise<void>

  constructor(place: WriterPlace, onCommit: (rings: readonly ChangeSignal[]) => void) {
    this.#onCommit = onCommit
    this.#thread = new Worker(new URL('./writer-thread.ts', import.meta.url), { workerData: place })
    const { promise, resolve } = Promise.withResolvers<Error>()
    this.failed = promise
    this.#fail = resolve
    const die = (error: Error) => this.#die(error)
    this.#thread.on('message', (message: WriterMessage) => this.#settle(message))
    this.#thread.on('error', (error) => die(error instanceof Error ? error : new Error(String(error))))
    const ended = Promise.withResolvers<void>()
    this.#ended = ended.promise
    this.#thread.on('exit', (code) => {
      if (!this.#isAskedToEnd) die(new Error(`The writer thread ended with exit status ${code}`))
      ended.resolve()
    })
  }

  write<Name extends WriteName>(
    name: Name,
    change: Parameters<Writes[Name]>[1],
    weight = 1,
  ): Promise<ReturnType<Writes[Name]>> {
    this.check()
    if (this.#weightWaiting >= maxWaiting) throw overloaded('Too many writes wait for the disk; try again in a moment')
    const { promise, resolve, reject } = Promise.withResolvers<ReturnType<Writes[Name]>>()
    this.#waiting.push({ request: [name, change], weight, resolve, reject })
    this.#weightWaiting += weight
    if (this.#underWay.length === 0 && this.#waiting.length === 1) setImmediate(() => this.#handOver())
    return promise
  }

  check(): void {
    if (this.#death !== undefined) throw cannotBeWritten(this.#death)
    if (this.#closing !== undefined) throw new CarillonError('UNAVAILABLE', 'The store is closing')
  }

  /** A write that changes nothing, but takes the lock and commits: rejects where none can be made now. */
  async probe(): Promise<void> {
    this.check()
    if (this.#underWay.length > 0 && performance.now() - this.#handedOverAt > maxCommitMs)
      throw new CarillonError('UNAVAILABLE', 'The store is not writing: a commit hangs')
    if (this.#hasFailed) await this.write('changeNothing', null)
  }

  /** Refuses what comes from now on, finishes what came before, and ends the thread; asked twice it is one end. */
  close(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#closing
  }

  async #end(): Promise<void> {
    while (this.#waiting.length + this.#underWay.length + this.#answering > 0) await new Promise(setImmediate)
    this.#isAskedToEnd = true
    this.#thread.postMessage('close')
    await this.#ended
  }

  #handOver(): void {
    if (this.#underWay.length > 0 || this.#waiting.length === 0 || this.#death !== undefined) return
    this.#underWay = this.#waiting.splice(0, this.#countForOneCommit())
    this.#handedOverAt = performance.now()
    this.#thread.postMessage(this.#underWay.map(({ request }) => request))
  }

  /** At least one, whatever it weighs. */
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

  /** Whether the file at the path is another one by now: then no connection may be closed, since that writes to it. */
  get isFileLost(): boolean {
    return this.#loss?.isLogOnly === false
  }

  #settle({ replies, rings, loss }: WriterMessage): void {
    this.#onCommit(rings)
    const done = replies.length === 0 ? [] : this.#underWay
    if (replies.length > 0) this.#underWay = []
    if (loss !== undefined) {
      this.#loss = loss
      this.#die(new CarillonError('UNAVAILABLE', loss.reason))
    }
    // A notice of what another process wrote answers nobody.
    if (replies.length === 0) return
    this.#hasFailed = replies.every((reply) => !reply.ok)
    this.#handOver()
    this.#answering += done.length
    this.#answer(done, replies)
  }

  #answer(done: readonly Waiting[], replies: readonly WriteReply[]): void {
    for (const [index, { resolve, reject }] of done.slice(0, answersInOneTurn).entries()) {
      const reply = replies[index] as WriteReply
      this.#answering--
      if (reply.ok) resolve(reply.value as never)
      else reject(this.#errorOf(reply))
    }
    if (done.length <= answersInOneTurn) return
    setImmediate(() => this.#answer(done.slice(answersInOneTurn), replies.slice(answersInOneTurn)))
  }

  #errorOf({ message, sqliteCode, isOfCommit }: Extract<WriteReply, { ok: false }>): unknown {
    const error = Object.assign(new Error(message), { errcode: sqliteCode })
    if (this.#loss === undefined) return asStoreError(error, { isOfCommit })
    return isOfCommit ? outcomeUnknown(error) : cannotBeWritten(error)
  }

  #die(error: Error): void {
    this.#death ??= error
    this.#fail(error)
    const stranded = [...this.#underWay, ...this.#waiting]
    this.#underWay = []
    this.#waiting = []
    this.#weightWaiting = 0
    const unknown = wentAway(error)
    for (const { reject } of stranded) reject(unknown)
  }
}

function cannotBeWritten(cause: Error): CarillonError {
  return new CarillonError('UNAVAILABLE', 'The store cannot be written; it has to be started anew', { cause })
}
