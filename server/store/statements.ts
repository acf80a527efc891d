// Each operation is written once for both engines (decision 0074): a generator yields statements
// and gets their rows. A write can run again, so it changes nothing else. Others wait for its
// locks, so it yields only statements. Values are bound, never spliced. A Part is text that differs
// by engine.
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

/** Another write has changed what this one read, so it runs again. */
export class RunAgain extends Error {}

/** Fields have the names of the columns; quote one with capitals. */
export function* get<Row>(
  strings: TemplateStringsArray,
  ...values: Given[]
): Read<Row | undefined> {
  return (yield { kind: 'get', strings, values }) as Row | undefined
}

export function* exists(strings: TemplateStringsArray, ...values: Given[]): Read<boolean> {
  return (yield { kind: 'get', strings, values }) !== undefined
}

export function* all<Row>(strings: TemplateStringsArray, ...values: Given[]): Read<Row[]> {
  return (yield { kind: 'all', strings, values }) as Row[]
}

/** An operation that reads before it writes locks a row first: calls take turns. */
export function* lockAll<Row>(strings: TemplateStringsArray, ...values: Given[]): Write<Row[]> {
  return (yield { kind: 'all', locks: true, strings, values }) as Row[]
}

export function* lock<Row>(
  strings: TemplateStringsArray,
  ...values: Given[]
): Write<Row | undefined> {
  return (yield { kind: 'get', locks: true, strings, values }) as Row | undefined
}

export function* run(strings: TemplateStringsArray, ...values: Given[]): Write<number> {
  return (yield { kind: 'run', strings, values }) as number
}

/** As `run`, but on PostgreSQL the write does not wait for it. */
export function* send(strings: TemplateStringsArray, ...values: Given[]): Write<void> {
  yield { kind: 'send', strings, values }
}

/** SQLite has one writer, and skips it. */
export function* onPostgres<Row>(
  strings: TemplateStringsArray,
  ...values: Given[]
): Write<Row | undefined> {
  return (yield { kind: 'get', only: 'postgres', strings, values }) as Row | undefined
}

export function* sendOnPostgres(strings: TemplateStringsArray, ...values: Given[]): Write<void> {
  yield { kind: 'send', only: 'postgres', strings, values }
}

export function* onCitus(strings: TemplateStringsArray, ...values: Given[]): Write<void> {
  yield { kind: 'send', only: 'citus', strings, values }
}

export function* signal(change: ChangeSignal): Write<void> {
  yield { kind: 'signal', signal: change }
}

export type Value = string | number | null
/** `strings` is the same array in each run. */
export type Template = { strings: TemplateStringsArray; values: readonly Given[] }
/** One place always has a value, always the same part, or always a list. */
export type Given = Value | Part | List | IdKey
export type Bound = Value | Uint8Array

export class Part {
  readonly sqlite: string
  readonly postgres: string

  constructor(sqlite: string, postgres = sqlite) {
    this.sqlite = sqlite
    this.postgres = postgres
  }
}

/** A UUID: 16 bytes on SQLite (decision 0054), text on PostgreSQL. */
export type IdKey = { readonly id: string; readonly bytes: Uint8Array }

export function idKey(id: string): IdKey {
  return { id, bytes: idBytes(id) }
}

export function idBytes(id: string): Uint8Array {
  return Buffer.from(digitsOf(id), 'hex')
}

/** Both engines can compute it. */
export function digitsOf(id: string): string {
  return id.replaceAll('-', '')
}

export function idOfDigits(digits: string): string {
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

type ListUse = 'in' | 'numbers' | 'ids' | 'rows' | 'values'

type List = { readonly items: readonly unknown[]; readonly use: ListUse }

export function inList(values: readonly string[]): List {
  return { items: values, use: 'in' }
}

export function inNumbers(values: readonly number[]): List {
  return { items: values, use: 'numbers' }
}

export function inIds(ids: readonly string[]): List {
  return { items: ids, use: 'ids' }
}

/** Stands after `from`; the fields are `given.value ->> 'name'`. */
export function rowsOf(objects: readonly object[]): List {
  return { items: objects, use: 'rows' }
}

/** Stands after `from`; the text is `given.value`. */
export function valuesOf(texts: readonly string[]): List {
  return { items: texts, use: 'values' }
}

type Engine = 'sqlite' | 'postgres'

const inArray = (type: string) =>
  `= any (array(select cast(jsonb_array_elements_text(cast(? as jsonb)) as ${type})))`
const lists: Record<ListUse, Record<Engine, string>> = {
  in: { sqlite: 'in (select value from json_each(?))', postgres: inArray('text') },
  numbers: { sqlite: 'in (select value from json_each(?))', postgres: inArray('bigint') },
  ids: { sqlite: "in (select unhex(value, '-') from json_each(?))", postgres: inArray('text') },
  values: {
    sqlite: 'json_each(?) as given',
    postgres: 'jsonb_array_elements_text(cast(? as jsonb)) as given (value)',
  },
  rows: {
    sqlite: 'json_each(?) as given',
    postgres: 'jsonb_array_elements(cast(? as jsonb)) as given (value)',
  },
}

export function boundValues({ values }: Template, engine: Engine): Bound[] {
  const bound: Bound[] = []
  for (const value of values)
    if (typeof value !== 'object' || value === null) bound.push(value)
    else if ('bytes' in value) bound.push(engine === 'sqlite' ? value.bytes : value.id)
    else if ('items' in value) bound.push(JSON.stringify(value.items))
  return bound
}

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
