// How the rows of a transfer lie in SQLite. The tables of inboxes have the number of a user in place of the id, a notification has its
// content in columns (sqlite/content.ts), and an inbox lies beside its categories in one table. A transfer reads and writes the rows as
// they are on PostgreSQL.
import { CarillonError } from '../../../errors.ts'
import { contentSql, toColumnsIfContent } from '../../sqlite/content.ts'
import type { Database, Statement } from '../../sqlite/database.ts'
import { columnsOf, type Row, type Table, tables, type Value } from './tables.ts'

/** Where the rows of a table are that begin with a user. `extra`: columns of SQLite's, which `stored` puts behind the others. */
type Home = {
  table: string
  rows?: string
  extra?: readonly string[]
  columns?: Readonly<Record<string, string>>
  stored?: (values: Row) => Row
}
const contentAt = 3
const categoryAt = 4

const homes: Readonly<Record<string, Home>> = {
  inbox: { table: 'inbox', rows: "r.category = ''", extra: ['category'], stored: (values) => [...values, ''] },
  inbox_category: { table: 'inbox', rows: "r.category <> ''" },
  notification: {
    table: 'notification',
    extra: ['data', 'created_at'],
    columns: { content: contentSql('r') },
    stored: withContentInColumns,
  },
  read_mark: { table: 'read_mark' },
  category_read_mark: { table: 'category_read_mark' },
}

export const tablesIn = [...new Set(tables.map(({ name }) => homes[name]?.table ?? name))]

export class SqliteRows {
  readonly #database: Database
  readonly #statements = new Map<string, Statement>()
  /** Rows come in the order of users. */
  #last: { id: string; number: number } | undefined

  constructor(database: Database) {
    this.#database = database
  }

  count(table: Table): number {
    const { table: name, rows = 'true' } = homes[table.name] ?? { table: table.name }
    const [count] = this.#prepared(`select count(*) from "${name}" r where ${rows}`).get() as unknown as Row
    return Number(count)
  }

  /** At most `limit` rows behind a key, in the order of the key. */
  after(after: Row | null, table: Table, limit: number): Row[] {
    const home = homes[table.name]
    if (home === undefined) return this.#plain(after, table, limit)
    const of = (condition: string, values: Row, most: number) =>
      this.#prepared(this.#selection(table, home, condition)).all(...values, most) as unknown as Row[]
    if (after === null) return of('true', [], limit)
    const [user = null, ...others] = after
    // In two steps, because SQLite would read the inbox of that user from its beginning for each batch.
    const same = table.key === 1 ? [] : of(`u.id = ? and (${restOf(table)}) > (${others.map(() => '?')})`, after, limit)
    return same.length === limit ? same : [...same, ...of('u.id > ?', [user], limit - same.length)]
  }

  insert(table: Table, rows: readonly Row[]): void {
    const home = homes[table.name]
    const columns = columnsOf(table)
    if (home === undefined) {
      const statement = this.#insertion(table.name, columns)
      for (const row of rows) statement.run(...row)
      return
    }
    const { extra = [], stored = (values) => values } = home
    const others = [...columns.slice(1), ...extra]
    const statement = this.#insertion(home.table, ['user_number', ...others])
    for (const [user, ...values] of rows) statement.run(this.#numberOf(String(user), table), ...stored(values))
  }

  #plain(after: Row | null, table: Table, limit: number): Row[] {
    const key = columnsOf(table).slice(0, table.key).join(', ')
    const behind = after === null ? '' : `where (${key}) > (${after.map(() => '?').join(', ')})`
    const columns = columnsOf(table).join(', ')
    const text = `select ${columns} from "${table.name}" ${behind} order by ${key} limit ?`
    return this.#prepared(text).all(...(after ?? []), limit) as unknown as Row[]
  }

  /** The users in the order of their ids, which an index has; `cross join` keeps SQLite from beginning with the rows. */
  #selection(table: Table, { table: name, rows = 'true', columns = {} }: Home, condition: string): string {
    const [, ...others] = columnsOf(table)
    const found = others.map((column) => columns[column] ?? `r.${column}`).join(', ')
    const order = table.key === 1 ? 'u.id' : `u.id, ${restOf(table)}`
    return `select u.id, ${found} from user u cross join "${name}" r on r.user_number = u.number
      where ${rows} and ${condition} order by ${order} limit ?`
  }

  #numberOf(id: string, { name }: Table): number {
    if (this.#last?.id === id) return this.#last.number
    const found = this.#prepared('select number from user where id = ?').get(id) as unknown as Row | undefined
    if (found === undefined)
      throw new CarillonError('UNPROCESSABLE', `A row of ${name} belongs to the user ${id}, and there is none`)
    this.#last = { id, number: Number(found[0]) }
    return this.#last.number
  }

  #insertion(table: string, columns: readonly string[]): Statement {
    const values = columns.map(() => '?').join(', ')
    return this.#prepared(`insert into "${table}" (${columns.join(', ')}) values (${values})`)
  }

  #prepared(sql: string): Statement {
    const statement = this.#statements.get(sql) ?? this.#database.prepare(sql)
    statement.setReturnArrays(true)
    this.#statements.set(sql, statement)
    return statement
  }
}

/** The columns of the key after the user. */
function restOf(table: Table): string {
  const columns = columnsOf(table).slice(1, table.key)
  return columns.map((column) => `r.${column}`).join(', ')
}

/** Of a notification without its user. Throws UNPROCESSABLE if its content does not begin with `title` and end with `createdAt`. */
function withContentInColumns(values: Row): Row {
  const [content, category] = [String(values[contentAt]), values[categoryAt] as string | null]
  const columns = toColumnsIfContent({ content, category })
  if (columns === undefined)
    throw new CarillonError(
      'UNPROCESSABLE',
      `The content of the notification ${values[1]} does not begin with title and end with createdAt`,
    )
  return [...values.with(contentAt, columns.content as Value), columns.data, columns.createdAt]
}
