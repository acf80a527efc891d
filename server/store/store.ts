// `store.read(findUser, userId)` runs findUser of users/users.store.ts. The comment of an operation
// is a promise, which the contract (*.contract.ts) tests on both engines.
//
// Times are milliseconds since 1970 UTC. Absence is returned (`undefined`, 'absent'), never thrown.
// A write that resolves is on the disk. If the system fails, a call throws UNAVAILABLE, and nothing
// was stored unless the message says that the outcome is unknown.
import type { ChangeListener, ChangeSignal, RecordListener } from './events.ts'
import type { StoreNumbers } from './numbers.ts'
import type { Database } from './postgres/connection/connection.ts'
import type { alone } from './postgres/connection/gathering.ts'
import type { Reader } from './sqlite/reader.ts'
import type { Read, Write } from './statements.ts'

export interface Store {
  /** On SQLite several statements see one moment. */
  read<Input extends unknown[], Result>(
    operation: ReadOperation<Input, Result>,
    ...input: NoInfer<Input>
  ): Promise<Result>
  write<Input, Result>(
    operation: WriteOperation<Input, Result>,
    input: NoInfer<Input>,
  ): Promise<Result>
  /**
   * A restore, a move or a failover begins another history, because a version may then have other
   * changes. The signal 'anything' follows.
   */
  readonly history: string
  /** All processes share it; milliseconds since 1970. Without it, this machine's clock serves. */
  readonly clock?: () => number
  /**
   * This process claims rows with it; no other living process has it. Undefined while others may
   * take this process for dead.
   */
  readonly holder: () => number | undefined
  /** Called after commits of any process; with `about`, for these and 'anything'. */
  onChange(listener: ChangeListener, about?: readonly ChangeSignal['about'][]): () => void
  /** The write resolves after the listener. */
  onRecorded(listener: RecordListener): void
  /** Resolves with a reason to restart the process. */
  readonly failed: Promise<Error>
  check(): Promise<void>
  numbers(): StoreNumbers
  close(): Promise<void>
}

// One form for both engines, or one for each (decision 0074).
export type ReadOperation<Input extends unknown[], Result> =
  | ((...input: Input) => Read<Result>)
  | OwnReads<Input, Result>
export type WriteOperation<Input, Result> =
  | ((input: Input) => Write<Result>)
  | WriteForms<Input, Result>

type OwnReads<Input extends unknown[], Result> = {
  readonly name: string
  readonly sqlite: (reader: Reader, ...input: Input) => Promise<Result>
  readonly postgres: (db: Database, ...input: Input) => Promise<Result>
}
export type ReadForms<Input, Result> = OwnReads<[input: Input], Result>

export type WriteForms<Input, Result> = {
  readonly name: string
  /** Runs on SQLite and Citus, and on PostgreSQL if `postgres` returns `alone`. */
  readonly write: (input: Input) => Write<Result>
  /** One statement for simultaneous calls. Without it, PostgreSQL runs `write`. */
  readonly postgres?: (db: Database, input: Input) => Promise<Result | typeof alone>
  /** What it adds to a commit of SQLite, and whether it takes turns on PostgreSQL; 1 without it. */
  readonly weightOf?: (input: Input) => number
}

/** The writer thread gets the input with the name of its write. */
export type Writes = Readonly<Record<string, unknown>>

/** A bundle adds a number to the second of two equal names. */
export function nameOf(
  operation: ReadOperation<never, unknown> | WriteOperation<never, unknown>,
): string {
  return operation.name.replace(/\$\d+$/, '')
}
