// The writer thread: commits all writes that wait in one transaction (group commit), so that one fsync serves many
// callers. Each write stands or falls alone, in its savepoint. The main thread's end of it is writer.ts.
import { parentPort, workerData } from 'node:worker_threads'
import type { ChangeSignal } from '../store.ts'
import { connect, resultCode } from './database.ts'
import { FileGuard, type FileLoss } from './file/guard.ts'
import { schemaIn, settleStamp, stampDatabase } from './file/identity.ts'
import * as writes from './writes/all.ts'
import type { WriteContext } from './writes/context.ts'

export type Writes = typeof writes
export type WriteName = keyof Writes
export type WriteRequest = readonly [name: WriteName, change: unknown]
/** What became of a write. A failure carries SQLite's result code, if it has one, and whether the commit itself failed. */
export type WriteReply =
  | { ok: true; value: unknown }
  | { ok: false; message: string; sqliteCode: number | undefined; isOfCommit: boolean }
export type WriterMessage = {
  replies: WriteReply[]
  rings: ChangeSignal[]
  /** Nothing more is written, since the file is not the one that this thread has open. */
  loss?: FileLoss | undefined
}

const port = parentPort as NonNullable<typeof parentPort>
const database = connect(workerData.path)
// What a write may have to take back is kept in memory; the log grows to 16 MB before it is copied into the file, since
// what is copied less often is copied less.
database.exec('pragma temp_store = memory; pragma wal_autocheckpoint = 4000; pragma cache_size = -16384')
/** A copy that is taken while the service runs has the stamp of that time, and is known from the file that has a later one. */
const stampEveryMs = 600_000
const sql = database.createTagStore(64)
const dataVersion = database.prepare('pragma data_version')
let knownDataVersion = dataVersion.get()?.data_version
// Opens the log, so that there is one to guard.
database.exec('begin; select 1 from sqlite_schema; commit')
const guard = new FileGuard({
  path: workerData.path,
  database: workerData.file,
  schemaNow: () => schemaIn(database),
})
let loss: FileLoss | undefined
let stampedAt = Number.NEGATIVE_INFINITY
let hasWritten = false

/** Nothing is acknowledged that was written to a file which the next start does not find at this path. */
function commitGuarded(requests: readonly WriteRequest[]): WriterMessage {
  if (isLost()) return { ...refuseAll(requests, new Error(loss?.reason)), loss }
  // Not at the opening: a process that writes nothing, such as a start that is refused, leaves the files as they are.
  if (stampedAt === Number.NEGATIVE_INFINITY) stamp()
  const message = commitTogether(requests)
  hasWritten = true
  if (!isLost()) return message
  return { ...refuseAll(requests, new Error(loss?.reason), true), loss }
}

/** Once it is, it stays so: what was written to another file in between is not known. */
function isLost(): boolean {
  loss ??= guard.loss()
  return loss !== undefined
}

/**
 * All in one transaction, without savepoints: those copy every page that is touched. Where one of the writes fails, all
 * is taken back and run again, each in its savepoint, so that the one falls alone.
 */
function commitTogether(requests: readonly WriteRequest[]): WriterMessage {
  return commit(requests, run) ?? commit(requests, runAlone) ?? refuseAll(requests, new Error('no write could be run'))
}

/** Undefined where a write failed and the system did not: there is something to be tried again. */
function commit(
  requests: readonly WriteRequest[],
  runOne: (request: WriteRequest, rings: ChangeSignal[]) => WriteReply,
): WriterMessage | undefined {
  const rings: ChangeSignal[] = []
  let isOneWrites = false
  let isOfCommit = false
  try {
    database.exec('begin immediate')
    isOneWrites = true
    const replies = requests.map((request) => runOne(request, rings))
    isOneWrites = false
    isOfCommit = true
    database.exec('commit')
    return { replies, rings }
  } catch (error) {
    // A failure of the system (disk full, I/O) has already ended the transaction.
    isOneWrites &&= database.isTransaction
    if (database.isTransaction) database.exec('rollback')
    return isOneWrites ? undefined : refuseAll(requests, error, isOfCommit)
  }
}

function run([name, change]: WriteRequest, rings: ChangeSignal[]): WriteReply {
  const context: WriteContext = { sql, ring: (ring) => rings.push(ring) }
  return { ok: true, value: (writes[name] as (context: WriteContext, change: unknown) => unknown)(context, change) }
}

function runAlone(request: WriteRequest, rings: ChangeSignal[]): WriteReply {
  const rung: ChangeSignal[] = []
  database.exec('savepoint one')
  try {
    const reply = run(request, rung)
    database.exec('release one')
    rings.push(...rung)
    return reply
  } catch (error) {
    if (!database.isTransaction) throw error
    database.exec('rollback to one; release one')
    return failure(error)
  }
}

function refuseAll(requests: readonly WriteRequest[], error: unknown, isOfCommit = false): WriterMessage {
  return { replies: requests.map(() => failure(error, isOfCommit)), rings: [] }
}

function failure(error: unknown, isOfCommit = false): WriteReply {
  const message = error instanceof Error ? error.message : String(error)
  return { ok: false, message, sqliteCode: resultCode(error), isOfCommit }
}

/** If another process has the lock for too long, or the disk is full, the earlier stamp will do a while longer. */
function stamp(): void {
  try {
    guard.expect(stampDatabase(database, workerData))
    stampedAt = performance.now()
    hasWritten = false
  } catch {}
}

/** A read of the main thread may have kept the stamp out of the file. */
function settle(): void {
  try {
    guard.expect(settleStamp(database, workerData))
  } catch {}
}

function everySecond(): void {
  if (isLost()) {
    port.postMessage({ replies: [], rings: [], loss } satisfies WriterMessage)
    return
  }
  noticeOtherProcesses()
  if (hasWritten && performance.now() - stampedAt > stampEveryMs) stamp()
  else if (!guard.isSettled) settle()
}

/** A close writes the log into the file at the path, so it must be the right one. The connection of the reads, which is still
 * open, keeps SQLite from doing so when this thread ends. */
function end(): void {
  if (isLost()) port.postMessage({ replies: [], rings: [], loss } satisfies WriterMessage)
  if (loss?.isLogOnly === false) return
  if (loss === undefined && hasWritten) stamp()
  database.close()
}

/** `data_version` moves only when another connection wrote, and here that is another process: a command, say. */
function noticeOtherProcesses(): void {
  const version = dataVersion.get()?.data_version
  if (version === knownDataVersion) return
  knownDataVersion = version
  port.postMessage({ replies: [], rings: [{ about: 'anything' }] } satisfies WriterMessage)
}

// What another process wrote before this thread began to look is noticed by nobody else.
port.postMessage({ replies: [], rings: [{ about: 'anything' }] } satisfies WriterMessage)
const noticing = setInterval(everySecond, 1_000).unref()

port.on('message', (message: readonly WriteRequest[] | 'close') => {
  if (message !== 'close') return port.postMessage(commitGuarded(message))
  // Before the close: a check that was due would ask a closed database, in the last turn of this thread.
  clearInterval(noticing)
  end()
  port.close()
})
