// Commits all waiting writes with one fsync. A write that fails is rolled back alone.
import { parentPort, workerData } from 'node:worker_threads'
import { messageOf } from '../../basics/errors.ts'
import type { AuditEntry, ChangeSignal } from '../events.ts'
import { boundValues, type SqlStatement, type Statement, Texts } from '../statements.ts'
import type { WriteOperation, Writes } from '../store.ts'
import { connect, logPages, numberIn, resultCode } from './database.ts'
import {
  FileGuard,
  type FileLoss,
  recordClose,
  settleStamp,
  stampDatabase,
} from './file/identity.ts'
import { changeNothing, type WriteReply, type WriteRequest, type WriterMessage } from './writer.ts'

const port = parentPort as NonNullable<typeof parentPort>
const database = connect(workerData.path)
/** Pages have 4 KiB and are copied between two commits: not each change of a page is copied. */
const dueLogPages = 4_000
/** A longer log is copied during a commit. */
const maxLogPages = 16_000
/** Eight times as much is not faster (decision 0054). */
const cacheKib = 8 * 1_024
database.exec(`pragma wal_autocheckpoint = ${maxLogPages}; pragma cache_size = ${-cacheKib}`)
database.exec('pragma temp_store = memory')
/** A copy made while the service runs has an older stamp, and is recognised. */
const stampEveryMs = 600_000
const prepared = new Texts('sqlite', (text) => database.prepare(text))
const dataVersion = database.prepare('pragma data_version')
let knownDataVersion: unknown
database.exec('begin; select 1 from sqlite_schema; commit')
const schemaNow = () => numberIn(database, 'schema_version')
const guard = new FileGuard({ path: workerData.path, database: workerData.file, schemaNow })
let loss: FileLoss | undefined
let stampedAt = Number.NEGATIVE_INFINITY
let hasWritten = false

/** The next start has to find each acknowledged write at this path. */
function commitGuarded(requests: readonly WriteRequest[]): WriterMessage {
  if (isLost()) return { ...refuseAll(requests, new Error(loss?.reason)), loss }
  // A process that writes nothing, such as a refused start, changes no file.
  if (stampedAt === Number.NEGATIVE_INFINITY) stamp()
  const message = commitTogether(requests)
  hasWritten = true
  if (!isLost()) return message
  return { ...refuseAll(requests, new Error(loss?.reason), true), loss }
}

/** A lost file stays lost: another may have been written to meanwhile. */
function isLost(): boolean {
  loss ??= guard.loss()
  return loss !== undefined
}

// A savepoint copies every changed page. So only after a failure all run again, in savepoints, and
// the one that failed fails alone.
function commitTogether(requests: readonly WriteRequest[]): WriterMessage {
  return (
    commit(requests, run) ??
    commit(requests, runAlone) ??
    refuseAll(requests, new Error('no write could run'))
  )
}

/** Undefined: the writes can run again. */
function commit(
  requests: readonly WriteRequest[],
  runOne: (request: WriteRequest, signals: ChangeSignal[]) => WriteReply,
): WriterMessage | undefined {
  const signals: ChangeSignal[] = []
  let step: 'begin' | 'write' | 'commit' = 'begin'
  try {
    database.exec('begin immediate')
    guard.recordOpen()
    step = 'write'
    const replies = requests.map((request) => runOne(request, signals))
    step = 'commit'
    database.exec('commit')
    return { replies, signals }
  } catch (error) {
    // A failure of the system (disk full, I/O) has already ended the transaction.
    const canRunAgain = step === 'write' && database.isTransaction
    if (database.isTransaction) database.exec('rollback')
    return canRunAgain ? undefined : refuseAll(requests, error, step === 'commit')
  }
}

function run([name, input]: WriteRequest, signals: ChangeSignal[]): WriteReply {
  if (name === changeNothing) return { ok: true, value: undefined }
  const recorded: AuditEntry[] = []
  const operation = writes[name] as WriteOperation<unknown, unknown>
  const write = typeof operation === 'function' ? operation(input) : operation.write(input)
  let step = write.next()
  while (!step.done) step = write.next(outcomeOf(step.value, { signals, recorded }))
  return recorded.length === 0
    ? { ok: true, value: step.value }
    : { ok: true, value: step.value, recorded }
}

type Collected = { signals: ChangeSignal[]; recorded: AuditEntry[] }

function outcomeOf(statement: Statement, { signals, recorded }: Collected): unknown {
  switch (statement.kind) {
    case 'record':
      return recorded.push(...statement.entries)
    case 'signal':
      return signals.push(statement.signal)
    default:
      return statement.only === undefined ? found(statement) : undefined
  }
}

function found(statement: SqlStatement): unknown {
  const values = boundValues(statement, 'sqlite')
  if (statement.kind === 'get') return prepared.of(statement).get(...values)
  if (statement.kind === 'all') return prepared.of(statement).all(...values)
  return Number(prepared.of(statement).run(...values).changes)
}

function runAlone(request: WriteRequest, signals: ChangeSignal[]): WriteReply {
  const ownSignals: ChangeSignal[] = []
  database.exec('savepoint one')
  try {
    const reply = run(request, ownSignals)
    database.exec('release one')
    signals.push(...ownSignals)
    return reply
  } catch (error) {
    if (!database.isTransaction) throw error
    database.exec('rollback to one; release one')
    return failure(error)
  }
}

function refuseAll(
  requests: readonly WriteRequest[],
  error: unknown,
  isOfCommit = false,
): WriterMessage {
  return { replies: requests.map(() => failure(error, isOfCommit)), signals: [] }
}

function failure(error: unknown, isOfCommit = false): WriteReply {
  return { ok: false, message: messageOf(error), sqliteCode: resultCode(error), isOfCommit }
}

function stamp(): void {
  try {
    guard.expect(stampDatabase(database, workerData))
    stampedAt = performance.now()
    hasWritten = false
  } catch {}
}

/** A read may have delayed the checkpoint that writes the stamp. */
function settle(): void {
  try {
    guard.expect(settleStamp(database, workerData))
  } catch {}
}

function everySecond(): void {
  if (isLost()) port.postMessage({ replies: [], signals: [], loss } satisfies WriterMessage)
  else if (hasWritten && performance.now() - stampedAt > stampEveryMs) stamp()
  else if (!guard.isSettled) settle()
  else if (pagesToCopy() > dueLogPages) database.exec('pragma wal_checkpoint(passive)')
}

function pagesToCopy(): number {
  const { log, checkpointed } = logPages(database, 'noop')
  return log - checkpointed
}

// Closing the last connection writes the log to the path. If another file is there, both stay open.
function end(): void {
  // A check in the last turn would use a closed database.
  clearInterval(noticing)
  clearInterval(guarding)
  if (isLost()) port.postMessage({ replies: [], signals: [], loss } satisfies WriterMessage)
  if (loss === undefined && hasWritten) stamp()
  if (loss?.isLogOnly !== false) {
    recordClose(database, workerData.path)
    database.close()
  }
  port.close()
}

function noticeOtherProcesses(): void {
  if (loss !== undefined) return
  const version = dataVersion.get()?.data_version
  if (version === knownDataVersion) return
  knownDataVersion = version
  port.postMessage({ replies: [], signals: [{ about: 'anything' }] } satisfies WriterMessage)
}

// Another process may have written before.
noticeOtherProcesses()
// A command's revocation has to take effect within a second.
const noticing = setInterval(noticeOtherProcesses, 400).unref()
const guarding = setInterval(everySecond, 1_000).unref()

let writes: Writes

export function serveWrites(ofRooms: Writes): void {
  writes = ofRooms
  port.on('message', receive)
}

function receive(message: readonly WriteRequest[] | 'close'): void {
  if (message === 'close') end()
  else port.postMessage(commitGuarded(message))
}
