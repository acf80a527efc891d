// The SQL of a statement: a template whose values are bound, never spliced. Nearly all text is the same on both engines; a Part is text that
// is not.
import { userKey as bytesOf } from '../sqlite/user-key.ts'

export type Value = string | number | null
/** `strings` is the same array each time that the statement runs. */
export type Template = { strings: TemplateStringsArray; values: readonly Given[] }
/** What stands between the strings of a template. At one place it is always a value, always the same part, or always a list. */
export type Given = Value | Part | List | UserKey
type Bound = Value | Uint8Array

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
export class UserKey {
  readonly postgres: string
  #bytes: Uint8Array | undefined

  constructor(userId: string) {
    this.postgres = userId
  }

  get sqlite(): Uint8Array {
    this.#bytes ??= bytesOf(this.postgres)
    return this.#bytes
  }
}

export function userKey(userId: string): UserKey {
  return new UserKey(userId)
}

/** In a statement with `rowsOf`: the key of the user whose id is the field `userId`. */
export const givenUser = new Part("unhex(replace(given.value ->> 'userId', '-', ''))", "(given.value ->> 'userId')")

type ListUse = 'in' | 'users' | 'rows'

/** A list in one value. */
export class List {
  readonly items: readonly unknown[]
  readonly use: ListUse

  constructor(items: readonly unknown[], use: ListUse) {
    this.items = items
    this.use = use
  }
}

/** After a column: whether it is one of the values. */
export function inList(values: readonly string[]): List {
  return new List(values, 'in')
}

/** After the column of a `UserKey`: whether it is that of one of the users. */
export function inUsers(userIds: readonly string[]): List {
  return new List(userIds, 'users')
}

/** After `from`: a row for each object, whose fields are `given.value ->> 'name'`. */
export function rowsOf(objects: readonly object[]): List {
  return new List(objects, 'rows')
}

type Engine = 'sqlite' | 'postgres'

const inArray = (placeholder: string) =>
  `= any (array(select jsonb_array_elements_text(cast(${placeholder} as jsonb))))`
const lists: Record<Engine, Record<ListUse, (placeholder: string) => string>> = {
  sqlite: {
    in: (placeholder) => `in (select value from json_each(${placeholder}))`,
    users: (placeholder) => `in (select unhex(replace(value, '-', '')) from json_each(${placeholder}))`,
    rows: (placeholder) => `json_each(${placeholder}) as given`,
  },
  postgres: {
    in: inArray,
    users: inArray,
    rows: (placeholder) => `jsonb_array_elements(cast(${placeholder} as jsonb)) as given (value)`,
  },
}

/** The values of a template that are bound, in the order of their placeholders. */
export function boundValues({ values }: Template, engine: 'sqlite'): Bound[]
export function boundValues({ values }: Template, engine: 'postgres'): Value[]
export function boundValues({ values }: Template, engine: Engine): Bound[] {
  const bound: Bound[] = []
  for (const value of values)
    if (typeof value !== 'object' || value === null) bound.push(value)
    else if (value instanceof UserKey) bound.push(value[engine])
    else if (value instanceof List) bound.push(JSON.stringify(value.items))
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
      text += value instanceof List ? lists[engine][value.use](placeholder) : placeholder
    }
    text += strings[index + 1]
  }
  return text
}
