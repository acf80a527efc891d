// `status` and `category`, alone and together, with pages by number and by cursor.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type Notification, type Proof, startTestService } from '../../support/service.ts'

const app = await startTestService()
after(() => app.stop())

const request = (proof: Proof, query: string) => app.get(`/api/notifications${query}`, proof)
const read = (proof: Proof, id: string | undefined) =>
  app.patch(`/api/notifications/${id}/read`, proof)
const titlesOf = (items: readonly Notification[]) => items.map(({ title }) => title)

/** "build 1", "chat 1", "1", "build 2" ... Those with the number 2 are read. */
async function reader() {
  const user = await app.user()
  const proof = await app.signIn(user, 'stateful')
  for (const number of [1, 2, 3])
    for (const category of ['build', 'chat', undefined]) {
      const title = category === undefined ? `${number}` : `${category} ${number}`
      const [id] = await app.deliver({ to: user, title, ...(category && { category }) })
      if (number === 2) await read(proof, id)
    }
  return { user, proof }
}

const lists: [query: string, titles: string[]][] = [
  ['?status=read', ['2', 'chat 2', 'build 2']],
  ['?category=build', ['build 3', 'build 2', 'build 1']],
  [
    '?category=chat&category=build',
    ['chat 3', 'build 3', 'chat 2', 'build 2', 'chat 1', 'build 1'],
  ],
  ['?category=build&category=build', ['build 3', 'build 2', 'build 1']],
  ['?category=build&status=unread', ['build 3', 'build 1']],
  ['?category=build&category=chat&status=read', ['chat 2', 'build 2']],
  ['?status=all&category=chat', ['chat 3', 'chat 2', 'chat 1']],
  ['?category=none', []],
  ['?category=none&category=build&status=read', ['build 2']],
]
test('status and category list what matches both, with the exact total, on pages by number and by cursor', async () => {
  const { proof } = await reader()
  for (const [query, titles] of lists) {
    const whole = await app.list(proof, query)
    assert.deepEqual(
      [titlesOf(whole.items), whole.total, whole.hasMore, whole.unread],
      [titles, titles.length, false, 6],
      query,
    )
    const byNumber: string[] = []
    for (let page = 1, hasMore = true; hasMore; page++) {
      const found = await app.list(proof, `${query}&limit=2&page=${page}`)
      byNumber.push(...titlesOf(found.items))
      assert.equal(found.total, titles.length)
      hasMore = found.hasMore
    }
    assert.deepEqual(byNumber, titles, query)
    const byCursor: string[] = []
    for (let next: string | null = '100'; next !== null; ) {
      const found = await app.list(proof, `${query}&limit=2&before=${next}`)
      byCursor.push(...titlesOf(found.items))
      assert.equal(found.hasMore, found.next !== null)
      next = found.next
    }
    assert.deepEqual(byCursor, titles, query)
    assert.deepEqual((await app.list(proof, `${query}&page=9`)).items, [], query)
  }
})

test('a list without a status has what is neither archived nor snoozed, and status=all everything', async () => {
  const { proof } = await reader()
  const plain = await request(proof, '')
  const all = await request(proof, '?status=all')
  assert.equal(all.text, plain.text)
  assert.equal(all.headers.get('etag'), plain.headers.get('etag'))
  const [first, second, ...others] = (await app.list(proof)).items
  await app.patch(`/api/notifications/${first?.id}/archive`, proof)
  const until = new Date(app.now() + 60_000).toISOString()
  await app.patch(`/api/notifications/${second?.id}/snooze`, proof, { until })
  assert.deepEqual(titlesOf((await app.list(proof)).items), titlesOf(others))
  assert.deepEqual(titlesOf((await app.list(proof, '?status=all')).items), [
    '3',
    'chat 3',
    ...titlesOf(others),
  ])
  for (const [status, title] of [
    ['archived', '3'],
    ['snoozed', 'chat 3'],
  ]) {
    const { items, total, unread } = await app.list(proof, `?status=${status}`)
    assert.deepEqual([titlesOf(items), total, unread], [[title], 1, 4])
  }
})

test('a filtered list has an ETag: 304 until the inbox changes', async () => {
  const { user, proof } = await reader()
  for (const query of ['?status=read', '?category=build&category=chat']) {
    const etag = (await request(proof, query)).headers.get('etag') ?? ''
    const again = () => app.get(`/api/notifications${query}`, { ...proof, 'if-none-match': etag })
    assert.equal((await again()).status, 304)
    await app.deliver({ to: user, title: 'new' })
    assert.equal((await again()).status, 200)
  }
})

test('a list with a filter is never sent for a list with another one', async () => {
  const { proof } = await reader()
  for (let round = 0; round < 2; round++)
    for (const [query, titles] of [
      ['', undefined],
      ['?status=unread', undefined],
      ...lists,
    ] as const) {
      const { items, total } = await app.list(proof, query)
      assert.equal(items.length, total, query)
      if (titles !== undefined) assert.deepEqual(titlesOf(items), titles, query)
      else assert.equal(total, query === '' ? 9 : 6)
    }
})

test('a category is compared as it was sent, whatever its characters', async () => {
  const user = await app.user()
  const proof = await app.signIn(user, 'stateless')
  const categories = [
    'a b',
    'é',
    'e\u0301',
    'a&category=b',
    'toString',
    'constructor',
    "' or 1=1 --",
    'a,b',
    '😀'.repeat(64),
    '%',
  ]
  for (const category of categories) await app.deliver({ to: user, title: category, category })
  for (const category of categories) {
    const { items, total } = await app.list(proof, `?category=${encodeURIComponent(category)}`)
    assert.deepEqual([titlesOf(items), total], [[category], 1])
  }
  assert.equal(
    (await app.list(proof, `?${new URLSearchParams(categories.map((one) => ['category', one]))}`))
      .total,
    10,
  )
})

const allowed = 'must be one of: unread, read, archived, snoozed, all'
const twenty = Array.from({ length: 20 }, (_, n) => `category=c${n}`).join('&')
const refused: [query: string, field: string, reason: string][] = [
  ['status=everything', 'status', allowed],
  ['status=Read', 'status', allowed],
  ['status=read&status=unread', 'query', 'contains a field twice'],
  ['category=', 'category', 'must have at least 1 character'],
  [`category=${'c'.repeat(65)}`, 'category', 'must have at most 64 characters'],
  [`${twenty}&category=c20`, 'category', 'must have at most 20 entries'],
  [`${twenty}&${twenty}`, 'query', 'contains more than 32 fields'],
  ['categories=build', 'categories', 'is not a known field'],
]
for (const [query, field, reason] of refused)
  test(`a list with ${query.slice(0, 40)} is refused: ${field} ${reason} (I6)`, async () => {
    const { proof } = await refusing
    const response = await request(proof, `?${query}`)
    assert.equal(response.status, 400)
    assert.deepEqual(response.json().error.details, [{ field, reason }])
  })
const refusing = reader()
