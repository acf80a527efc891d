// Checks that overlapping deliveries neither deadlock nor miscount on a given PostgreSQL database. For a Citus cluster, which the
// tests cannot start. It empties the tables, so it requires the word "empty". It adds 250 users, makes 320 calls, 32 at once
// (deliveries, read-alls, sign-ins, new passwords), and recounts every inbox. The third argument is the maximum of recipients.
//
//   node tools/delivery-stress.ts postgres://carillon@127.0.0.1:23500/carillon empty 100
import pg from 'pg'
import { type Letter, newId, World } from '../server/store/contract/world.ts'
import { openPostgresStore } from '../server/store/postgres/store.ts'
import { tables } from '../server/store/transfer/endpoint/tables.ts'

const [url = '', word, largest = '100'] = process.argv.slice(2)
if (!/^postgres(ql)?:/.test(url) || word !== 'empty') {
  process.stderr.write('usage: node tools/delivery-stress.ts postgres://... empty [RECIPIENTS]\n')
  process.exit(2)
}

const rounds = 10
const atOnce = 32
const { store } = await openPostgresStore(url, { partitions: 1 })
const client = new pg.Client(url)
await client.connect()
await client.query(`truncate ${tables.map(({ name }) => `"${name}"`).join(', ')}`)
const world = await World.on(store)
const people = await world.addUsers(250)
const sizes = [1, 1, 2, 12, 40, Math.ceil(Number(largest) / 2), Number(largest)]
const below = (count: number) => Math.floor(Math.random() * count)
/** Neighbours in a circle of users, so that two deliveries often have many recipients in common. */
const some = (count: number) => {
  const from = below(people.length)
  return [...people.slice(from), ...people.slice(0, from)].slice(0, count)
}
const oneUser = () => some(1)[0] ?? people[0]
const deliver = (more: Partial<Letter> = {}) =>
  world.deliver({ to: some(sizes[below(sizes.length)] ?? 1), category: below(2) ? 'orders' : 'bills', ...more })
const acts: (() => Promise<unknown>)[] = [
  () => deliver(),
  () => deliver({ key: `k${below(3)}` }),
  () => deliver({ idempotency: { key: newId(), bodyHash: 'b' } }),
  () => store.markAllRead({ userId: oneUser()?.id ?? '', throughId: null, at: Date.now() }),
  async () => {
    const { id = '', passwordHash = '' } = oneUser() ?? {}
    await store.setPassword({ userId: id, passwordHash, at: Date.now(), revocationExpiresAt: Date.now() + 1_000_000 })
  },
  async () => {
    const { id = '' } = oneUser() ?? {}
    const session = { userId: id, secretHash: newId(), checkedGeneration: 0, at: Date.now() }
    const where = { signInId: newId(), device: null, address: null }
    await store.addSession({ ...session, ...where, replaces: [], revocationExpiresAt: Date.now() + 1_000_000 })
  },
]

const outcomes = new Map<string, number>()
let maxMs = 0
async function act(): Promise<void> {
  const startedAt = performance.now()
  const outcome = await (acts[below(acts.length)]?.() ?? Promise.resolve()).then(
    () => 'done',
    (error: Error) => `${error.message} (${error.cause})`,
  )
  maxMs = Math.max(maxMs, performance.now() - startedAt)
  outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
}
for (let round = 0; round < rounds; round++) await Promise.all(Array.from({ length: atOnce }, act))
await store.close()

const recount = `
  select count(*)::int as wrong from inbox i left join (
    select b.user_id, count(*) as total, max(n.seq) as last_seq,
      count(*) filter (where n.read_at is null and n.seq > b.read_through) as unread
    from notification n join inbox b using (user_id) group by b.user_id
  ) n using (user_id)
  where (i.total, i.unread, i.last_seq) is distinct from (coalesce(n.total, 0), coalesce(n.unread, 0), coalesce(n.last_seq, 0))`
const recountOfCategories = `
  select count(*)::int as wrong from inbox_category k full join (
    select n.user_id, n.category, count(*) as total,
      count(*) filter (where n.read_at is null and n.seq > b.read_through) as unread
    from notification n join inbox b using (user_id) where n.category is not null group by n.user_id, n.category
  ) n on n.user_id = k.user_id and n.category = k.category
  where (k.total, k.unread) is distinct from (n.total, n.unread)`
let wrong = 0
for (const sql of [recount, recountOfCategories]) wrong += (await client.query(sql)).rows[0].wrong
await client.end()

for (const [outcome, count] of outcomes) process.stdout.write(`${count}  ${outcome}\n`)
process.stdout.write(`${Math.round(maxMs)} ms for the longest call; ${wrong} counters are wrong\n`)
process.exitCode = wrong === 0 ? 0 : 1
