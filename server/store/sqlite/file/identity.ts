// Which file is this database, and does its write-ahead log belong to it? SQLite goes by names alone: it applies a log to
// any file that was put in the place of the right one. So the stores of one database keep a small file beside it, and a
// stamp in the header of the database (`user_version`) that no earlier copy has (decision 0023).
import { randomBytes, randomInt } from 'node:crypto'
import { type BigIntStats, existsSync, readFileSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { replaceDurably, syncFolder } from '../../../files/durable-file.ts'
import { corrupt, Database, notADatabase, readHeader, resultCode } from '../database.ts'

/** A file by its number on the disk and, if the file system keeps it, the time at which it was made. */
type FileId = { inode: string; bornAt?: string }

export type Identity = {
  /** Names the history of changes that goes on in this database. */
  history: string
  /** The stamp of the file without its log; then the last two of the file with its log. */
  stamps: number[]
  database: FileId
  log: FileId | null
  /** Of the identity file: a copy of it has another one. */
  own: FileId
}

const stampRange = 2 ** 31 - 1
/** https://sqlite.org/fileformat.html section 1.3: the user version. */
const stampOffset = 60

/** Where the identity of the database at `path` is kept: beside the file itself, as its log is. */
export function identityFileOf(path: string): string {
  return `${resolved(path).replace(/\.db$/, '')}.identity`
}

/** The log of the database at `path`. SQLite keeps it beside the file that a symbolic link names. */
export function logOf(path: string): string {
  return `${resolved(path)}-wal`
}

function resolved(path: string): string {
  return existsSync(path) ? realpathSync(path) : path
}

/** Undefined if there is none, or none that can be understood: then nothing is known. */
export function readIdentity(path: string): Identity | undefined {
  try {
    const identity = JSON.parse(readFileSync(identityFileOf(path), 'utf8')) as Identity
    const isWhole = Array.isArray(identity.stamps) && typeof identity.history === 'string' && identity.database !== null
    return isWhole ? identity : undefined
  } catch {
    return undefined
  }
}

/**
 * Whether the log of the database at `path` was written to another file, so that applying it would destroy this one. Only
 * if that is certain: the log is the recorded file, and the database is not, or has a stamp that it did not have since. A
 * folder that was copied as a whole has another log, and is left to SQLite.
 */
export function hasForeignLog(path: string): boolean {
  for (;;) {
    const identity = readIdentity(path)
    const log = statusOf(logOf(path))
    const database = statusOf(path)
    if (identity === undefined || log === undefined || log.size === 0n || database === undefined) return false
    if (identity.log === null || !isFile(identity.log, log)) return false
    if (!isFile(identity.database, database)) return true
    if (identity.stamps.includes(readHeader(path).readUInt32BE(stampOffset))) return false
    // A running process may have written both in between; the one says nothing of the other then.
    if (JSON.stringify(readIdentity(path)) === JSON.stringify(identity)) return true
  }
}

/** Moves the log of another file aside, and answers its new name. The next opening begins a new log. */
export function setLogAside(path: string): string {
  const log = logOf(path)
  const writtenAt = statSync(log).mtime.toISOString().replaceAll(':', '-')
  let aside = `${log}.from-another-database-${writtenAt}`
  for (let n = 2; existsSync(aside); n++) aside = `${log}.from-another-database-${writtenAt}-${n}`
  renameSync(log, aside)
  // The index of that log. A process that still has it open keeps it.
  rmSync(`${resolved(path)}-shm`, { force: true })
  syncFolder(dirname(log))
  return aside
}

export function setAsideSentence(path: string, aside: string): string {
  return (
    `The write-ahead log beside ${path} belongs to another database file, so nothing of it was applied. It was moved to ${aside}. ` +
    `Delete that if ${path} is the file to go on with.`
  )
}

/**
 * Names the history that goes on in an open database. The recorded one goes on if the database is where the last store of
 * it left off. If that cannot be known it is a new one, because versions may be reached again by other changes.
 */
export function historyGoingOn(database: Database, path: string): string {
  return recordedHistory(path, stampIn(database)) ?? randomBytes(16).toString('base64url')
}

function recordedHistory(path: string, stamp: number): string | undefined {
  const identity = readIdentity(path)
  const own = statusOf(identityFileOf(path))
  if (identity === undefined || own === undefined || !isFile(identity.own, own)) return undefined
  if (!isFile(identity.database, statSync(path, { bigint: true }))) return undefined
  return identity.stamps.slice(-2).includes(stamp) ? identity.history : undefined
}

/**
 * Gives the database a stamp that no copy of it has, and answers the stamps that its file can have from here on. `history`
 * is recorded if none goes on.
 */
export function stampDatabase(database: Database, { path, history }: { path: string; history: string }): number[] {
  inWriteLock(database, () => {
    const identity = readIdentity(path)
    const [before, stamp] = [stampIn(database), randomInt(1, stampRange)]
    const stamps = [...onDisk(path, identity), before, stamp]
    // In this order: whichever of the two a power cut leaves, the stamp is in the list.
    writeIdentity(path, { history: recordedHistory(path, before) ?? history, stamps })
    database.exec(`pragma user_version = ${stamp}`)
  })
  return settleStamp(database, { path, history })
}

/** Takes the stamp into the file itself. If a read keeps it from that, the first and the last of the stamps differ. */
export function settleStamp(database: Database, place: { path: string; history: string }): number[] {
  database.exec('pragma wal_checkpoint(passive)')
  return record(database, place)
}

/** Writes down the files and the stamp that are there now, and none of before: those are the stamps of earlier copies. */
function record(database: Database, { path, history }: { path: string; history: string }): number[] {
  return inWriteLock(database, () => {
    const identity = readIdentity(path)
    const stamp = stampIn(database)
    const stamps = [...onDisk(path, identity), stamp, stamp]
    writeIdentity(path, { history: identity?.history ?? history, stamps })
    return stamps
  })
}

/** For a file that was overwritten: it has no stamp of ours any more, so the log is foreign to it, whatever stamp it has. */
export function disown(path: string): void {
  const identity = readIdentity(path)
  if (identity !== undefined) writeIdentity(path, { history: identity.history, stamps: [] })
}

/** A stamp for a file that is no database in use, such as a backup. */
export function stampAnew(database: Database): void {
  database.exec(`pragma user_version = ${randomInt(1, stampRange)}`)
}

/** `isShort`: the file has fewer pages than it says. A checkpoint writes the first page first, and may be killed there. */
export type HeaderOnDisk = { stamp: number; schema: number; isShort: boolean }

/** Reads past the log, on a connection of its own: to open and close the file by itself would end SQLite's locks on it. */
export function headerOnDisk(path: string): HeaderOnDisk | 'unreadable' | 'no database' {
  const header = readPastLog(path, { isShort: false })
  return header === 'no database' ? readPastLog(path, { isShort: true }) : header
}

function readPastLog(path: string, { isShort }: { isShort: boolean }): HeaderOnDisk | 'unreadable' | 'no database' {
  let database: Database | undefined
  try {
    database = new Database(`${pathToFileURL(path).href}?immutable=1`, { readOnly: true, defensive: false })
    // With it SQLite does not compare the count of pages with the length of the file (lockBtree in btree.c).
    if (isShort) database.exec('pragma writable_schema = on')
    return { stamp: stampIn(database), schema: schemaIn(database), isShort }
  } catch (error) {
    const code = resultCode(error)
    return code === corrupt || code === notADatabase ? 'no database' : 'unreadable'
  } finally {
    database?.close()
  }
}

function onDisk(path: string, identity: Identity | undefined): number[] {
  const header = headerOnDisk(path)
  return typeof header === 'object' ? [header.stamp] : (identity?.stamps ?? [])
}

/** Every change of the schema raises it, and so does each `vacuum into` in the copy that it makes. */
export function schemaIn(database: Database): number {
  return Number(database.prepare('pragma schema_version').get()?.schema_version)
}

function stampIn(database: Database): number {
  return Number(database.prepare('pragma user_version').get()?.user_version)
}

function writeIdentity(path: string, { history, stamps }: Pick<Identity, 'history' | 'stamps'>): void {
  const database = statSync(path, { bigint: true })
  const log = statusOf(logOf(path))
  // A file system that keeps no time of birth answers nothing, or the time of the last change.
  const hasBirth = database.birthtimeNs > 0n && database.birthtimeNs !== database.ctimeNs
  const idOf = ({ ino, birthtimeNs }: BigIntStats): FileId => ({
    inode: String(ino),
    ...(hasBirth && { bornAt: String(birthtimeNs) }),
  })
  replaceDurably(identityFileOf(path), (own) => {
    const ids = { database: idOf(database), log: log === undefined ? null : idOf(log), own: idOf(own) }
    return `${JSON.stringify({ history, stamps, ...ids } satisfies Identity)}\n`
  })
}

/** The number of the device is not compared: it can change when the machine starts again. */
function isFile(id: FileId, { ino, birthtimeNs }: BigIntStats): boolean {
  return id.inode === String(ino) && (id.bornAt === undefined || id.bornAt === String(birthtimeNs))
}

export function statusOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** Of several processes one at a time reads the identity and writes it. */
function inWriteLock<Result>(database: Database, work: () => Result): Result {
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
