// Random orders of requests. A failure prints its seed.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { type Notification, type Proof, startTestService, variants } from '../../support/service.ts'

const app = await startTestService()
after(() => app.stop())
const { key } = await app.producerKey()

const runs = (everyday: number) => (process.env.SOAK === undefined ? everyday : everyday * 100)
const categories = ['orders', 'news', undefined]

async function reader(notifications = 0) {
  const user = await app.user()
  const sent = Array.from({ length: notifications }, (_, n) => send(user.id, categories[n % 3]))
  await Promise.all(sent)
  return {
    user,
    proof: await app.signIn(user, variants[notifications % 2] ?? 'stateful'),
    total: notifications,
  }
}

async function send(userId: string, category?: string, itsKey?: string): Promise<string> {
  const body = {
    recipients: [{ userId }],
    title: 'x',
    ...(category && { category }),
    ...(itsKey && { key: itsKey }),
  }
  const response = await app.post('/api/notifications', body, { authorization: `Bearer ${key}` })
  assert.equal(response.status, 201)
  return response.json().data.results[0].id
}

const readers = await Promise.all(
  [0, 1, 2, 19, 20, 21, 40, 99, 100, 101, 137].map((total) => reader(total)),
)
// Some were marked as read one by one, so that there are gaps between the unread ones.
for (const { proof } of readers)
  for (const [index, { id }] of (await app.everything(proof)).items.entries())
    if (index % 3 === 1) await app.patch(`/api/notifications/${id}/read`, proof)

const anyReader = fc.constantFrom(...readers)
const anyLimit = fc.oneof(
  fc.integer({ min: 1, max: 100 }),
  fc.constantFrom(1, 2, 10, 20, 50, 99, 100),
)

test('hasMore is true exactly when page * limit < total, for any page and limit (spec 4, rule 1; I6)', async () => {
  const page = fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 2 ** 40 }))
  await fc.assert(
    fc.asyncProperty(anyReader, page, anyLimit, async (of, number, limit) => {
      const { items, total, hasMore } = await app.list(of.proof, `?page=${number}&limit=${limit}`)
      assert.equal(total, of.total)
      assert.equal(hasMore, number * limit < total)
      assert.equal(items.length, Math.max(0, Math.min(limit, total - (number - 1) * limit)))
    }),
    { numRuns: runs(60) },
  )
})

for (const status of [
  '',
  '&status=unread',
  '&status=read',
  '&category=orders',
  '&status=unread&category=orders&category=news',
])
  test(`pages contain every notification once, by page number and by cursor${status && `, also with ${status.slice(1)}`} (I6)`, async () => {
    await fc.assert(
      fc.asyncProperty(anyReader, anyLimit, async ({ proof }, limit) => {
        const whole = (await app.everything(proof, status)).items.map(({ id }) => id)
        assert.equal(new Set(whole).size, whole.length)
        const byNumber: string[] = []
        for (let page = 1; byNumber.length < whole.length; page++) {
          const found = await app.list(proof, `?limit=${limit}&page=${page}${status}`)
          assert.ok(found.items.length > 0)
          byNumber.push(...found.items.map(({ id }) => id))
        }
        assert.deepEqual(byNumber, whole)
        const byCursor: string[] = []
        let next: string | null = String(Number.MAX_SAFE_INTEGER)
        while (next !== null) {
          const found = await app.list(proof, `?limit=${limit}&before=${next}${status}`)
          byCursor.push(...found.items.map(({ id }) => id))
          assert.equal(found.hasMore, found.next !== null)
          next = found.next
        }
        assert.deepEqual(byCursor, whole)
      }),
      { numRuns: runs(3) },
    )
  })

type Act =
  | { does: 'deliver'; category: string | undefined; key: string | undefined }
  | { does: 'read'; which: number }
  | { does: 'read-all'; through: number | null }
  | { does: 'list'; limit: number; page: number }
  | { does: 'count' }

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant('deliver' as const),
      category: fc.constantFrom(...categories),
      key: fc.constantFrom('k1', 'k2', undefined, undefined, undefined),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ does: fc.constant('read' as const), which: fc.nat({ max: 30 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      does: fc.constant('read-all' as const),
      through: fc.option(fc.nat({ max: 30 })),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant('list' as const),
      limit: fc.constantFrom(1, 5, 100),
      page: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('count' as const) }) },
)

test('the counters equal a recount after random concurrent requests', async () => {
  const [proofs, user] = await bothProofs()
  let round = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(act, { maxLength: 8 }), { minLength: 1, maxLength: 6 }),
      async (batches) => {
        round++
        for (const batch of batches) {
          const known = (await app.everything(proofs[0])).items.map(({ id }) => id)
          await Promise.all(
            batch.map((each, n) =>
              perform(each, { known, userId: user.id, proof: proofs[n % 2] as Proof, round }),
            ),
          )
          app.pass(1)
        }
        await isCountedRight(proofs[0])
      },
    ),
    { numRuns: runs(12) },
  )
})

async function bothProofs() {
  const user = await app.user()
  const proofs = [await app.signIn(user, 'stateful'), await app.signIn(user, 'stateless')] as const
  return [proofs, user] as const
}

type World = { known: string[]; userId: string; proof: Proof; round: number }

/** The response has to describe one moment of the inbox. */
function perform(one: Act, world: World): Promise<unknown> {
  switch (one.does) {
    case 'deliver':
      return send(world.userId, one.category, one.key && `${one.key}-${world.round}`)
    case 'read':
      return readOne(one.which, world)
    case 'read-all':
      return readAll(one.through, world)
    case 'list':
      return list(one, world)
    case 'count':
      return count(world)
  }
}

async function readOne(which: number, { known, proof }: World): Promise<void> {
  const id = known[which]
  if (id === undefined) return
  assert.equal((await app.patch(`/api/notifications/${id}/read`, proof)).status, 204)
  assert.equal((await app.get(`/api/notifications/${id}`, proof)).json().data.read, true)
}

async function readAll(through: number | null, { known, proof }: World): Promise<void> {
  const bound = through === null ? undefined : known[through]
  const query = bound === undefined ? '' : `?through=${bound}`
  assert.equal(
    (await app.post(`/api/notifications/read-all${query}`, undefined, proof)).status,
    204,
  )
  const states = new Map((await app.everything(proof)).items.map(({ id, read }) => [id, read]))
  const reached = bound === undefined ? known : known.slice(known.indexOf(bound))
  for (const id of reached) assert.equal(states.get(id), true)
}

async function list(
  { limit, page }: { limit: number; page: number },
  { proof }: World,
): Promise<void> {
  const { items, total, hasMore, unread } = await app.list(proof, `?limit=${limit}&page=${page}`)
  assert.equal(hasMore, page * limit < total)
  assert.equal(items.length, Math.max(0, Math.min(limit, total - (page - 1) * limit)))
  assert.equal(new Set(items.map(({ id }) => id)).size, items.length)
  const displayed = items.filter(({ read }) => !read).length
  const hidden = total - items.length
  assert.ok(displayed <= unread && unread <= displayed + hidden)
}

async function count({ proof }: World): Promise<void> {
  const { data } = (await app.get('/api/notifications/counts', proof)).json()
  assert.ok(data.unread >= 0 && data.unread <= data.total)
  for (const { total, unread } of Object.values(data.categories) as {
    total: number
    unread: number
  }[])
    assert.ok(unread >= 0 && unread <= total)
}

async function isCountedRight(proof: Proof): Promise<void> {
  const items = (await app.everything(proof)).items as (Notification & {
    category: string | null
  })[]
  const recount = (of: typeof items) => ({
    total: of.length,
    unread: of.filter(({ read }) => !read).length,
  })
  const { total, unread } = await app.list(proof)
  assert.deepEqual({ total, unread }, recount(items))
  assert.deepEqual(
    (await app.everything(proof, '&status=unread')).items.map(({ id }) => id),
    items.filter(({ read }) => !read).map(({ id }) => id),
  )
  const { data } = (await app.get('/api/notifications/counts', proof)).json()
  const names = [...new Set(items.map(({ category }) => category))]
    .filter((name) => name !== null)
    .sort()
  assert.deepEqual(data, {
    ...recount(items),
    // Nothing was seen.
    unseen: items.length,
    archived: 0,
    snoozed: 0,
    categories: Object.fromEntries(
      names.map((name) => [name, recount(items.filter((item) => item.category === name))]),
    ),
  })
}

test('a notification that arrives while read-all runs is either read or unread, and counted as such', async () => {
  const [proofs, user] = await bothProofs()
  for (let round = 0; round < runs(10); round++) {
    const arriving = Array.from({ length: 12 }, (_, n) => send(user.id, categories[n % 3]))
    const reading = Array.from({ length: 3 }, (_, n) =>
      app.post('/api/notifications/read-all', undefined, proofs[n % 2] as Proof),
    )
    await Promise.all([...arriving, ...reading])
    await isCountedRight(proofs[1])
  }
})
