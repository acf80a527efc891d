// Measures the store on a given PostgreSQL database, to compare what `npm run bench` cannot start, such as a Citus cluster, with
// a plain server on the same machine. It adds users and notifications and removes none, so it requires the word "fill".
//
//   node tools/store-speed.ts postgres://carillon@127.0.0.1:23500/carillon fill
import { newId } from '../server/ids.ts'
import { openPostgresStore } from '../server/store/postgres/store.ts'

const [url = '', word] = process.argv.slice(2)
if (!/^postgres(ql)?:/.test(url) || word !== 'fill') {
  process.stderr.write('usage: node tools/store-speed.ts postgres://... fill\n')
  process.exit(2)
}

const seconds = 5
const atOnce = 16
const { store } = await openPostgresStore(url, { partitions: 1 })
const now = Date.now()
const userIds = Array.from({ length: 1_000 }, () => newId(now))
/** The users whose inboxes are filled and listed. */
const readers = userIds.slice(0, 200)
const person = (id: string) => ({
  id,
  username: `speed-${id}`,
  displayName: null,
  createdAt: now,
  passwordHash: 'hash',
})
for (let n = 0; n < userIds.length; n += 8)
  await Promise.all(userIds.slice(n, n + 8).map((id) => store.addUser(person(id))))

const deliverTo = (ids: readonly string[], key: string | null = null) =>
  store.deliver({
    id: newId(Date.now()),
    producerId: 'speed',
    idempotency: null,
    content: '"title":"Number 1","body":"It is on its way.","createdAt":"2026-01-01T00:00:00.000Z"',
    category: 'orders',
    key,
    recipients: ids.map((userId) => ({ to: { userId }, notificationId: newId(Date.now()) })),
    at: Date.now(),
  })
let turn = 0
const next = () => readers[turn++ % readers.length] as string
const someOf = (count: number) => Array.from({ length: count }, next)

/** Calls per second, with `under` calls at once. */
async function rate(call: () => Promise<unknown>, under = atOnce): Promise<number> {
  let calls = 0
  const startedAt = performance.now()
  const end = startedAt + seconds * 1_000
  const one = async () => {
    for (; performance.now() < end; calls++) await call()
  }
  await Promise.all(Array.from({ length: under }, one))
  return calls / ((performance.now() - startedAt) / 1_000)
}

for (let n = 0; n < 20; n++) await deliverTo(readers)
const list = () => store.readPage({ userId: next(), limit: 20, status: 'all', page: 1 })
await rate(list)
/** Median milliseconds of five calls, one after another. */
async function medianOf(call: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let n = 0; n < 5; n++) {
    const startedAt = performance.now()
    await call()
    times.push(performance.now() - startedAt)
  }
  return times.toSorted((one, other) => one - other)[2] ?? Number.NaN
}

const results: Record<string, number> = {
  [`lists/s, ${atOnce} at once`]: await rate(list),
  [`deliveries/s to one user, ${atOnce} at once`]: await rate(() => deliverTo(someOf(1))),
  'ms of a delivery to one user, one at a time': 1_000 / (await rate(() => deliverTo(someOf(1)), 1)),
  'ms of a delivery to 12 users, one at a time': 1_000 / (await rate(() => deliverTo(someOf(12)), 1)),
}
for (const count of [100, 1_000]) {
  const some = userIds.slice(0, count)
  results[`ms of a delivery to ${count} users, median of 5`] = await medianOf(() => deliverTo(some))
  results[`ms of a delivery to ${count} users with a key, median of 5`] = await medianOf(() => deliverTo(some, 'build'))
}
for (const [what, figure] of Object.entries(results))
  process.stdout.write(`${figure.toFixed(1).padStart(8)}  ${what}\n`)
await store.close()
