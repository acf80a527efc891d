// For tests: the database file as a thief or an auditor would see it, through a connection of its own.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Database } from '../store/sqlite/database.ts'

type Row = Record<string, unknown>

export class DatabaseFile {
  readonly #dir: string
  readonly #reader: Database

  constructor(dir: string) {
    this.#dir = dir
    this.#reader = new Database(join(dir, 'carillon.db'), { readOnly: true })
  }

  /** Every row of every table, by the table's name. */
  tables(): Record<string, Row[]> {
    const names = this.#reader.prepare("select name from sqlite_schema where type = 'table' order by name").all()
    return Object.fromEntries(names.map(({ name }) => [name, this.rows(`select * from "${name}"`)]))
  }

  rows(sql: string): Row[] {
    return this.#reader
      .prepare(sql)
      .all()
      .map((row) => ({ ...row }))
  }

  /** Another number after every commit that anybody else made, of whatever. */
  version(): unknown {
    return this.#reader.prepare('pragma data_version').get()?.data_version
  }

  /** The database with all that lies beside it, byte for byte, each file by its name. */
  bytes(): Record<string, Buffer> {
    return Object.fromEntries(readdirSync(this.#dir).map((name) => [name, readFileSync(join(this.#dir, name))]))
  }

  /** Changes the schema or the rows behind the service's back. */
  change(sql: string): void {
    const writer = this.#writer()
    writer.exec(sql)
    writer.close()
  }

  /** Lets nobody write until the answer is called. */
  holdWrites(): () => void {
    const writer = this.#writer()
    writer.exec('begin immediate')
    return () => writer.close()
  }

  close(): void {
    this.#reader.close()
  }

  #writer(): Database {
    return new Database(join(this.#dir, 'carillon.db'), { timeout: 5_000 })
  }
}
