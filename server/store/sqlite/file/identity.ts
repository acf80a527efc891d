// Which file is this database, and does its write-ahead log belong to it? SQLite looks only at names: it applies a log to any file that has
// replaced the right one. So Carillon keeps a small identity file beside the database, and a stamp in its header (`user_version`) that no
// earlier copy has (decision 0068). While a process runs, a FileGuard checks around every commit and once a second that the file at the path is
// still the open one: a write to a removed file is lost, and a write to one that replaced it destroys that file.
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

/** Identifies a file by its inode and, if the file system has it, its creation time. */
type FileId = { inode: string; bornAt?: string }

export type Identity = {
  history: string
  /** The stamp of the file without its log, then the last two stamps of the file with its log. */
  stamps: number[]
  database: FileId
  log: FileId | null
  /** The identity file itself: a copy of it is another file. */
  own: FileId
  /** Everything that was acknowledged is in the file itself, so the log may be absent. */
  closed: boolean
  /** The last checkpoint before a log was lost. It is known as long as the history that began then. */
  lostLog?: string | undefined
}

const stampRange = 2 ** 31 - 1
/** https://sqlite.org/fileformat.html section 1.3: the user version. */
const stampOffset = 60

function identityFileOf(path: string): string {
  return `${resolved(path).replace(/\.db$/, '')}.identity`
}

/** The path of the log of the database at `path`. SQLite keeps it beside the target of a symbolic link. */
function logOf(path: string): string {
  return `${resolved(path)}-wal`
}

function resolved(path: string): string {
  return fs.existsSync(path) ? fs.realpathSync(path) : path
}

/** Undefined if there is no identity file or it cannot be parsed. */
export function readIdentity(path: string): Identity | undefined {
  try {
    return JSON.parse(fs.readFileSync(identityFileOf(path), 'utf8')) as Identity
  } catch {
    return undefined
  }
}

/**
 * Whether the log beside `path` certainly belongs to another file, and would destroy this one: the log is the recorded file, and the database
 * is another file or has an unknown stamp. A folder that was copied completely has another log file, which SQLite applies as usual.
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
    // A running process may have changed both during these reads. Then the check is repeated.
    if (JSON.stringify(readIdentity(path)) === JSON.stringify(identity)) return true
  }
}

/**
 * The time of the last checkpoint, if the log beside `path` is gone or empty although no process has recorded that the file has everything.
 * A database that was restored over the file has a stamp that the identity does not know.
 */
export function lostLogSince(path: string): string | undefined {
  // In this order: a process that ends meanwhile records its close, and then deletes the log.
  const isEmpty = isLogEmpty(path)
  const identity = readIdentity(path)
  const database = statusOf(path)
  if (!isEmpty || identity === undefined || identity.closed || database === undefined) return undefined
  return identity.stamps.includes(readHeader(path).readUInt32BE(stampOffset)) ? database.mtime.toISOString() : undefined
}

function isLogEmpty(path: string): boolean {
  return !statusOf(logOf(path))?.size
}

/** Moves the log of another file aside, and returns a sentence for the operator. The next open starts a new log. */
export function setLogAside(path: string): string {
  const log = logOf(path)
  const writtenAt = fs.statSync(log).mtime.toISOString().replaceAll(':', '-')
  const aside = `${log}.from-another-database-${writtenAt}`
  fs.renameSync(log, aside)
  // The index of that log. A process that has it open can still use it.
  fs.rmSync(`${resolved(path)}-shm`, { force: true })
  syncFolder(dirname(log))
  return (
    `The write-ahead log beside ${path} belongs to another database file, so it was not applied. It was moved to ${aside}. ` +
    `Delete it if ${path} is the right file.`
  )
}

/** The recorded history if the last process left the database as it is, else a new one: other changes may reach the same versions. */
export function continuedHistory(database: Database, path: string): string {
  return recordedHistory(path, numberIn(database, 'user_version')) ?? randomBytes(16).toString('base64url')
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

/** Gives the database a stamp that no copy has, and returns those that its file can have. Records `history` if it continues no other. */
export function stampDatabase(database: Database, { path, history, lostLog }: Recordable): number[] {
  inWriteLock(database, () => {
    const identity = readIdentity(path)
    const before = numberIn(database, 'user_version')
    const stamp = randomInt(1, stampRange)
    const stamps = [...onDisk(path, identity), before, stamp]
    // In this order, so that the stamp is in the list whenever the power fails.
    writeIdentity(path, { history: recordedHistory(path, before) ?? history, stamps, lostLog })
    database.exec(`pragma user_version = ${stamp}`)
  })
  return settleStamp(database, { path, history })
}

/** Writes the stamp into the file; if a read prevents that, first and last stamp differ. Records no earlier one, which earlier copies have. */
export function settleStamp(database: Database, { path, history }: { path: string; history: string }): number[] {
  database.exec('pragma wal_checkpoint(passive)')
  return inWriteLock(database, () => {
    const identity = readIdentity(path)
    const stamp = numberIn(database, 'user_version')
    const stamps = [...onDisk(path, identity), stamp, stamp]
    writeIdentity(path, { history: identity?.history ?? history, stamps })
    return stamps
  })
}

/**
 * Before a connection is closed, which deletes the log if it is the last one: copies the log into the file, and records that the file has
 * everything. If another process writes meanwhile, that process does so at its own end. A full disk may prevent it.
 */
export function recordClose(database: Database, path: string): void {
  try {
    if (database.isTransaction) database.exec('rollback')
    const version = numberIn(database, 'data_version')
    const { log, checkpointed } = logPages(database, 'full')
    // Nothing was written since the log was found lost: the next start says so again.
    if (log <= 0 || log !== checkpointed) return
    inWriteLock(database, () => {
      const isOpen = readIdentity(path)?.closed === false
      if (!isOpen || numberIn(database, 'data_version') !== version) return
      const stamp = numberIn(database, 'user_version')
      writeIdentity(path, { history: continuedHistory(database, path), stamps: [stamp, stamp, stamp], closed: true })
    })
  } catch {}
}

/** For a file that was overwritten: removes every recorded stamp, so that the log is foreign to it, whatever stamp it has. */
function disown(path: string): void {
  const identity = readIdentity(path)
  if (identity !== undefined) writeIdentity(path, { history: identity.history, stamps: [] })
}

/** `schema`: a change of the schema raises it, and so does `vacuum into` in the copy. `isShort`: the file has fewer pages than its header says. */
type HeaderOnDisk = { stamp: number; schema: number; isShort: boolean }

/** Reads the file without its log through SQLite: opening and closing the file directly would release SQLite's locks (POSIX). */
function headerOnDisk(path: string): HeaderOnDisk | 'unreadable' | 'no database' {
  const header = readPastLog(path, { isShort: false })
  return header === 'no database' ? readPastLog(path, { isShort: true }) : header
}

function readPastLog(path: string, { isShort }: { isShort: boolean }): HeaderOnDisk | 'unreadable' | 'no database' {
  try {
    using database = new Database(`${pathToFileURL(path).href}?immutable=1`, { readOnly: true, defensive: false })
    // A checkpoint writes the first page first, and may be killed then. With this pragma SQLite does not compare the number of pages with
    // the length of the file (lockBtree in btree.c).
    if (isShort) database.exec('pragma writable_schema = on')
    return { stamp: numberIn(database, 'user_version'), schema: numberIn(database, 'schema_version'), isShort }
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

/** `closed`: without it, whether the log is empty, so that nothing can be lost with it. After the first stamp of a process it never is. */
function writeIdentity(path: string, { history, stamps, closed, lostLog }: Recorded): void {
  const before = readIdentity(path)
  const database = fs.statSync(path, { bigint: true })
  const log = statusOf(logOf(path))
  // A file system without creation times returns 0 or the time of the last change.
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

/** Does not compare the device number, which can change when the machine restarts. */
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

/** Identifies a file until the machine restarts. */
export type FileNumber = { dev: bigint; ino: bigint }

/** A checkpoint writes up to 64 MB (maxLogPages in writer-thread.ts). */
const checkpointTimeoutMs = 3_000

export type FileLoss = {
  reason: string
  remedy: string
  /** Only the log is gone. The database file is still the right one, and closing it copies the content of the log into it. */
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

  /** `database` is the file that was at `path` when the store was opened; `schemaNow` reads its schema version, log included. */
  constructor({ path, database, schemaNow }: { path: string; database: FileNumber; schemaNow: () => number }) {
    this.#schemaNow = schemaNow
    this.#path = path
    this.#log = logOf(path)
    this.#identityFile = identityFileOf(path)
    this.#database = database
  }

  /** Sets the stamps that the file without its log can have from now on. */
  expect(stamps: readonly number[]): void {
    this.#stamps = stamps
    this.#logFile ??= statusOf(this.#log)
  }

  /** Whether the file itself has the last stamp. Until then an earlier copy looks the same. */
  get isSettled(): boolean {
    return this.#stamps[0] === this.#stamps.at(-1)
  }

  /** Before each commit, under its write lock: another process may have recorded that the file has everything. Costs 2 us. */
  recordOpen(): void {
    if (statusOf(this.#identityFile)?.ctimeNs === this.#identityChangedAt) return
    const identity = readIdentity(this.#path)
    if (identity?.closed) writeIdentity(this.#path, { ...identity, closed: false })
    this.#identityChangedAt = statusOf(this.#identityFile)?.ctimeNs
  }

  /** Checks the file at the path; undefined if it is the right one. Costs 4 us. */
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

  /** Whether the content is this database. A checkpoint of any process changes the file, and so does a copy of another file over it. */
  #isContentKnown(status: fs.BigIntStats): boolean {
    if (status.mtimeNs === this.#seen?.mtimeNs && status.size === this.#seen.size) return true
    // Before the first write of this process any stamp is allowed.
    if (this.#stamps.length === 0) return true
    const header = headerOnDisk(this.#path)
    if (header === 'unreadable') return true
    if (header === 'no database') return false
    if (header.isShort && this.#isTruncated(status)) return false
    // The file without its log never has a later schema than with it.
    if (header.schema > this.#schemaNow()) return false
    if (!this.#isStampKnown(header.stamp)) return false
    this.#seen = status
    return true
  }

  // A checkpoint in progress makes the file shorter if another process vacuumed it just before: it is read again until that is done.
  #isTruncated({ size }: fs.BigIntStats): boolean {
    if (this.#seen === undefined || size >= this.#seen.size) return false
    for (let waitedMs = 0; waitedMs < checkpointTimeoutMs; waitedMs += 20) {
      const header = headerOnDisk(this.#path)
      if (typeof header !== 'object' || !header.isShort) return header === 'no database'
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
    }
    return true
  }

  /** Another process may change the stamp between the two reads of the file and the identity. Then both are read again. */
  #isStampKnown(stamp: number): boolean {
    if (this.#stamps.includes(stamp) || readIdentity(this.#path)?.stamps.includes(stamp)) return true
    const again = headerOnDisk(this.#path)
    return typeof again === 'object' && again.stamp !== stamp && this.#isStampKnown(again.stamp)
  }
}

function isSame(one: FileNumber | undefined, other: FileNumber): boolean {
  return one?.ino === other.ino && one.dev === other.dev
}

function lossOf(what: string): FileLoss {
  const reason = `${what} while this process had it open, and nothing more was written to it`
  return { reason, remedy: 'Put the right file there, or restore a backup, and start again.', isLogOnly: false }
}
