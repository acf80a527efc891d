// What the main thread and the writer thread send to each other.
import type { AuditEntry, ChangeSignal } from '../events.ts'
import type { FileLoss } from './file/identity.ts'

/** The name of a write that changes nothing, to try a commit. */
export const changeNothing = 'changeNothing'

export type WriteRequest = readonly [name: string, input: unknown]
/**
 * The result of one write, with the audit entries that it recorded, if there are any. A failure carries SQLite's result code, if it has one,
 * and whether the commit itself failed.
 */
export type WriteReply =
  | { ok: true; value: unknown; recorded?: readonly AuditEntry[] }
  | { ok: false; message: string; sqliteCode: number | undefined; isOfCommit: boolean }
export type WriterMessage = {
  replies: WriteReply[]
  signals: ChangeSignal[]
  /** Set if the file at the path is not the one that this thread has open. Then nothing more is written. */
  loss?: FileLoss | undefined
}
