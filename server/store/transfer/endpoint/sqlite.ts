// A SQLite database as an endpoint of a transfer. Uses one connection; the service and its writer thread may have others.
import { existsSync, statSync } from 'node:fs'
import { CarillonError, messageOf } from '../../../errors.ts'
import { asStoreError, Database, isOurs, openDatabase, openingFailure, readHeader } from '../../sqlite/database.ts'
import { hasForeignLog } from '../../sqlite/file/identity.ts'
import { appliedMigrations, migrate, refuseNewer } from '../../sqlite/migrate.ts'
import { backupTable, refusedWrite } from '../../transfer-state.ts'
import type { Digest } from '../digest.ts'
import { Endpoint, guarded } from './endpoint.ts'
import { type Batch, columnsOf, newestMigration, type Row } from './tables.ts'

export class SqliteEndpoint extends Endpoint {
  readonly engine = 'sqlite'
  protected readonly name: string
  protected readonly dialect = {
    integer: 'integer',
    tableOptions: 'strict',
    find: 'select 1 from sqlite_schema where name = $1',
    begin: 'begin immediate',
    snapshot: ['begin', 'select 1 from sqlite_schema'],
    asStoreError,
  } as const
  protected readonly schema: string
  readonly #database: Database

  /** `schema` is the newest migration of the rows that are read. */
  constructor(database: Database, path: string, schema = newestMigration) {
    super()
    this.#database = database
    this.name = path
    this.schema = schema
  }

  /** Opens the database at `path`, and creates the file if it does not exist. Throws UNAVAILABLE if it cannot be used. */
  static open(path: string): SqliteEndpoint {
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
      return new SqliteEndpoint(database, path)
    } catch (error) {
      database?.close()
      throw openingFailure(error, path)
    }
  }

  /** Opens a SQLite backup of an earlier version read-only, also one of an older schema; undefined if the file is another one. */
  static openFile(path: string): SqliteEndpoint | undefined {
    if (!isOurs(readHeader(path))) return undefined
    let database: Database | undefined
    try {
      database = new Database(path, { readOnly: true })
      return new SqliteEndpoint(database, path, appliedMigrations(database).at(-1))
    } catch (error) {
      database?.close()
      throw openingFailure(error, path)
    }
  }

  async migrate(): Promise<void> {
    await migrate(this.#database)
  }

  async close(): Promise<void> {
    this.#database.close()
  }

  protected async query(text: string, values: Row = []): Promise<Row[]> {
    const statement = this.#database.prepare(text.replaceAll(/\$\d/g, '?'))
    statement.setReturnArrays(true)
    return statement.all(...values) as unknown as Row[]
  }

  protected async insert({ table, rows }: Batch): Promise<void> {
    const columns = columnsOf(table)
    const places = columns.map(() => '?').join(', ')
    const insert = this.#database.prepare(`insert into "${table.name}" (${columns.join(', ')}) values (${places})`)
    for (const row of rows) insert.run(...row)
  }

  /** SQLite has one writer at a time. */
  protected async exclusively(_: readonly string[], work: () => Promise<void>): Promise<void> {
    await this.atomically(work)
  }

  protected guards(): string[] {
    return triggers.map(
      ([trigger, event]) =>
        `create trigger ${trigger} before ${event} begin select raise(abort, '${refusedWrite}'); end`,
    )
  }

  protected unguards(): string[] {
    return triggers.map(([trigger]) => `drop trigger if exists ${trigger}`)
  }

  /** Turns an error of the system into the one that an opening would throw. */
  protected override readFailure(error: unknown): CarillonError {
    return openingFailure(error, this.name)
  }

  /** Throws UNPROCESSABLE if SQLite finds that the structure of the file is damaged. */
  async refuseDamaged(): Promise<void> {
    const found = await this.read('pragma integrity_check(1)').then(([row]) => String(row?.[0]), messageOf)
    if (found !== 'ok') throw new CarillonError('UNPROCESSABLE', `${this.name} is damaged (${found})`)
  }

  /** What the backup held when it was taken, as recorded in it; undefined if the database is not a backup. */
  async digestsWhenTaken(): Promise<Digest[] | undefined> {
    if (!(await this.has(backupTable))) return undefined
    return this.#database.prepare(`select "table", rows, sha256 from ${backupTable}`).all() as unknown as Digest[]
  }
}

const triggers = guarded.flatMap((table) =>
  ['insert', 'update', 'delete'].map((change) => [`carillon_moving_${table}_${change}`, `${change} on "${table}"`]),
)

function sizeOf(path: string): number {
  return existsSync(path) ? statSync(path).size : 0
}
