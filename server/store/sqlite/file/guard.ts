// Is the database at its path still the file that this process has open? Checked around every commit and once a second: a
// write into a file that was removed is lost, and one into a file that was put in its place destroys that one.
import type { BigIntStats } from 'node:fs'
import { disown, headerOnDisk, logOf, readIdentity, statusOf } from './identity.ts'

/** The number of a file, while the machine runs. */
export type FileNumber = { dev: bigint; ino: bigint }

/** A checkpoint writes some 16 MB. */
const checkpointTimeoutMs = 1_000

/** Why a process must not go on with its file. */
export type FileLoss = {
  /** What happened to which file. */
  reason: string
  /** What the operator can do. */
  remedy: string
  /** Only the log is gone: the database is this process's own, and a close takes what the log held into it. */
  isLogOnly: boolean
}

export class FileGuard {
  readonly #path: string
  readonly #log: string
  readonly #database: FileNumber
  readonly #schemaNow: () => number
  #logFile: BigIntStats | undefined
  #seen: BigIntStats | undefined
  #stamps: readonly number[] = []

  /** `database` is the file that was found at `path` when the store was opened; `schemaNow` is its schema, log included. */
  constructor({ path, database, schemaNow }: { path: string; database: FileNumber; schemaNow: () => number }) {
    this.#schemaNow = schemaNow
    this.#path = path
    this.#log = logOf(path)
    this.#database = database
  }

  /** The stamps that the file can have from here on, without its log. */
  expect(stamps: readonly number[]): void {
    this.#stamps = stamps
    this.#logFile ??= statusOf(this.#log)
  }

  /** Whether the file itself has the last stamp; until then a copy of before looks like it. */
  get isSettled(): boolean {
    return this.#stamps[0] === this.#stamps.at(-1)
  }

  /** What is wrong with the file at the path; undefined if nothing is. Costs 4 us. */
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

  /** A checkpoint, of this process or of another one, writes to the file; so does a copy of another file over it. */
  #isContentKnown(status: BigIntStats): boolean {
    if (status.mtimeNs === this.#seen?.mtimeNs && status.size === this.#seen.size) return true
    // Before the first write of this process the file has the stamp of anybody.
    if (this.#stamps.length === 0) return true
    const header = headerOnDisk(this.#path)
    if (header === 'unreadable') return true
    if (header === 'no database') return false
    if (header.isShort && this.#isTruncated(status)) return false
    // The file without its log is never ahead of it.
    if (header.schema > this.#schemaNow()) return false
    if (!this.#isStampKnown(header.stamp)) return false
    this.#seen = status
    return true
  }

  /**
   * A checkpoint that is not done yet makes no file shorter than it was. Only if another process vacuumed the database just
   * before: so the file is read again until that checkpoint is done.
   */
  #isTruncated({ size }: BigIntStats): boolean {
    if (this.#seen === undefined || size >= this.#seen.size) return false
    for (let waitedMs = 0; waitedMs < checkpointTimeoutMs; waitedMs += 20) {
      const header = headerOnDisk(this.#path)
      if (typeof header !== 'object' || !header.isShort) return header === 'no database'
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
    }
    return true
  }

  /** Another process may settle its stamp between the read of the file and that of the identity: then both are read again. */
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
