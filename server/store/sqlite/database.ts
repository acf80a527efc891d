// Opens a database file, or says why not and leaves it unchanged. Only this imports node:sqlite.
import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import * as sqlite from 'node:sqlite'
import { createEmpty, makeFolder } from '../../basics/durable-file.ts'
import { CarillonError, messageOf, unavailable } from '../../basics/errors.ts'
import { comparable } from '../migrations.ts'
import { isRefusedWrite, refusedWrite, writeRefusal } from '../transfer-state.ts'
import { outcomeUnknown, takenBack } from '../unavailable.ts'

// Node is renaming the class.
export const Database = (
  'Database' in sqlite ? sqlite.Database : sqlite.DatabaseSync
) as typeof sqlite.DatabaseSync
export type Database = InstanceType<typeof Database>
export type Statement = sqlite.StatementSync

/** "CRLN", bytes 68-71 of the file (https://sqlite.org/fileformat.html section 1.3). */
const applicationId = 0x43524c4e
const minSqlite = '3.51.3'
const busyTimeoutMs = 5_000

export const busy = 5
const locked = 6
const readonly = 8
export const corrupt = 11
const cannotOpen = 14
export const constraint = 19
export const notADatabase = 26
export const ioError = 10
const full = 13
const systemFailures = new Set([
  busy,
  locked,
  readonly,
  ioError,
  corrupt,
  full,
  cannotOpen,
  notADatabase,
])

export function resultCode(error: unknown): number | undefined {
  const extended = (error as { errcode?: unknown } | null)?.errcode
  return typeof extended === 'number' ? extended & 0xff : undefined
}

/** The next start commits frames in the log, even if their commit had an I/O error. */
export function asStoreError(error: unknown, { isOfCommit = false } = {}): unknown {
  const code = resultCode(error)
  if (code === constraint && isRefusedWrite(error)) return writeRefusal(error)
  if (code === undefined || !systemFailures.has(code)) return error
  return isOfCommit && code === ioError ? outcomeUnknown(error) : takenBack(error)
}

export function connect(path: string): Database {
  const database = new Database(path, {
    timeout: busyTimeoutMs,
    enableForeignKeyConstraints: false,
  })
  try {
    database.exec('pragma synchronous = full')
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

export function inWriteLock<Result>(database: Database, work: () => Result): Result {
  database.exec('begin immediate')
  try {
    const result = work()
    database.exec('commit')
    return result
  } catch (error) {
    if (database.isTransaction) database.exec('rollback')
    throw error
  }
}

/** File 0600, folder 0700. Throws UNAVAILABLE. */
export function openDatabase(path: string): Database {
  refuseOldSqlite(process.versions.sqlite ?? '0')
  prepareFile(path)
  let database: Database | undefined
  try {
    database = connect(path)
    setApplicationId(database)
    switchToWal(database)
    database.exec('begin immediate; rollback')
    return database
  } catch (error) {
    database?.close()
    throw openingFailure(error, path)
  }
}

export function peek(path: string, look: (database: Database) => void): void {
  if (!existsSync(`${path}-wal`) || !existsSync(path) || !isOurs(readHeader(path))) return
  try {
    using database = new Database(path, { readOnly: true })
    look(database)
  } catch (error) {
    if (error instanceof CarillonError) throw error
  }
}

export function openingFailure(error: unknown, path: string): CarillonError {
  if (error instanceof CarillonError) return error
  const [reason, remedy] = reasonAndRemedy(error)
  return unavailable(`${path} ${reason}`, remedy, error)
}

export function refuseOldSqlite(version: string): void {
  if (comparable(version) >= comparable(minSqlite)) return
  throw unavailable(
    `This Node brings SQLite ${version}; Carillon needs ${minSqlite} or later`,
    'Run it with a newer Node.',
  )
}

/** SQLite would change a file that is not ours, so this reads without it. */
function prepareFile(path: string): void {
  try {
    makeFolder(dirname(path))
    if (existsSync(path) && !statSync(path).isFile())
      throw unavailable(`${path} is a folder`, 'Name a file in the database URL.')
    if (existsSync(path)) closeSync(openSync(path, 'a'))
    else createEmpty(path, 'a')
  } catch (error) {
    throw openingFailure(error, path)
  }
  const header = readHeader(path)
  if (header.length === 0) return
  if (!isOurs(header)) throw notOurs(path, header)
  // SQLite fills a truncated last page; with a log, the log has it.
  if (!existsSync(`${path}-wal`) && statSync(path).size % header.readUInt16BE(16) > 0)
    throw unavailable(`${path} ${damaged[0]}`, damaged[1])
}

/** A backup is gzip (RFC 1952, section 2.3.1). */
export function notOurs(path: string, header: Buffer, url = 'the database URL'): CarillonError {
  if (header.length > 1 && header.readUInt16BE(0) === 0x1f8b)
    return unavailable(
      `${path} is a backup and was left as it is`,
      `Give it another name, and then restore it: carillon restore NAME --to sqlite:${path}.`,
    )
  return unavailable(
    `${path} is not a Carillon database and was left as it is`,
    `Name another file in ${url}.`,
  )
}

export function isOurs(header: Buffer): boolean {
  return (
    header.toString('latin1', 0, 15) === 'SQLite format 3' &&
    header.readUInt32BE(68) === applicationId
  )
}

export function readHeader(path: string): Buffer {
  const header = Buffer.alloc(100)
  const file = openSync(path, 'r')
  try {
    const length = readSync(file, header)
    return length === 0 ? Buffer.alloc(0) : header
  } finally {
    closeSync(file)
  }
}

/** A start that was killed here left an empty file with our application id. */
function setApplicationId(database: Database): void {
  if (numberIn(database, 'application_id') !== applicationId)
    database.exec(`pragma application_id = ${applicationId}`)
}

export function numberIn(database: Database, pragma: string): number {
  return Number(database.prepare(`pragma ${pragma}`).get()?.[pragma])
}

export function logPages(
  database: Database,
  kind: 'noop' | 'full',
): { log: number; checkpointed: number } {
  return database.prepare(`pragma wal_checkpoint(${kind})`).get() as {
    log: number
    checkpointed: number
  }
}

/** SQLite does not wait for the lock here. */
function switchToWal(database: Database): void {
  const giveUpAt = performance.now() + busyTimeoutMs
  for (;;) {
    try {
      database.exec('pragma journal_mode = wal')
      return
    } catch (error) {
      if (resultCode(error) !== busy || performance.now() > giveUpAt) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
    }
  }
}

const damaged = [
  'is damaged and was left as it is',
  'Restore a backup, or name another file in the database URL. Keep this one: carillon doctor --deep names what is damaged.',
] as const

function reasonAndRemedy(error: unknown): readonly [reason: string, remedy: string] {
  const system = (error as NodeJS.ErrnoException).code
  const code = resultCode(error)
  if (code === busy || code === locked)
    return [
      'is locked by another process',
      'Stop that process, or wait until it is done, and start again.',
    ]
  if (code === full || system === 'ENOSPC' || system === 'EDQUOT')
    return ['is on a full disk', 'Make room, then start again; a migration continues.']
  if (code === constraint && messageOf(error) === refusedWrite.maintenance)
    return ['is in maintenance', 'End it, and start again: carillon maintenance off.']
  if (code === constraint && isRefusedWrite(error))
    return [
      'is being moved to another database, or was moved, by an earlier version',
      'Finish the move or take it back (carillon move --give-up) with that version. The database was left as it is.',
    ]
  if (code === ioError)
    return [
      `cannot be used: ${messageOf(error)}`,
      'Check its disk (dmesg; fsck if the kernel made it read-only), then start again.',
    ]
  if (system === 'EROFS')
    return [
      'is on a file system that is mounted read-only',
      'Mount it for writing (mount -o remount,rw), then start again. If the kernel made it read-only after an error (dmesg), fsck first.',
    ]
  if (code === readonly || system === 'EACCES' || system === 'EPERM')
    return [
      'cannot be written',
      'Make the file and its folder writable for this user, then start again.',
    ]
  if (code === corrupt || code === notADatabase) return damaged
  return [`cannot be opened: ${messageOf(error)}`, 'Correct the database URL.']
}
