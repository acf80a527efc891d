// Deliveries per second to the disk without HTTP: 256 at once through the store, and one commit per delivery. The second is
// the floor, with the same statements and database settings. Runs in a separate process.
import { readDatabaseUrl } from '../../server/config/database-url.ts'
import { openStore } from '../../server/store/open.ts'
import { connect } from '../../server/store/sqlite/database.ts'
import { deliver } from '../../server/store/sqlite/writes/deliveries.ts'
import type { Delivery } from '../../server/store/store.ts'
import { serveRequests } from '../processes/respond.ts'
import { deliveryTo } from '../setup/delivery.ts'
import { databaseIn } from '../setup/service.ts'

export type WriteRequest = {
  way: 'together' | 'one by one'
  dir: string
  atOnce: number
  usernames: string[]
  seconds: number
}
export type WriteResult = { perSecond: number }

function* deliveries(usernames: readonly string[]): Generator<Delivery, never> {
  for (let i = 0; ; i++) yield deliveryTo(usernames[i % usernames.length] as string, i)
}

async function writeTogether({ dir, atOnce, usernames, seconds }: WriteRequest): Promise<WriteResult> {
  const { store } = await openStore(readDatabaseUrl(`sqlite:${databaseIn(dir)}`))
  const next = deliveries(usernames)
  let count = 0
  const startedAt = performance.now()
  const endsAt = startedAt + seconds * 1000
  const writeOn = async () => {
    while (performance.now() < endsAt) {
      await store.deliver(next.next().value)
      count++
    }
  }
  await Promise.all(Array.from({ length: atOnce }, writeOn))
  const elapsedMs = performance.now() - startedAt
  await store.close()
  return { perSecond: (count / elapsedMs) * 1000 }
}

function writeOneByOne({ dir, usernames, seconds }: WriteRequest): WriteResult {
  const database = connect(databaseIn(dir))
  const context = { sql: database.createTagStore(64), signal: () => {} }
  const next = deliveries(usernames)
  let count = 0
  const startedAt = performance.now()
  for (; performance.now() < startedAt + seconds * 1000; count++) {
    database.exec('begin immediate')
    deliver(context, next.next().value)
    database.exec('commit')
  }
  const elapsedMs = performance.now() - startedAt
  database.close()
  return { perSecond: (count / elapsedMs) * 1000 }
}

serveRequests((question: WriteRequest) =>
  question.way === 'together' ? writeTogether(question) : writeOneByOne(question),
)
