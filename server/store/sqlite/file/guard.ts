// Is the file at the database's path still the file that this process has open? It is checked around every commit and once a
// second: a write to a file that was removed is lost, and a write to a file that replaced it destroys that file.
import type { BigIntStats } from 'node:fs'
import { disown, headerOnDisk, logOf, readIdentity, statusOf } from './identity.ts'

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
  #logFile: BigIntStats | undefined
  #seen: BigIntStats | undefined
  #stamps: readonly number[] = []

  /** `database` is the file that was at `path` when the store was opened; `schemaNow` reads its schema version, log included. */
  constructor({ path, database, schemaNow }: { path: string; database: FileNumber; schemaNow: () => number }) {
    this.#schemaNow = schemaNow
    this.#path = path
    this.#log = logOf(path)
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
  #isContentKnown(status: BigIntStats): boolean {
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

  // A checkpoint in progress makes the file shorter only if another process vacuumed the database just before. So the
  // file is read again until that checkpoint has completed.
  #isTruncated({ size }: BigIntStats): boolean {
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
