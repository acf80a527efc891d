// What the database of a world keeps of its user now: the page shows it beside each exchange.
import { connect, type Database, type Statement } from '../../server/store/sqlite/database.ts'
import { userBytes } from '../../server/store/statements.ts'
import type { Row } from './api.ts'

const ofUser = ['session', 'token_cutoff', 'known_device', 'inbox'] as const
/** An experiment adds some ten entries. */
const maxEntries = 20
const statements = {
  ...Object.fromEntries(ofUser.map((table) => [table, `select * from ${table} where user_id = ?`])),
  audit: `select * from audit where user_id = ? order by id desc limit ${maxEntries}`,
  signing_key: 'select * from signing_key where ? is not null order by starts_at',
}

export class Rows {
  readonly #database: Database
  readonly #statements: readonly (readonly [table: string, statement: Statement])[]

  constructor(path: string) {
    this.#database = connect(path)
    this.#database.exec('pragma query_only = on')
    this.#statements = Object.entries(statements).map(([table, sql]) => [table, this.#database.prepare(sql)])
  }

  of(userId: string): Row[] {
    return this.#statements.flatMap(([table, statement]) =>
      statement.all(table === 'inbox' ? userBytes(userId) : userId).map((found) => {
        const columns = { ...found, ...('user_id' in found && { user_id: userId }) } as Row['columns']
        return { place: 'database' as const, table, columns }
      }),
    )
  }

  close(): void {
    this.#database.close()
  }
}
