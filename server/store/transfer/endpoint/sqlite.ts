// A SQLite database as an endpoint of a transfer. Uses one connection; the service and its writer thread may have others.
import { existsSync, statSync } from 'node:fs'
import { CarillonError } from '../../../errors.ts'
import { asStoreError, type Database, openDatabase, openingFailure, sortBeside } from '../../sqlite/database.ts'
import { hasForeignLog } from '../../sqlite/file/identity.ts'
import { creationOfIndex, migrate, refuseNewer } from '../../sqlite/migrate.ts'
import { refusedWrite } from '../../transfer-state.ts'
import { callFailure, type Driver, Endpoint } from './endpoint.ts'
import { SqliteRows, tablesIn } from './sqlite-rows.ts'
import type { Batch, Row, Table } from './tables.ts'

class SqliteDriver implements Driver {
  readonly engine = 'sqlite'
  readonly dialect = {
    integer: 'integer',
    tableOptions: 'strict',
    find: 'select 1 from sqlite_schema where name = $1',
    begin: 'begin immediate',
    snapshot: ['begin', 'select 1 from sqlite_schema'],
  } as const
  readonly name: string
  readonly guarded = guarded
  readonly fillingBegins = ['drop index if exists notification_by_id']
  readonly fillingEnds = [creationOfIndex('notification_by_id')]
  readonly #database: Database
  readonly #rows: SqliteRows

  constructor(database: Database, path: string) {
    this.#database = database
    this.name = path
    this.#rows = new SqliteRows(database)
  }

  async migrate(): Promise<void> {
    await migrate(this.#database)
  }

  async close(): Promise<void> {
    this.#database.close()
  }

  async query(text: string, values: Row = []): Promise<Row[]> {
    const statement = this.#database.prepare(text.replaceAll(/\$\d/g, '?'))
    statement.setReturnArrays(true)
    return statement.all(...values) as unknown as Row[]
  }

  async rowsAfter(after: Row | null, table: Table, limit: number): Promise<Row[]> {
    return this.#rows.after(after, table, limit)
  }

  async count(table: Table): Promise<number> {
    return this.#rows.count(table)
  }

  async insert({ table, rows }: Batch): Promise<void> {
    this.#rows.insert(table, rows)
  }

  /** `begin immediate` is enough: SQLite has one writer at a time. */
  lock(): string[] {
    return []
  }

  isLockTimeout(): boolean {
    return false
  }

  guards(): string[] {
    return triggers.map(
      ([trigger, event]) =>
        `create trigger ${trigger} before ${event} begin select raise(abort, '${refusedWrite}'); end`,
    )
  }

  unguards(): string[] {
    return triggers.map(([trigger]) => `drop trigger if exists ${trigger}`)
  }

  /** Turns an error of the system into the one that an opening would throw. */
  readFailure(error: unknown): CarillonError {
    return openingFailure(error, this.name)
  }

  writeFailure(error: unknown): CarillonError {
    return callFailure(asStoreError(error), this.name)
  }
}

/** Opens the database at `path`, and creates the file if it does not exist. Throws UNAVAILABLE if it cannot be used. */
export function openSqlite(path: string): Endpoint {
  // SQLite would apply the log of a lost database to the new one; and it deletes the log of an empty file.
  const isGone = !existsSync(path)
  const what = isGone ? 'gone' : 'empty'
  if (isGone ? existsSync(`${path}-wal`) : sizeOf(path) === 0 && sizeOf(`${path}-wal`) > 0)
    throw new CarillonError('UNAVAILABLE', `${path} is ${what}, but ${path}-wal is still there`, {
      remedy: 'Remove or restore it.',
    })
  if (hasForeignLog(path))
    throw new CarillonError('UNAVAILABLE', `${path}-wal belongs to another database file`, {
      remedy: 'Move it aside with: carillon migrate',
    })
  let database: Database | undefined
  try {
    database = openDatabase(path)
    refuseNewer(database)
    sortBeside(database, path)
    return new Endpoint(new SqliteDriver(database, path))
  } catch (error) {
    database?.close()
    throw openingFailure(error, path)
  }
}

const guarded = [...tablesIn, 'kysely_migration']
const triggers = guarded.flatMap((table) =>
  ['insert', 'update', 'delete'].map((change) => [`carillon_moving_${table}_${change}`, `${change} on "${table}"`]),
)

function sizeOf(path: string): number {
  return existsSync(path) ? statSync(path).size : 0
}
