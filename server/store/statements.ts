// What an operation of the store is made of, if it is written once for both engines (decision 0074): a generator that yields statements
// and is resumed with what each of them found. A write runs in one transaction. It can run again from its beginning, so it changes
// nothing outside the database. It yields nothing but statements, because others wait for its locks.
//
// The SQL of a statement is a template whose values are bound, never spliced. Nearly all text is the same on both engines; a Part is text
// that is not. sqlite/reader.ts, sqlite/writer-thread.ts and postgres/connection/transaction.ts run them.
import type { AuditEntry, ChangeSignal } from './events.ts'

export type Query = { kind: 'get' | 'all' } & Template
/** `locks`: its rows stay locked. `only`: other engines skip it. */
export type SqlStatement = {
  kind: 'get' | 'all' | 'run' | 'send'
  locks?: true
  only?: 'postgres' | 'citus'
} & Template
export type Statement =
  | SqlStatement
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

/** Whether there is a row. */
export function* exists(strings: TemplateStringsArray, ...values: Given[]): Read<boolean> {
  return (yield { kind: 'get', strings, values }) !== undefined
}

export function* all<Row>(strings: TemplateStringsArray, ...values: Given[]): Read<Row[]> {
  return (yield { kind: 'all', strings, values }) as Row[]
}

/** As `all`, and locks the rows until the end. An operation that reads before it writes locks a row first, so that calls take turns. */
export function* lockAll<Row>(strings: TemplateStringsArray, ...values: Given[]): Write<Row[]> {
  return (yield { kind: 'all', locks: true, strings, values }) as Row[]
}

/** As `lockAll`: the first row. */
export function* lock<Row>(strings: TemplateStringsArray, ...values: Given[]): Write<Row | undefined> {
  return (yield { kind: 'get', locks: true, strings, values }) as Row | undefined
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
  return (yield { kind: 'get', only: 'postgres', strings, values }) as Row | undefined
}

/** A statement for an engine with several writers, which the write does not wait for. */
export function* sendOnPostgres(strings: TemplateStringsArray, ...values: Given[]): Write<void> {
  yield { kind: 'send', only: 'postgres', strings, values }
}

/** A statement that only Citus needs. */
export function* onCitus(strings: TemplateStringsArray, ...values: Given[]): Write<void> {
  yield { kind: 'send', only: 'citus', strings, values }
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

/** Locks the row of a user until the end of the transaction. False without such a user. */
export function* lockUser(userId: string): Write<boolean> {
  yield* lockUsers()
  return (yield* lock`select 1 from "user" where id = ${userId}`) !== undefined
}

/** On Citus a row lock locks the whole table of users, and two callers that upgrade it would deadlock: changes of all users take turns. */
export function* lockUsers(): Write<void> {
  yield* onCitus`select pg_advisory_xact_lock(hashtext('carillon users'))`
}

/** Citus locks inboxes in no fixed order: writes to several take turns, with one connection to each node, since each joins the commit. */
export function* lockDeliveries(): Write<void> {
  yield* onCitus`
    select pg_advisory_xact_lock(hashtext('carillon deliveries')),
      set_config('citus.max_adaptive_executor_pool_size', '1', true)`
}

export type Value = string | number | null
/** `strings` is the same array each time that the statement runs. */
export type Template = { strings: TemplateStringsArray; values: readonly Given[] }
/** A value or a part between two strings of a template. At one place it is always a value, always the same part, or always a list. */
export type Given = Value | Part | List | UserKey
export type Bound = Value | Uint8Array

/** Text of a statement, such as the columns that several statements select. */
export class Part {
  readonly sqlite: string
  readonly postgres: string

  constructor(sqlite: string, postgres = sqlite) {
    this.sqlite = sqlite
    this.postgres = postgres
  }
}

/** The user in the tables of inboxes: 16 bytes on SQLite (decision 0054), the id on PostgreSQL. */
export type UserKey = { readonly userId: string; readonly bytes: Uint8Array }

export function userKey(userId: string): UserKey {
  return { userId, bytes: userBytes(userId) }
}

/** The `user_id` in the tables of inboxes on SQLite: the 16 bytes of the UUID (schema/0001-schema.sql). */
export function userBytes(userId: string): Uint8Array {
  return Buffer.from(digitsOf(userId), 'hex')
}

/** The user of a row, by the digits that both engines store. */
export const userDigits = new Part('lower(hex(user_id))', "replace(user_id, '-', '')")

export function digitsOf(userId: string): string {
  return userId.replaceAll('-', '')
}

export function userIdOfDigits(digits: string): string {
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** In a statement with `rowsOf`: the key of the user whose id is the field `userId`. */
export const givenUser = new Part("unhex(given.value ->> 'userId', '-')", "(given.value ->> 'userId')")

type ListUse = 'in' | 'numbers' | 'users' | 'rows' | 'values'

/** A list in one value. */
type List = { readonly items: readonly unknown[]; readonly use: ListUse }

/** After a column: whether it is one of the values. */
export function inList(values: readonly string[]): List {
  return { items: values, use: 'in' }
}

/** After a column of numbers. */
export function inNumbers(values: readonly number[]): List {
  return { items: values, use: 'numbers' }
}

/** After the column of a `UserKey`: whether it is that of one of the users. */
export function inUsers(userIds: readonly string[]): List {
  return { items: userIds, use: 'users' }
}

/** After `from`: a row for each object, whose fields are `given.value ->> 'name'`. */
export function rowsOf(objects: readonly object[]): List {
  return { items: objects, use: 'rows' }
}

/** After `from`: a row for each text, which is `given.value`. */
export function valuesOf(texts: readonly string[]): List {
  return { items: texts, use: 'values' }
}

type Engine = 'sqlite' | 'postgres'

const inArray = (type: string) => `= any (array(select cast(jsonb_array_elements_text(cast(? as jsonb)) as ${type})))`
/** The text of a list; its value is at the question mark. */
const lists: Record<ListUse, Record<Engine, string>> = {
  in: { sqlite: 'in (select value from json_each(?))', postgres: inArray('text') },
  numbers: { sqlite: 'in (select value from json_each(?))', postgres: inArray('bigint') },
  users: { sqlite: "in (select unhex(value, '-') from json_each(?))", postgres: inArray('text') },
  values: { sqlite: 'json_each(?) as given', postgres: 'jsonb_array_elements_text(cast(? as jsonb)) as given (value)' },
  rows: { sqlite: 'json_each(?) as given', postgres: 'jsonb_array_elements(cast(? as jsonb)) as given (value)' },
}

/** The values of a template that are bound, in the order of their placeholders. */
export function boundValues({ values }: Template, engine: Engine): Bound[] {
  const bound: Bound[] = []
  for (const value of values)
    if (typeof value !== 'object' || value === null) bound.push(value)
    else if ('userId' in value) bound.push(engine === 'sqlite' ? value.bytes : value.userId)
    else if ('items' in value) bound.push(JSON.stringify(value.items))
  return bound
}

/** What an engine makes of each template, such as a prepared statement: once. */
export class Texts<Made> {
  readonly #known = new WeakMap<TemplateStringsArray, Made>()
  readonly #engine: Engine
  readonly #make: (text: string) => Made

  constructor(engine: Engine, make: (text: string) => Made) {
    this.#engine = engine
    this.#make = make
  }

  of(template: Template): Made {
    const known = this.#known.get(template.strings)
    if (known !== undefined) return known
    const made = this.#make(textOf(template, this.#engine))
    this.#known.set(template.strings, made)
    return made
  }
}

function textOf({ strings, values }: Template, engine: Engine): string {
  let [text = ''] = strings
  let placeholders = 0
  for (const [index, value] of values.entries()) {
    if (value instanceof Part) text += value[engine]
    else {
      const placeholder = engine === 'postgres' ? `$${++placeholders}` : '?'
      const isList = typeof value === 'object' && value !== null && 'items' in value
      text += isList ? lists[value.use][engine].replace('?', () => placeholder) : placeholder
    }
    text += strings[index + 1]
  }
  return text
}
