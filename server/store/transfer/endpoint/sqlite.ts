// A SQLite database as an endpoint of a transfer. Uses one connection; the service and its writer thread may have others.
import { existsSync, statSync } from 'node:fs'
import { CarillonError, messageOf } from '../../../errors.ts'
import { asStoreError, Database, isOurs, openDatabase, openingFailure, readHeader } from '../../sqlite/database.ts'
import { hasForeignLog } from '../../sqlite/file/identity.ts'
import { appliedMigrations, migrate, refuseNewer } from '../../sqlite/migrate.ts'
import { backupTable, fillingTable, movingTable, refusedWrite } from '../../transfer-state.ts'
import type { Digest } from '../digest.ts'
import { currentMigrations } from '../fill.ts'
import { columnsAt, upgraded } from '../older-rows.ts'
import {
  type Batch,
  type Counts,
  callFailure,
  columnsOf,
  countAll,
  type Endpoint,
  type Filling,
  inUse,
  keyColumnsOf,
  type Move,
  type Place,
  type Row,
  readBatches,
  rowsInBatch,
} from './endpoint.ts'
import { type Table, tables } from './tables.ts'

/** The ledger of migrations is among them: a newer program must not migrate a database that is being moved. */
const guarded = [...tables.map(({ name }) => name), 'kysely_migration']
const changes = ['insert', 'update', 'delete'] as const

export class SqliteEndpoint implements Endpoint {
  readonly engine = 'sqlite'
  readonly #database: Database
  readonly #path: string
  readonly #schema: string

  /** `schema` is the newest migration of the rows that are read. */
  constructor(database: Database, path: string, schema = currentMigrations.at(-1) ?? '') {
    this.#database = database
    this.#path = path
    this.#schema = schema
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

  async migrations(): Promise<string[]> {
    return this.#reading(() => appliedMigrations(this.#database))
  }

  async migrate(): Promise<void> {
    await migrate(this.#database)
  }

  async snapshot<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#reading(() => this.#database.exec('begin; select 1 from sqlite_schema'))
    try {
      return await work()
    } finally {
      if (this.#database.isTransaction) this.#database.exec('rollback')
    }
  }

  batchesAfter(place: Place | null): AsyncIterable<Batch> {
    return readBatches(async (table, after) => this.#reading(() => this.#read(table, after)), place)
  }

  #read(table: Table, after: Row | null): readonly Row[] {
    const key = keyColumnsOf(table).join(', ')
    const behind = after === null ? '' : `where (${key}) > (${after.map(() => '?').join(', ')})`
    const columns = columnsAt(table, this.#schema).join(', ')
    const statement = this.#database.prepare(
      `select ${columns} from "${table.name}" ${behind} order by ${key} limit ${rowsInBatch}`,
    )
    statement.setReturnArrays(true)
    const rows = statement.all(...(after ?? [])) as unknown as Row[]
    return upgraded({ table, rows }, this.#schema)
  }

  counts(): Promise<Counts> {
    return countAll(async ({ name }) => Number(this.#one(`select count(*) as n from "${name}"`)?.n))
  }

  async move(): Promise<Move | null> {
    if (!this.#has(movingTable)) return null
    const row = this.#one(`select id, target, started_at, ended_at from ${movingTable}`)
    if (row === undefined) return null
    return {
      id: String(row.id),
      target: String(row.target),
      startedAt: Number(row.started_at),
      endedAt: row.ended_at === null ? null : Number(row.ended_at),
    }
  }

  async refuseWrites({ id, target, startedAt }: Move): Promise<void> {
    this.#inTransaction(() => {
      if (this.#has(movingTable)) throw inUse()
      this.#database.exec(
        `create table ${movingTable} (
          id text not null, target text not null, started_at integer not null, ended_at integer
        ) strict`,
      )
      this.#database.prepare(`insert into ${movingTable} values (?, ?, ?, null)`).run(id, target, startedAt)
      for (const [table, change] of this.#guards())
        this.#database.exec(
          `create trigger ${guardName(table, change)} before ${change} on "${table}"
          begin select raise(abort, '${refusedWrite}'); end`,
        )
    })
  }

  async endMove({ id, at }: { id: string; at: number }): Promise<boolean> {
    if (!this.#has(movingTable)) return false
    const end = `update ${movingTable} set ended_at = ? where id = ?`
    return this.#inTransaction(() => this.#database.prepare(end).run(at, id).changes === 1)
  }

  async allowWrites(): Promise<void> {
    this.#inTransaction(() => {
      for (const [table, change] of this.#guards())
        this.#database.exec(`drop trigger if exists ${guardName(table, change)}`)
      this.#database.exec(`drop table if exists ${movingTable}`)
    })
  }

  #guards(): [table: string, change: string][] {
    return guarded.flatMap((table) => changes.map((change): [string, string] => [table, change]))
  }

  async filling(): Promise<Filling | null> {
    if (!this.#has(fillingTable)) return null
    const row = this.#one(`select id, place from ${fillingTable}`)
    return row === undefined ? null : { id: String(row.id), place: JSON.parse(String(row.place)) }
  }

  async beginFilling(id: string): Promise<void> {
    this.#inTransaction(() => {
      if (this.#has(fillingTable)) throw inUse()
      this.#database.exec(`create table ${fillingTable} (id text not null, place text not null) strict`)
      this.#database.prepare(`insert into ${fillingTable} values (?, 'null')`).run(id)
    })
  }

  async add(
    { table, rows }: Batch,
    { id, before, after }: { id: string; before: Place | null; after: Place },
  ): Promise<boolean> {
    return this.#inTransaction(() => {
      const moveOn = this.#database.prepare(`update ${fillingTable} set place = ? where id = ? and place = ?`)
      if (moveOn.run(JSON.stringify(after), id, JSON.stringify(before)).changes !== 1) return false
      const columns = columnsOf(table)
      const insert = this.#database.prepare(
        `insert into "${table.name}" (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`,
      )
      for (const row of rows) insert.run(...row)
      return true
    })
  }

  async endFilling(): Promise<void> {
    this.#inTransaction(() => this.#database.exec(`drop table if exists ${fillingTable}`))
  }

  /** Throws UNPROCESSABLE if SQLite finds that the structure of the file is damaged. */
  refuseDamaged(file: string): void {
    let found: string
    try {
      found = String(this.#one('pragma integrity_check(1)')?.integrity_check)
    } catch (error) {
      found = messageOf(error)
    }
    if (found !== 'ok') throw new CarillonError('UNPROCESSABLE', `${file} is damaged (${found})`)
  }

  /** What the backup held when it was taken, as recorded in it; undefined if the database is not a backup. */
  digestsWhenTaken(): Digest[] | undefined {
    if (!this.#has(backupTable)) return undefined
    return this.#database.prepare(`select "table", rows, sha256 from ${backupTable}`).all() as unknown as Digest[]
  }

  async close(): Promise<void> {
    this.#database.close()
  }

  #one(sql: string): Record<string, unknown> | undefined {
    return this.#reading(() => this.#database.prepare(sql).get())
  }

  #has(table: string): boolean {
    const found = this.#reading(() => this.#database.prepare('select 1 from sqlite_schema where name = ?').get(table))
    return found !== undefined
  }

  /** Turns an error of the system into the one that an opening would throw. */
  #reading<Result>(read: () => Result): Result {
    try {
      return read()
    } catch (error) {
      throw openingFailure(error, this.#path)
    }
  }

  /** Runs `work` in a transaction. */
  #inTransaction<Result>(work: () => Result): Result {
    try {
      this.#database.exec('begin immediate')
      const result = work()
      this.#database.exec('commit')
      return result
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('rollback')
      throw callFailure(asStoreError(error), this.#path)
    }
  }
}

function sizeOf(path: string): number {
  return existsSync(path) ? statSync(path).size : 0
}

function guardName(table: string, change: string): string {
  return `carillon_moving_${table}_${change}`
}
