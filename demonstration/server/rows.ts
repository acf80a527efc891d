// What the database of a world keeps of its user now: the page shows it beside each exchange.
import { connect } from '../../server/store/sqlite/database.ts'
import { userBytes } from '../../server/store/statements.ts'
import type { Row } from './api.ts'

/** An experiment adds some ten entries to the audit log. */
const statements = {
  session: 'select * from session where user_id = ?',
  token_cutoff: 'select * from token_cutoff where user_id = ?',
  known_device: 'select * from known_device where user_id = ?',
  inbox: 'select * from inbox where user_id = ?',
  audit: 'select * from audit where user_id = ? order by id desc limit 20',
  signing_key: 'select * from signing_key where ? is not null order by starts_at',
}

/** `now` returns no rows after `end`: a response may end later. */
export function rowsIn(path: string, userId: string) {
  const database = connect(path)
  database.exec('pragma query_only = on')
  const prepared = Object.entries(statements).map(([table, sql]) => [table, database.prepare(sql)] as const)
  const now = (): Row[] =>
    prepared.flatMap(([table, statement]) =>
      statement.all(table === 'inbox' ? userBytes(userId) : userId).map((found) => {
        const columns = { ...found, ...('user_id' in found && { user_id: userId }) } as Row['columns']
        return { place: 'database' as const, table, columns }
      }),
    )
  const end = () => {
    prepared.length = 0
    database.close()
  }
  return { now, end }
}
