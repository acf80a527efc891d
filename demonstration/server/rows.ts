// What the database of a world keeps of its user as a proof: the page shows it beside each exchange.
import { connect } from '../../server/store/sqlite/database.ts'
import type { Row } from './api.ts'

const tables = ['session', 'token_cutoff']

/** `now` returns no rows after `end`: a response may end later. */
export function rowsIn(path: string, userId: string) {
  const database = connect(path)
  const prepared = tables.map((table) => ({
    table,
    found: database.prepare(`select * from ${table} where user_id = ?`),
  }))
  const now = () =>
    prepared.flatMap(({ table, found }) => found.all(userId).map((columns) => ({ table, columns }) as Row))
  const end = () => {
    prepared.length = 0
    database.close()
  }
  return { now, end }
}
