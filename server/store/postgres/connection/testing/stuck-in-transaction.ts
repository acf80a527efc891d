// Locks the row of a user in a transaction, says so, and does nothing more: node
// stuck-in-transaction.ts <url> <user id>
import { lock, type Write } from '../../../statements.ts'
import { ChangeSignals } from '../../change-signals/change-signals.ts'
import { Database } from '../connection.ts'
import { openPool } from '../pool.ts'

const [url = '', userId = ''] = process.argv.slice(2)
const pool = openPool(url)

function* getStuck(): Write<void> {
  yield* lock`select 1 from "user" where id = ${userId}`
  process.send?.('locked')
  // Until the test ends the process.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}
await new Database(pool, new ChangeSignals(pool, url)).write(getStuck)
