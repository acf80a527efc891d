// Runs the store's contract suite on a given PostgreSQL database. For a Citus cluster or a PgBouncer, which the tests cannot
// start. It empties the tables before each test, so it requires the word "empty".
//
//   node tools/store-contract.ts postgres://carillon@127.0.0.1:23500/carillon empty [--test-name-pattern ...]
import pg from 'pg'
import { storeContract } from '../server/contract/store.contract.ts'
import { openPostgresStore } from '../server/store/postgres/store.ts'
import { tableNames } from '../server/store/transfer/rows.ts'

const [url = '', word] = process.argv.slice(2)
if (!/^postgres(ql)?:/.test(url) || word !== 'empty') {
  process.stderr.write('usage: node tools/store-contract.ts postgres://... empty\n')
  process.exit(2)
}

const open = async () => (await openPostgresStore(url, { partitions: 1 })).store

/** The tests share one database, so they run one after another. */
let before = Promise.resolve()

storeContract({
  name: 'a given database',
  async newPlace() {
    const { promise, resolve } = Promise.withResolvers<void>()
    const earlier = before
    before = promise
    await earlier
    await (await open()).close()
    const client = new pg.Client(url)
    await client.connect()
    await client.query(`truncate ${tableNames.map((name) => `"${name}"`).join(', ')}`)
    await client.end()
    return { open, remove: async () => resolve() }
  },
})
