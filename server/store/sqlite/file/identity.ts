// SQLite applies a log to any file of the right name, also to a replacement. So Carillon keeps an
// identity file beside it, and in its header (`user_version`) a stamp that no earlier copy has
// (decision 0068). A FileGuard checks around commits and every second that the file is at the path.
import { randomBytes, randomInt } from 'node:crypto'
import * as fs from 'node:fs'
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { replaceDurably, syncFolder } from '../../../basics/durable-file.ts'
import {
  corrupt,
  Database,
  inWriteLock,
  logPages,
  notADatabase,
  numberIn,
  readHeader,
  resultCode,
} from '../database.ts'

type FileId = { inode: string; bornAt?: string }

export type Identity = {
  history: string
  /** The file's stamp without its log, then the last two with it. */
  stamps: number[]
  database: FileId
  log: FileId | null
  /** The identity file itself: a copy of it is another file. */
  own: FileId
  /** The file has everything acknowledged, so the log may be absent. */
  closed: boolean
  /** It stays as long as the history that began then. */
  lostLog?: string | undefined
}

const stampRange = 2 ** 31 - 1
/** https://sqlite.org/fileformat.html section 1.3: the user version. */
const stampOffset = 60

function identityFileOf(path: string): string {
  return `${resolved(path).replace(/\.db$/, '')}.identity`
}

/** SQLite keeps the log beside the target of a symbolic link. */
function logOf(path: string): string {
  return `${resolved(path)}-wal`
}

function resolved(path: string): string {
  return fs.existsSync(path) ? fs.realpathSync(path) : path
}

export function readIdentity(path: string): Identity | undefined {
  try {
    return JSON.parse(fs.readFileSync(identityFileOf(path), 'utf8')) as Identity
  } catch {
    return undefined
  }
}

/**
 * The log is another file's, or the database has an unknown stamp: SQLite would destroy it. A copy
 * of the whole folder rightly has its own log.
 */
export function hasForeignLog(path: string): boolean {
  for (;;) {
    const identity = readIdentity(path)
    const log = statusOf(logOf(path))
    const database = statusOf(path)
    if (identity === undefined || log === undefined || log.size === 0n || database === undefined)
      return false
    if (identity.log === null || !isFile(identity.log, log)) return false
    if (!isFile(identity.database, database)) return true
    if (identity.stamps.includes(readHeader(path).readUInt32BE(stampOffset))) return false
    // A running process may have changed both meanwhile.
    if (JSON.stringify(readIdentity(path)) === JSON.stringify(identity)) return true
  }
}

/**
 * Returns the last checkpoint if the log is gone and no process recorded a close. A restored
 * database has an unknown stamp.
 */
export function lostLogSince(path: string): string | undefined {
  // A process that ends records its close before it deletes the log.
  const isEmpty = isLogEmpty(path)
  const identity = readIdentity(path)
  const database = statusOf(path)
  if (!isEmpty || identity === undefined || identity.closed || database === undefined)
    return undefined
  return identity.stamps.includes(readHeader(path).readUInt32BE(stampOffset))
    ? database.mtime.toISOString()
    : undefined
}

function isLogEmpty(path: string): boolean {
  return !statusOf(logOf(path))?.size
}

export function setLogAside(path: string): string {
  const log = logOf(path)
  const writtenAt = fs.statSync(log).mtime.toISOString().replaceAll(':', '-')
  const aside = `${log}.from-another-database-${writtenAt}`
  fs.renameSync(log, aside)
  fs.rmSync(`${resolved(path)}-shm`, { force: true })
  syncFolder(dirname(log))
  return (
    `The write-ahead log beside ${path} belongs to another database file, so it was not applied. It was moved to ${aside}. ` +
    `Delete it if ${path} is the right file.`
  )
}

/** Returns a new history if another program wrote: other changes may have the same versions. */
export function continuedHistory(database: Database, path: string): string {
  return (
    recordedHistory(path, numberIn(database, 'user_version')) ??
    randomBytes(16).toString('base64url')
  )
}

function recordedHistory(path: string, stamp: number): string | undefined {
  const identity = readIdentity(path)
  const own = statusOf(identityFileOf(path))
  if (identity === undefined || own === undefined || !isFile(identity.own, own)) return undefined
  if (!identity.closed && isLogEmpty(path)) return undefined
  if (!isFile(identity.database, fs.statSync(path, { bigint: true }))) return undefined
  return identity.stamps.slice(-2).includes(stamp) ? identity.history : undefined
}

type Recordable = { path: string; history: string; lostLog?: string }

export function stampDatabase(
  database: Database,
  { path, history, lostLog }: Recordable,
): number[] {
  inWriteLock(database, () => {
    const identity = readIdentity(path)
    const before = numberIn(database, 'user_version')
    const stamp = randomInt(1, stampRange)
    const stamps = [...onDisk(path, identity), before, stamp]
    // The list then has the stamp whenever the power fails.
    writeIdentity(path, { history: recordedHistory(path, before) ?? history, stamps, lostLog })
    database.exec(`pragma user_version = ${stamp}`)
  })
  return settleStamp(database, { path, history })
}

/** If a read prevents it, first and last stamp differ. Drops earlier stamps, which copies have. */
export function settleStamp(
  database: Database,
  { path, history }: { path: string; history: string },
): number[] {
  database.exec('pragma wal_checkpoint(passive)')
  return inWriteLock(database, () => {
    const identity = readIdentity(path)
    const stamp = numberIn(database, 'user_version')
    const stamps = [...onDisk(path, identity), stamp, stamp]
    writeIdentity(path, { history: identity?.history ?? history, stamps })
    return stamps
  })
}

/** The last connection to close deletes the log, so this first copies it, and records that. */
export function recordClose(database: Database, path: string): void {
  try {
    if (database.isTransaction) database.exec('rollback')
    const version = numberIn(database, 'data_version')
    const { log, checkpointed } = logPages(database, 'full')
    if (log <= 0 || log !== checkpointed) return
    inWriteLock(database, () => {
      const isOpen = readIdentity(path)?.closed === false
      if (!isOpen || numberIn(database, 'data_version') !== version) return
      const stamp = numberIn(database, 'user_version')
      writeIdentity(path, {
        history: continuedHistory(database, path),
        stamps: [stamp, stamp, stamp],
        closed: true,
      })
    })
  } catch {}
}

/** The log is then foreign to the file that was overwritten. */
function disown(path: string): void {
  const identity = readIdentity(path)
  if (identity !== undefined) writeIdentity(path, { history: identity.history, stamps: [] })
}

/** `schema` also rises in a copy of `vacuum into`. `isShort`: fewer pages than in the header. */
type HeaderOnDisk = { stamp: number; schema: number; isShort: boolean }

/** Opening and closing the file directly would release SQLite's locks (POSIX). */
function headerOnDisk(path: string): HeaderOnDisk | 'unreadable' | 'no database' {
  const header = readPastLog(path, { isShort: false })
  return header === 'no database' ? readPastLog(path, { isShort: true }) : header
}

function readPastLog(
  path: string,
  { isShort }: { isShort: boolean },
): HeaderOnDisk | 'unreadable' | 'no database' {
  try {
    using database = new Database(`${pathToFileURL(path).href}?immutable=1`, {
      readOnly: true,
      defensive: false,
    })
    // A killed checkpoint has written only the first page. The pragma stops SQLite from comparing
    // the length (lockBtree in btree.c).
    if (isShort) database.exec('pragma writable_schema = on')
    return {
      stamp: numberIn(database, 'user_version'),
      schema: numberIn(database, 'schema_version'),
      isShort,
    }
  } catch (error) {
    const code = resultCode(error)
    return code === corrupt || code === notADatabase ? 'no database' : 'unreadable'
  }
}

function onDisk(path: string, identity: Identity | undefined): number[] {
  const header = headerOnDisk(path)
  return typeof header === 'object' ? [header.stamp] : (identity?.stamps ?? [])
}

type Recorded = Pick<Identity, 'history' | 'stamps' | 'lostLog'> & { closed?: boolean }

/** An empty log can lose nothing, so `closed` may be absent. */
function writeIdentity(path: string, { history, stamps, closed, lostLog }: Recorded): void {
  const before = readIdentity(path)
  const database = fs.statSync(path, { bigint: true })
  const log = statusOf(logOf(path))
  // Some file systems return 0 or the last change's time.
  const hasBirth = database.birthtimeNs > 0n && database.birthtimeNs !== database.ctimeNs
  const idOf = ({ ino, birthtimeNs }: fs.BigIntStats): FileId => ({
    inode: String(ino),
    ...(hasBirth && { bornAt: String(birthtimeNs) }),
  })
  replaceDurably(identityFileOf(path), (own) => {
    const identity: Identity = {
      history,
      stamps,
      database: idOf(database),
      log: log === undefined ? null : idOf(log),
      own: idOf(own),
      closed: closed ?? log?.size === 0n,
      lostLog: lostLog ?? (before?.history === history ? before.lostLog : undefined),
    }
    return `${JSON.stringify(identity)}\n`
  })
}

/** The device number can change when the machine restarts. */
function isFile(id: FileId, { ino, birthtimeNs }: fs.BigIntStats): boolean {
  return id.inode === String(ino) && (id.bornAt === undefined || id.bornAt === String(birthtimeNs))
}

function statusOf(path: string): fs.BigIntStats | undefined {
  try {
    return fs.statSync(path, { bigint: true, throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

export type FileNumber = { dev: bigint; ino: bigint }

/** A checkpoint writes up to 64 MB. */
const checkpointTimeoutMs = 3_000

export type FileLoss = {
  reason: string
  remedy: string
  /** Closing the right database file copies the log into it. */
  isLogOnly: boolean
}

export class FileGuard {
  readonly #path: string
  readonly #log: string
  readonly #database: FileNumber
  readonly #schemaNow: () => number
  #logFile: fs.BigIntStats | undefined
  #seen: fs.BigIntStats | undefined
  readonly #identityFile: string
  #identityChangedAt: bigint | undefined
  #stamps: readonly number[] = []

  /** `schemaNow`: the schema version, log included. */
  constructor({
    path,
    database,
    schemaNow,
  }: { path: string; database: FileNumber; schemaNow: () => number }) {
    this.#schemaNow = schemaNow
    this.#path = path
    this.#log = logOf(path)
    this.#identityFile = identityFileOf(path)
    this.#database = database
  }

  expect(stamps: readonly number[]): void {
    this.#stamps = stamps
    this.#logFile ??= statusOf(this.#log)
  }

  /** Until the file has the last stamp, an earlier copy looks the same. */
  get isSettled(): boolean {
    return this.#stamps[0] === this.#stamps.at(-1)
  }

  /** Call it before each commit, under its lock: another process may have recorded a close. */
  recordOpen(): void {
    if (statusOf(this.#identityFile)?.ctimeNs === this.#identityChangedAt) return
    const identity = readIdentity(this.#path)
    if (identity?.closed) writeIdentity(this.#path, { ...identity, closed: false })
    this.#identityChangedAt = statusOf(this.#identityFile)?.ctimeNs
  }

  loss(): FileLoss | undefined {
    const status = statusOf(this.#path)
    if (status === undefined) return lossOf(`${this.#path} was removed or renamed`)
    if (!isSame(status, this.#database)) return lossOf(`${this.#path} was replaced by another file`)
    if (!this.#isContentKnown(status)) {
      disown(this.#path)
      return lossOf(`${this.#path} was overwritten with another file`)
    }
    if (this.#logFile === undefined || isSame(statusOf(this.#log), this.#logFile)) return undefined
    const reason = `${this.#log} was removed or replaced while this process had it open`
    return { reason, remedy: 'Start again: nothing of it was lost.', isLogOnly: true }
  }

  /** A checkpoint changes the file, and so does a copy over it. */
  #isContentKnown(status: fs.BigIntStats): boolean {
    if (status.mtimeNs === this.#seen?.mtimeNs && status.size === this.#seen.size) return true
    if (this.#stamps.length === 0) return true
    const header = headerOnDisk(this.#path)
    if (header === 'unreadable') return true
    if (header === 'no database') return false
    if (header.isShort && this.#isTruncated(status)) return false
    // The file without its log has no later schema than with it.
    if (header.schema > this.#schemaNow()) return false
    if (!this.#isStampKnown(header.stamp)) return false
    this.#seen = status
    return true
  }

  // After another process's vacuum, a checkpoint shortens the file.
  #isTruncated({ size }: fs.BigIntStats): boolean {
    if (this.#seen === undefined || size >= this.#seen.size) return false
    for (let waitedMs = 0; waitedMs < checkpointTimeoutMs; waitedMs += 20) {
      const header = headerOnDisk(this.#path)
      if (typeof header !== 'object' || !header.isShort) return header === 'no database'
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
    }
    return true
  }

  /** Another process may change the stamp between the two reads. */
  #isStampKnown(stamp: number): boolean {
    if (this.#stamps.includes(stamp) || readIdentity(this.#path)?.stamps.includes(stamp))
      return true
    const again = headerOnDisk(this.#path)
    return typeof again === 'object' && again.stamp !== stamp && this.#isStampKnown(again.stamp)
  }
}

function isSame(one: FileNumber | undefined, other: FileNumber): boolean {
  return one?.ino === other.ino && one.dev === other.dev
}

function lossOf(what: string): FileLoss {
  const reason = `${what} while this process had it open, and nothing more was written to it`
  return {
    reason,
    remedy: 'Put the right file there, or restore a backup, and start again.',
    isLogOnly: false,
  }
}
