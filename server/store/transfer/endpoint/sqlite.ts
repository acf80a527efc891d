// The endpoint has one connection; the service may have others.
import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { messageOf, unavailable } from '../../../basics/errors.ts'
import { textOf } from '../../migrations.ts'
import {
  corrupt,
  type Database,
  openDatabase,
  openingFailure,
  resultCode,
} from '../../sqlite/database.ts'
import { hasForeignLog, lostLogSince, recordClose } from '../../sqlite/file/identity.ts'
import { migrate } from '../../sqlite/migrate.ts'
import { idOfDigits } from '../../statements.ts'
import { type Refusing, refusedWrite, tableOf } from '../../transfer-state.ts'
import { type Endpoint, guardedTables, type Row, type Table } from '../rows.ts'

class Sqlite implements Endpoint {
  readonly name: string
  readonly snapshot = 'begin'
  readonly catalogue = `
    select m.name, json_group_array(c.name order by c.cid), sum(c.pk > 0)
    from sqlite_schema m join pragma_table_info(m.name) c where m.type = 'table' group by m.name`
  readonly lateIndex = {
    drop: 'drop index if exists notification_by_id',
    create:
      /^create unique index notification_by_id on [^;]*/m.exec(
        textOf('0001-schema', 'sqlite'),
      )?.[0] ?? '',
  }
  readonly begin = ['begin immediate']
  readonly #database: Database

  constructor(name: string, database: Database) {
    this.name = name
    this.#database = database
  }

  guards(refusing: Refusing): string[] {
    return guardedTables.flatMap((table) =>
      ['insert', 'update', 'delete'].map(
        (
          change,
        ) => `create trigger ${tableOf(refusing)}_${table}_${change} before ${change} on "${table}"
        begin select raise(abort, '${refusedWrite[refusing]}'); end`,
      ),
    )
  }

  /** Another version may have guarded other tables. */
  unguards(refusing: Refusing): string[] {
    return this.guards(refusing).map((text) =>
      text.replace(/^create trigger (\w+) .*/s, 'drop trigger if exists $1'),
    )
  }

  migrate(_partitions: number, through?: string): Promise<unknown> {
    return migrate(this.#database, { through }).catch((error) =>
      Promise.reject(openingFailure(error, this.name)),
    )
  }

  async query(text: string, values: Row = []): Promise<Row[]> {
    return this.#named(() => {
      const statement = this.#database.prepare(text.replaceAll(/\$\d/g, '?'))
      statement.setReturnArrays(true)
      const rows = statement.all(...values) as unknown as (Row[number] | Uint8Array)[][]
      const digits = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
      return rows.map((row) =>
        row.map((one) => (one instanceof Uint8Array ? idOfDigits(digits(one)) : one)),
      )
    })
  }

  /** A blob is a user's id, which is text in backups and on PostgreSQL (decision 0054). */
  stored(placeholder: string, { table, name }: { table: Table; name: string }): string {
    const type = this.#database
      .prepare('select type from pragma_table_info(?) where name = ?')
      .get(table.name, name)
    return type?.type === 'BLOB' ? `unhex(${placeholder}, '-')` : placeholder
  }

  async insert(table: Table, rows: readonly Row[]): Promise<void> {
    const values = table.columns.map((name) => this.stored('?', { table, name })).join(', ')
    const text = `insert into "${table.name}" (${table.columns.join(', ')}) values (${values})`
    this.#named(() => {
      const statement = this.#database.prepare(text)
      for (const row of rows) statement.run(...row)
    })
  }

  #named<Result>(work: () => Result): Result {
    try {
      return work()
    } catch (cause) {
      if (resultCode(cause) === corrupt) throw openingFailure(cause, this.name)
      throw unavailable(`${this.name}: ${messageOf(cause)}`, undefined, cause)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    recordClose(this.#database, this.name)
    this.#database.close()
  }
}

export function openSqlite(path: string): Endpoint {
  const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size
  const size = sizeOf(path)
  const logSize = sizeOf(`${path}-wal`)
  // SQLite would apply a lost database's log, and delete an empty one's.
  const isLost =
    size === undefined ? logSize !== undefined : size === 0 && logSize !== undefined && logSize > 0
  if (isLost || hasForeignLog(path))
    throw unavailable(
      `${path}-wal belongs to another database file, or to one that is gone`,
      'Restore that file, or move the log aside.',
    )
  const lastCheckpoint = lostLogSince(path)
  if (lastCheckpoint !== undefined)
    throw unavailable(
      `${path}-wal is gone, with what was written after ${lastCheckpoint}`,
      'Restore a backup if it has more. Otherwise start the service once, which records what is lost.',
    )
  const database = openDatabase(path)
  // SQLite sorts a large index in a file: containers may have no other writable folder.
  database.exec(`pragma temp_store_directory = '${dirname(path).replaceAll("'", "''")}'`)
  return new Sqlite(path, database)
}
