// What `store.read` and `store.write` take: the function of an operation that is written once for both engines, or the forms of one of the
// few that the engines run in ways of their own, because they are the most frequent (decision 0074).
import type { Database } from './postgres/connection/connection.ts'
import type { alone } from './postgres/connection/gathering.ts'
import type { Reader } from './sqlite/reader.ts'
import type { Read, Write } from './statements.ts'

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
