// Reads and changes the database of a running service on a separate connection, as an attacker with
// a copy or an auditor would, with one interface for both engines (TEST_ENGINE).
import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openPool } from '../../../server/store/postgres/connection/pool.ts'
import { Database } from '../../../server/store/sqlite/database.ts'

export const engines = ['sqlite', 'postgres'] as const
export type Engine = (typeof engines)[number]

export const engine: Engine = named(process.env.TEST_ENGINE ?? 'sqlite')

type Row = Record<string, unknown>

export type DatabaseBehind = {
  /** Rows are ordered by key. What the service writes by itself is left out. */
  tables(): Promise<Record<string, Row[]>>
  /** Both engines must accept the SQL: the table "user" needs quotes. */
  rows(sql: string): Promise<Row[]>
  /** A change of any of these rows changes it; on PostgreSQL an update to the same values, too. */
  version(): Promise<unknown>
  /** Each file has its name; on PostgreSQL each table too. */
  bytes(): Promise<Record<string, Buffer>>
  change(sql: string): Promise<void>
  /** No writer gets through until the returned function is called. */
  holdWrites(): Promise<() => Promise<void>>
  /**
   * Each insert into the table (of that user, if given) fails until the returned function is
   * called.
   */
  failInserts(
    table: string,
    failure: { userId?: string; message: string },
  ): Promise<() => Promise<void>>
  isOf(userId: string): string
  close(): Promise<void>
}

export class SqliteBehind implements DatabaseBehind {
  readonly #dir: string
  #opened: Database | undefined

  constructor(dir: string) {
    this.#dir = dir
  }

  async tables(): Promise<Record<string, Row[]>> {
    const names = await this.rows(
      `select name from sqlite_schema where type = 'table' and name not in (${writtenByItself}) order by name`,
    )
    return contents(names, (sql) => this.rows(sql))
  }

  async rows(sql: string): Promise<Row[]> {
    return this.#reader
      .prepare(sql)
      .all()
      .map((row) => ({ ...row }))
  }

  async titles(): Promise<string[]> {
    const rows = await this.rows('select title from notification')
    return rows.map(({ title }) => JSON.parse(`"${title}"`))
  }

  async version(): Promise<unknown> {
    return hash('sha256', JSON.stringify(await this.tables(), textOfBytes))
  }

  async bytes(): Promise<Record<string, Buffer>> {
    return filesIn(this.#dir)
  }

  async change(sql: string): Promise<void> {
    const writer = this.#writer()
    writer.exec(sql)
    writer.close()
  }

  async holdWrites(): Promise<() => Promise<void>> {
    const writer = this.#writer()
    writer.exec('begin immediate')
    return async () => writer.close()
  }

  async failInserts(table: string, { userId, message }: { userId?: string; message: string }) {
    const condition = userId === undefined ? '' : `when new.${this.isOf(userId)}`
    await this.change(
      `create trigger failing before insert on "${table}" ${condition} begin select raise(abort, '${message}'); end`,
    )
    return () => this.change('drop trigger failing')
  }

  isOf(userId: string): string {
    return `user_id = x'${userId.replaceAll('-', '')}'`
  }

  async close(): Promise<void> {
    this.#opened?.close()
    this.#opened = undefined
  }

  get #reader(): Database {
    this.#opened ??= new Database(join(this.#dir, 'carillon.db'), { readOnly: true })
    return this.#opened
  }

  #writer(): Database {
    return new Database(join(this.#dir, 'carillon.db'), { timeout: 5_000 })
  }
}

export class PostgresBehind implements DatabaseBehind {
  readonly #dir: string
  readonly #pool: ReturnType<typeof openPool>

  constructor(url: string, dir: string) {
    this.#dir = dir
    this.#pool = openPool(url)
  }

  async tables(): Promise<Record<string, Row[]>> {
    return contents(await this.#names(writtenByItself), (sql) => this.rows(sql))
  }

  async rows(sql: string): Promise<Row[]> {
    return (await this.#pool.query<Row>(sql)).rows
  }

  /**
   * Sums the content and the writing transaction of every row, so that an update without a change
   * counts too.
   */
  async version(): Promise<unknown> {
    const sums = (await this.#names(writtenByItself)).map(
      ({ name }) =>
        `select sum(hashtextextended(t.xmin::text || t::text, 0))::text as sum from "${name}" t`,
    )
    return (await this.rows(sums.join(' union all '))).map(({ sum }) => sum).join()
  }

  async bytes(): Promise<Record<string, Buffer>> {
    const all = await contents(await this.#names(), (sql) => this.rows(sql))
    const texts = Object.entries(all).map(([name, rows]) => {
      const lines = rows.map((row) => Object.values(row).join('\t'))
      return [name, Buffer.from(lines.join('\n'))] as const
    })
    return { ...Object.fromEntries(texts), ...filesIn(this.#dir) }
  }

  async change(sql: string): Promise<void> {
    await this.#pool.query(sql)
  }

  async holdWrites(): Promise<() => Promise<void>> {
    const names = (await this.#names()).map(({ name }) => `"${name}"`)
    const holder = await this.#pool.connect()
    await holder.query(`begin; lock table ${names.join()} in exclusive mode`)
    return async () => {
      await holder.query('rollback')
      holder.release()
    }
  }

  async failInserts(table: string, { userId, message }: { userId?: string; message: string }) {
    const condition = userId === undefined ? '' : `when (new.${this.isOf(userId)})`
    await this.change(
      `create function fail() returns trigger language plpgsql as $$ begin raise exception '${message}'; end $$;
       create trigger failing before insert on "${table}" for each row ${condition} execute function fail()`,
    )
    return () => this.change('drop function fail cascade')
  }

  isOf(userId: string): string {
    return `user_id = '${userId}'`
  }

  close(): Promise<void> {
    return this.#pool.end()
  }

  /** Rows of partitions are read through their table. */
  #names(except = "''"): Promise<Row[]> {
    return this.rows(
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace
       and relkind in ('r', 'p') and not relispartition and relname not in (${except}) order by name`,
    )
  }
}

/** A process does so every minute, or at its start. */
const writtenByItself = "'history', 'time_seen', 'hourly', 'node'"

function textOfBytes(_name: string, value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value
}

/** Ordered by the first two columns: the key comes first, and no key has more. */
async function contents(
  names: Row[],
  query: (sql: string) => Promise<Row[]>,
): Promise<Record<string, Row[]>> {
  const tables: Record<string, Row[]> = {}
  for (const { name } of names)
    tables[String(name)] = await query(`select * from "${name}" order by 1, 2`)
  return tables
}

function filesIn(dir: string): Record<string, Buffer> {
  return Object.fromEntries(readdirSync(dir).map((name) => [name, readFileSync(join(dir, name))]))
}

function named(text: string): Engine {
  const found = engines.find((one) => one === text)
  if (found === undefined)
    throw new Error(`TEST_ENGINE is ${text}; it must be ${engines.join(' or ')}`)
  return found
}
