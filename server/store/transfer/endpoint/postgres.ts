// All statements of a snapshot or transaction use the endpoint's one connection.
import { CarillonError, messageOf, unavailable } from '../../../basics/errors.ts'
import { sqlState } from '../../postgres/connection/failures.ts'
import { openCheckedPool, openingFailure } from '../../postgres/connection/opening.ts'
import type { Pool, PoolClient } from '../../postgres/connection/pool.ts'
import { migrate } from '../../postgres/schema/migrate.ts'
import { type Refusing, refusedWrite, refusedWriteState, tableOf } from '../../transfer-state.ts'
import { type Endpoint, guardedTables, type Row, type Table } from '../rows.ts'

type Opened = { pool: Pool; client: PoolClient }

/** Shorter than deadlock_timeout: in a deadlock the move tries again, and no write fails. */
const lock = `do $$ begin
  for attempt in 1..60 loop
    begin
      lock table ${guardedTables.map((table) => `"${table}"`).join(', ')} in share row exclusive mode;
      return;
    exception when lock_not_available or deadlock_detected then perform pg_sleep(0.1);
    end;
  end loop;
  raise 'a write has been in progress for half a minute: end it, and run the same command again';
end $$`

class Postgres implements Endpoint {
  readonly name: string
  readonly snapshot = 'begin isolation level repeatable read read only'
  readonly catalogue = `
    select c.relname, json_agg(a.attname order by a.attnum)::text, i.indnkeyatts
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    join pg_index i on i.indrelid = c.oid and i.indisprimary
    where c.relnamespace = current_schema()::regnamespace group by c.relname, i.indnkeyatts`
  readonly begin = ['begin', 'set local lock_timeout = 500', lock]
  readonly #opened: Opened

  constructor(name: string, opened: Opened) {
    this.name = name
    this.#opened = opened
  }

  guards(refusing: Refusing): string[] {
    const guard = tableOf(refusing)
    const raise = `create function ${guard}() returns trigger language plpgsql as $$
      begin raise exception using errcode = '${refusedWriteState}', message = '${refusedWrite[refusing]}'; end $$`
    // A statement that changes no row is allowed, as in SQLite.
    const triggers = guardedTables.map(
      (table) => `create trigger ${guard} before insert or update or delete on "${table}"
        for each row execute function ${guard}();
        create trigger ${guard}_all before truncate on "${table}"
        for each statement execute function ${guard}()`,
    )
    return [raise, ...triggers]
  }

  unguards(refusing: Refusing): string[] {
    return [`drop function if exists ${tableOf(refusing)} cascade`]
  }

  migrate(partitions: number, through?: string): Promise<unknown> {
    return migrate(this.#opened.pool, { partitions, through }).catch((error) =>
      refuse(this.name, error),
    )
  }

  async query(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    try {
      return (
        await this.#opened.client.query<Row[number][]>({
          text,
          values: [...values],
          rowMode: 'array',
        })
      ).rows
    } catch (cause) {
      // data_corrupted and index_corrupted (PostgreSQL, appendix A).
      const isDamaged = ['XX001', 'XX002'].includes(sqlState(cause) ?? '')
      const remedy = isDamaged
        ? 'pg_amcheck names what is damaged. Restore the newest backup.'
        : undefined
      throw unavailable(`${this.name}: ${messageOf(cause)}`, remedy, cause)
    }
  }

  stored(placeholder: string): string {
    return placeholder
  }

  /** Composite values (PostgreSQL manual, section 8.16.2) need no list of types. */
  async insert({ name }: Table, rows: readonly Row[]): Promise<void> {
    const quoted = (value: Row[number]) =>
      value === null ? '' : `"${String(value).replace(/["\\]/g, '\\$&')}"`
    const records = rows.map((row) => `(${row.map(quoted).join()})`)
    await this.query(`insert into "${name}" select * from unnest($1::"${name}"[])`, [records])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#opened.client.release(true)
    await this.#opened.pool.end()
  }
}

export async function openPostgres(url: string, name: string): Promise<Endpoint> {
  let pool: Pool | undefined
  try {
    pool = await openCheckedPool(url)
    return new Postgres(name, { pool, client: await pool.connect() })
  } catch (error) {
    await pool?.end()
    return refuse(name, error)
  }
}

function refuse(name: string, error: unknown): never {
  const { code, problem, remedy, cause } = openingFailure(error, 'its URL')
  throw new CarillonError(code, `${name}: ${problem}`, { remedy, cause })
}
