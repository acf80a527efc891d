// What a world keeps of its user now, read from its database file: the page shows it beside each exchange.
import { connect, type Database, type Statement } from '../store/sqlite/database.ts'
import { userBytes } from '../store/statements.ts'

/** Secrets are in it as they are stored: as hashes. */
export type Row = { table: string; columns: Readonly<Record<string, string | number | null>> }

const tables = ['session', 'token_cutoff', 'known_device', 'inbox'] as const

export class Rows {
  readonly #database: Database
  readonly #statements: readonly { table: string; statement: Statement }[]

  constructor(path: string) {
    this.#database = connect(path)
    this.#database.exec('pragma query_only = on')
    this.#statements = tables.map((table) => ({
      table,
      statement: this.#database.prepare(`select * from ${table} where user_id = ?`),
    }))
  }

  of(userId: string): Row[] {
    return this.#statements.flatMap(({ table, statement }) =>
      statement
        .all(table === 'inbox' ? userBytes(userId) : userId)
        .map((row) => ({ table, columns: { ...row, user_id: userId } as Row['columns'] })),
    )
  }

  close(): void {
    this.#database.close()
  }
}
