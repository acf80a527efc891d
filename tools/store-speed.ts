// How fast is the store on a given PostgreSQL database? For what `npm run bench` cannot start, such as a Citus cluster, beside a
// plain server on the same machine. It adds users and notifications and removes none, so it asks for the word "fill".
//
//   node tools/store-speed.ts postgres://carillon@127.0.0.1:23500/carillon fill
import { newId } from '../server/ids.ts'
import { openPostgresStore } from '../server/store/postgres/postgres-store.ts'

const [url = '', word] = process.argv.slice(2)
if (!/^postgres(ql)?:/.test(url) || word !== 'fill') {
  process.stderr.write('usage: node tools/store-speed.ts postgres://... fill\n')
  process.exit(2)
}

const seconds = 5
const atOnce = 16
const { store } = await openPostgresStore(url, { partitions: 1 })
const now = Date.now()
const userIds = Array.from({ length: 200 }, () => newId(now))
const person = (id: string) => ({
  id,
  username: `speed-${id}`,
  displayName: null,
  createdAt: now,
  passwordHash: 'hash',
})
for (const id of userIds) await store.addUser(person(id))

const deliverTo = (ids: readonly string[]) =>
  store.deliver({
    id: newId(Date.now()),
    producerId: 'speed',
    idempotency: null,
    content: '"title":"Number 1","body":"It is on its way."',
    category: 'orders',
    key: null,
    recipients: ids.map((userId) => ({ to: { userId }, notificationId: newId(Date.now()) })),
    at: Date.now(),
  })
let turn = 0
const next = () => userIds[turn++ % userIds.length] as string
const someOf = (count: number) => Array.from({ length: count }, next)

/** Calls a second, with so many under way. */
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

for (let n = 0; n < 20; n++) await deliverTo(userIds)
const list = () => store.readPage({ userId: next(), limit: 20, unreadOnly: false, page: 1 })
await rate(list)
const results = {
  [`lists/s, ${atOnce} at once`]: await rate(list),
  [`deliveries/s to one user, ${atOnce} at once`]: await rate(() => deliverTo(someOf(1))),
  'ms of a delivery to one user, one at a time': 1_000 / (await rate(() => deliverTo(someOf(1)), 1)),
  'ms of a delivery to 12 users, one at a time': 1_000 / (await rate(() => deliverTo(someOf(12)), 1)),
}
for (const [what, figure] of Object.entries(results))
  process.stdout.write(`${figure.toFixed(1).padStart(8)}  ${what}\n`)
await store.close()
