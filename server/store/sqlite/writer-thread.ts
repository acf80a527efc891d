// The writer thread: commits all writes that wait in one transaction (group commit), so that one fsync serves many
// callers. Each write stands or falls alone, in its savepoint. The main thread's end of it is writer.ts.
import { parentPort, workerData } from 'node:worker_threads'
import type { Ring } from '../store.ts'
import { connect, resultCode } from './database.ts'
import * as writes from './writes/all.ts'
import type { WriteContext } from './writes/context.ts'

export type Writes = typeof writes
export type WriteName = keyof Writes
export type WriteRequest = readonly [name: WriteName, change: unknown]
/** What became of a write; a failure carries SQLite's result code where it has one. */
export type WriteReply = { ok: true; value: unknown } | { ok: false; message: string; sqliteCode: number | undefined }
export type WriterMessage = { replies: WriteReply[]; rings: Ring[] }

const port = parentPort as NonNullable<typeof parentPort>
const database = connect(workerData.path)
const sql = database.createTagStore(64)
const dataVersion = database.prepare('pragma data_version')
let knownDataVersion = dataVersion.get()?.data_version

function commitTogether(requests: readonly WriteRequest[]): WriterMessage {
  const rings: Ring[] = []
  try {
    database.exec('begin immediate')
    const replies = requests.map((request) => runAlone(request, rings))
    database.exec('commit')
    return { replies, rings }
  } catch (error) {
    if (database.isTransaction) database.exec('rollback')
    return { replies: requests.map(() => failure(error)), rings: [] }
  }
}

function runAlone([name, change]: WriteRequest, rings: Ring[]): WriteReply {
  const rung: Ring[] = []
  const context: WriteContext = { sql, ring: (ring) => rung.push(ring) }
  database.exec('savepoint one')
  try {
    const value = (writes[name] as (context: WriteContext, change: unknown) => unknown)(context, change)
    database.exec('release one')
    rings.push(...rung)
    return { ok: true, value }
  } catch (error) {
    // A failure of the system (disk full, I/O) has already ended the whole transaction.
    if (!database.isTransaction) throw error
    database.exec('rollback to one; release one')
    return failure(error)
  }
}

function failure(error: unknown): WriteReply {
  return { ok: false, message: error instanceof Error ? error.message : String(error), sqliteCode: resultCode(error) }
}

/** `data_version` moves only when another connection wrote, and here that is another process: a command, say. */
function noticeOtherProcesses(): void {
  const version = dataVersion.get()?.data_version
  if (version === knownDataVersion) return
  knownDataVersion = version
  port.postMessage({ replies: [], rings: [{ about: 'anything' }] } satisfies WriterMessage)
}

setInterval(noticeOtherProcesses, 1_000).unref()

port.on('message', (message: readonly WriteRequest[] | 'close') => {
  if (message !== 'close') return port.postMessage(commitTogether(message))
  database.close()
  port.close()
})
