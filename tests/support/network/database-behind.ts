// For tests: the database as a thief or an auditor would see it, behind the service's back, through a connection of its
// own; the same questions to either engine. Which engine a run of the tests is about is said by TEST_ENGINE.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openPool } from '../../../server/store/postgres/connection/pool.ts'
import { Database } from '../../../server/store/sqlite/database.ts'

export const engines = ['sqlite', 'postgres'] as const
export type Engine = (typeof engines)[number]

export const engine: Engine = named(process.env.TEST_ENGINE ?? 'sqlite')

type Row = Record<string, unknown>

export type DatabaseBehind = {
  /** Every row of every table, in the order of its key, by the table's name. */
  tables(): Promise<Record<string, Row[]>>
  /** SQL that both engines understand: they need "user" in quotes. */
  rows(sql: string): Promise<Row[]>
  /** Another value after every commit that anybody else made and that wrote something, whatever it was. */
  version(): Promise<unknown>
  /** What a thief of it would have, byte for byte: each file by its name, or each table by its. */
  bytes(): Promise<Record<string, Buffer>>
  /** Changes the schema or the rows. */
  change(sql: string): Promise<void>
  /** Lets nobody write until the answer is called. */
  holdWrites(): Promise<() => Promise<void>>
  /** Whatever is inserted into the table, for that user where one is given, fails until the answer is called. */
  failInserts(table: string, failure: { userId?: string; message: string }): Promise<() => Promise<void>>
  close(): Promise<void>
}

export class SqliteBehind implements DatabaseBehind {
  readonly #dir: string
  #opened: Database | undefined

  constructor(dir: string) {
    this.#dir = dir
  }

  async tables(): Promise<Record<string, Row[]>> {
    const names = await this.rows("select name from sqlite_schema where type = 'table' order by name")
    return contents(names, (sql) => this.rows(sql))
  }

  async rows(sql: string): Promise<Row[]> {
    return this.#reader
      .prepare(sql)
      .all()
      .map((row) => ({ ...row }))
  }

  async version(): Promise<unknown> {
    return this.#reader.prepare('pragma data_version').get()?.data_version
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
    const condition = userId === undefined ? '' : `when new.user_id = '${userId}'`
    await this.change(
      `create trigger failing before insert on "${table}" ${condition} begin select raise(abort, '${message}'); end`,
    )
    return () => this.change('drop trigger failing')
  }

  async close(): Promise<void> {
    this.#opened?.close()
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
    return contents(await this.#names(), (sql) => this.rows(sql))
  }

  async rows(sql: string): Promise<Row[]> {
    return (await this.#pool.query<Row>(sql)).rows
  }

  /** Of every row its content and the transaction that wrote it: an update that changes nothing shows too. */
  async version(): Promise<unknown> {
    const sums = (await this.#names()).map(
      ({ name }) => `select sum(hashtextextended(t.xmin::text || t::text, 0))::text as sum from "${name}" t`,
    )
    return (await this.rows(sums.join(' union all '))).map(({ sum }) => sum).join()
  }

  async bytes(): Promise<Record<string, Buffer>> {
    const texts = Object.entries(await this.tables()).map(([name, rows]) => {
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
    const condition = userId === undefined ? '' : `when (new.user_id = '${userId}')`
    await this.change(
      `create function fail() returns trigger language plpgsql as $$ begin raise exception '${message}'; end $$;
       create trigger failing before insert on "${table}" for each row ${condition} execute function fail()`,
    )
    return () => this.change('drop function fail cascade')
  }

  close(): Promise<void> {
    return this.#pool.end()
  }

  /** The parts of a table are seen through it. */
  #names(): Promise<Row[]> {
    return this.rows(
      `select relname as name from pg_class
       where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by name`,
    )
  }
}

/** The columns of the key come first, and no key has more than two. */
async function contents(names: Row[], request: (sql: string) => Promise<Row[]>): Promise<Record<string, Row[]>> {
  const tables: Record<string, Row[]> = {}
  for (const { name } of names) tables[String(name)] = await request(`select * from "${name}" order by 1, 2`)
  return tables
}

function filesIn(dir: string): Record<string, Buffer> {
  return Object.fromEntries(readdirSync(dir).map((name) => [name, readFileSync(join(dir, name))]))
}

function named(text: string): Engine {
  const found = engines.find((one) => one === text)
  if (found === undefined) throw new Error(`TEST_ENGINE is ${text}; it may be ${engines.join(' or ')}`)
  return found
}
