// What an operation of the store is made of, if it is written once for both engines (decision 0074): a generator that yields statements
// and is resumed with what each of them found. A write runs in one transaction. It can run again from its beginning, so it changes
// nothing outside the database. It yields nothing but statements, because others wait for its locks.
//
// sqlite/reader.ts, sqlite/run-write.ts and postgres/connection/transaction.ts run them.
import type { AuditEntry, ChangeSignal } from '../events.ts'
import { type Given, rowsOf, type Template } from './templates.ts'

type Sql<Kind extends string> = { kind: Kind } & Template
export type Query = Sql<'get' | 'all'>
export type Statement =
  | Query
  | Sql<'lock' | 'lockAll' | 'run' | 'send' | 'postgres' | 'sendOnPostgres' | 'citus'>
  | { kind: 'record'; entries: readonly AuditEntry[] }
  | { kind: 'signal'; signal: ChangeSignal }

export type Read<Result> = Generator<Query, Result, unknown>
export type Write<Result> = Generator<Statement, Result, unknown>

/** What a write throws if another one has changed what it read: it is rolled back, and runs again from its beginning. */
export class RunAgain extends Error {}

/** The first row, or undefined without one. The names of its fields are those of the columns; quote a name with capitals. */
export function* get<Row>(strings: TemplateStringsArray, ...values: Given[]): Read<Row | undefined> {
  return (yield { kind: 'get', strings, values }) as Row | undefined
}

export function* all<Row>(strings: TemplateStringsArray, ...values: Given[]): Read<Row[]> {
  return (yield { kind: 'all', strings, values }) as Row[]
}

/**
 * As `all`. The rows stay locked until the end of the transaction. An operation that reads before it writes locks a row first, so that
 * calls at the same time take turns.
 */
export function* lockAll<Row>(strings: TemplateStringsArray, ...values: Given[]): Write<Row[]> {
  return (yield { kind: 'lockAll', strings, values }) as Row[]
}

/** As `lockAll`: the first row. */
export function* lock<Row>(strings: TemplateStringsArray, ...values: Given[]): Write<Row | undefined> {
  return (yield { kind: 'lock', strings, values }) as Row | undefined
}

/** Returns how many rows it changed. */
export function* run(strings: TemplateStringsArray, ...values: Given[]): Write<number> {
  return (yield { kind: 'run', strings, values }) as number
}

/** Does what `run` does if it does not matter how many rows change: on PostgreSQL the write does not wait for it. */
export function* send(strings: TemplateStringsArray, ...values: Given[]): Write<void> {
  yield { kind: 'send', strings, values }
}

/** A statement for an engine with several writers. Undefined on SQLite, which skips it. */
export function* onPostgres<Row>(strings: TemplateStringsArray, ...values: Given[]): Write<Row | undefined> {
  return (yield { kind: 'postgres', strings, values }) as Row | undefined
}

/** A statement for an engine with several writers, which the write does not wait for. */
export function* sendOnPostgres(strings: TemplateStringsArray, ...values: Given[]): Write<void> {
  yield { kind: 'sendOnPostgres', strings, values }
}

/** A statement that only Citus needs. */
export function* onCitus(strings: TemplateStringsArray, ...values: Given[]): Write<void> {
  yield { kind: 'citus', strings, values }
}

/** Adds entries to the audit log. After the commit the store passes them to the listeners of `onRecorded`. */
export function* record(entries: readonly AuditEntry[] = []): Write<void> {
  if (entries.length === 0) return
  yield* addToAuditLog(entries)
  // Commands have no log of their own: the services write their lines.
  if (entries.some(({ actor }) => actor === 'operator')) yield* signal({ about: 'audit' })
  yield { kind: 'record', entries }
}

/** As `record`, for entries that no listener needs. An entry about a user who is erased by then names none (U2). */
export function* addToAuditLog(entries: readonly AuditEntry[]): Write<void> {
  const rows = entries.map(({ detail, ...entry }) => ({ ...entry, detail: detail && JSON.stringify(detail) }))
  yield* send`
    insert into audit (user_id, id, at, event, actor, address, user_agent, request_id, sign_in_id, name_hash, detail, count)
    select coalesce((select id from "user" where id = given.value ->> 'userId'), ''), given.value ->> 'id',
      cast(given.value ->> 'at' as bigint), given.value ->> 'event', given.value ->> 'actor', given.value ->> 'address',
      given.value ->> 'userAgent', given.value ->> 'requestId', given.value ->> 'signInId', given.value ->> 'nameHash',
      given.value ->> 'detail', cast(given.value ->> 'count' as bigint)
    from ${rowsOf(rows)}`
}

/** Sends a change signal after the commit. */
export function* signal(change: ChangeSignal): Write<void> {
  yield { kind: 'signal', signal: change }
}
