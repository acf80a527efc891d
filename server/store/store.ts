// What Carillon stores, as the rest of the program sees it. The operations are in the rooms: `store.read(findUser, userId)` runs the
// exported function findUser of users/users.store.ts. The comment of an operation is a promise, and the contract (contract/ and the files
// *.contract.ts of the rooms) tests both engines against it in the same words.
//
// For every operation: times are milliseconds since 1970 UTC. Absence is returned (`undefined`, 'absent'), never thrown.
// When a write resolves, it is on the disk. If the system fails (disk full, database server unreachable), the call throws
// CarillonError UNAVAILABLE, and nothing of the call was stored unless the message says that the outcome is unknown.
import type { ChangeListener, ChangeSignal, RecordListener } from './events.ts'
import type { Database } from './postgres/connection/connection.ts'
import type { alone } from './postgres/connection/gathering.ts'
import type { Reader } from './sqlite/reader.ts'
import type { Read, Write } from './statements.ts'

export interface Store {
  /** A read of several statements sees one moment of a SQLite database; on PostgreSQL each statement sees its own. */
  read<Input extends unknown[], Result>(
    operation: ReadOperation<Input, Result>,
    ...input: NoInfer<Input>
  ): Promise<Result>
  /** Writes in one transaction. */
  write<Input, Result>(operation: WriteOperation<Input, Result>, input: NoInfer<Input>): Promise<Result>
  /**
   * Names this history of changes. It differs after a restore, a move or a failover, because another change may then reach
   * the same version. It may change while the store is open; the change signal 'anything' follows.
   */
  readonly history: string
  /** The shared clock of all processes, in milliseconds since 1970. An engine without one uses this machine's clock. */
  readonly clock?: () => number
  /** Calls `listener` after every commit of any process that it may need to read; with `about`, at signals about one of these or anything. */
  onChange(listener: ChangeListener, about?: readonly ChangeSignal['about'][]): () => void
  /** Calls `listener` with the audit entries that a write of this store recorded, after the commit. The write resolves after the listener. */
  onRecorded(listener: RecordListener): void
  /** Resolves with the reason when the store cannot work any more and the process has to be restarted. */
  readonly failed: Promise<Error>
  /** Throws UNAVAILABLE if the store cannot read or write now. */
  check(): Promise<void>
  /** Completes the writes in progress and closes the store. */
  close(): Promise<void>
}

// An operation is a function that is written once for both engines, or has a form for each: the few most frequent ones (decision 0074).
export type ReadOperation<Input extends unknown[], Result> =
  | ((...input: Input) => Read<Result>)
  | OwnReads<Input, Result>
export type WriteOperation<Input, Result> = ((input: Input) => Write<Result>) | WriteForms<Input, Result>

type OwnReads<Input extends unknown[], Result> = {
  readonly name: string
  readonly sqlite: (reader: Reader, ...input: Input) => Promise<Result>
  readonly postgres: (db: Database, ...input: Input) => Promise<Result>
}
export type ReadForms<Input, Result> = OwnReads<[input: Input], Result>

export type WriteForms<Input, Result> = {
  readonly name: string
  /** Runs on SQLite and on Citus always, and on other PostgreSQL if the form `postgres` returns `alone`. */
  readonly write: (input: Input) => Write<Result>
  /** One statement for this call and those at the same time. */
  readonly postgres: (db: Database, input: Input) => Promise<Result | typeof alone>
  /** How much it adds to a commit of SQLite; 1 without it. */
  readonly weightOf?: (input: Input) => number
}

/** Every write by its name, beside what else its file exports: an input goes to the writer thread with the name of its write. */
export type Writes = Readonly<Record<string, unknown>>

/** The name of an operation, for traces and error messages. A bundle adds a number to the name of a function if another one has the same name. */
export function nameOf(operation: ReadOperation<never, unknown> | WriteOperation<never, unknown>): string {
  return operation.name.replace(/\$\d+$/, '')
}
