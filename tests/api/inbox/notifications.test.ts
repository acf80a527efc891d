import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { newId } from '../../../server/basics/ids.ts'
import { type Notification, type Proof, startTestService } from '../../support/service.ts'

const app = await startTestService()
after(() => app.stop())

/** `ids` are newest first. */
async function reader(notifications = 0) {
  const user = await app.user()
  const ids: string[] = []
  for (let n = 1; n <= notifications; n++)
    ids.unshift(...(await app.deliver({ to: user, title: `No. ${n}` })))
  return { user, ids, proof: await app.signIn(user, 'stateful') }
}

const idsOf = (items: readonly Notification[]) => items.map(({ id }) => id)
const request = (proof: Proof, query: string) => app.get(`/api/notifications${query}`, proof)
const read = (proof: Proof, id: string | undefined) =>
  app.patch(`/api/notifications/${id}/read`, proof)
const readAll = (proof: Proof, query = '') =>
  app.post(`/api/notifications/read-all${query}`, undefined, proof)

const strict = await reader(3)

test('an inbox that never had a notification is empty', async () => {
  const { proof } = await reader()
  assert.deepEqual(await app.list(proof), {
    items: [],
    total: 0,
    hasMore: false,
    unread: 0,
    version: 0,
    next: null,
  })
  const counts = (await app.get('/api/notifications/counts', proof)).json()
  assert.deepEqual(counts, {
    success: true,
    data: { total: 0, unread: 0, unseen: 0, archived: 0, snoozed: 0, categories: {} },
  })
})

const refusedQueries: [string, string][] = [
  ['page=1&page=1', 'query'],
  ['limit=101', 'limit'],
  ['page[]=1', 'page[]'],
  ['status=everything', 'status'],
  ['Page=1', 'Page'],
  ['before=0', 'before'],
  ['page=1&before=2', 'before'],
  ['__proto__=1', 'query'],
  ['constructor=1', 'constructor'],
  ['page=%ff', 'query'],
  ...['0', '-1', '1.0', '1e3', '', '%20', '+1', '1%20', '01', '0x1', '٣'].map(
    (value): [string, string] => [`page=${value}`, 'page'],
  ),
]
test('a query that is not exactly as described is 400 and names the field (I6)', async () => {
  for (const [query, field] of refusedQueries) {
    const response = await request(strict.proof, `?${query}`)
    assert.equal(response.status, 400, query)
    const { code, details } = response.json().error
    assert.deepEqual(
      [code, details.map((fault: { field: string }) => fault.field)],
      ['INVALID_REQUEST', [field]],
      query,
    )
  }
})

test('each documented query is accepted (I6)', async () => {
  for (const [query, items] of [
    ['', 3],
    ['?', 3],
    ['?limit=100', 3],
    ['?page=%31&limit=%32', 2],
    ['?limit=2&page=2', 1],
    ['?status=unread', 3],
  ] as const)
    assert.equal((await app.list(strict.proof, query)).items.length, items, query)
})

test('an ETag gives 304 until the inbox changes', async () => {
  const { user, ids, proof } = await reader(2)
  const conditional = (etag: string) =>
    app.get('/api/notifications', { ...proof, 'if-none-match': etag })
  const changes = [
    () => read(proof, ids[0]),
    () => readAll(proof),
    () => app.deliver({ to: user, title: 'x', key: 'k' }),
    () => app.deliver({ to: user, title: 'y', key: 'k' }),
  ]
  for (const change of changes) {
    const fresh = await request(proof, '')
    const etag = fresh.headers.get('etag') ?? ''
    assert.match(etag, /^"[!#-~]+"$/)
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const response = await conditional(known)
      assert.deepEqual(
        [response.status, response.text, response.headers.get('etag')],
        [304, '', etag],
        known,
      )
    }
    for (const other of ['"other"', etag.slice(1, -1), `${etag}x`, ''])
      assert.equal((await conditional(other)).status, 200, other)
    await change()
    const changed = await conditional(etag)
    assert.equal(changed.status, 200)
    assert.notEqual(changed.headers.get('etag'), etag)
  }
})

test('another user’s ETag never gives 304, even if both inboxes have the same version', async () => {
  const ann = await reader(1)
  const bob = await reader(1)
  const anns = await request(ann.proof, '')
  const bobs = await request(bob.proof, '')
  assert.equal(anns.json().data.version, bobs.json().data.version)
  const response = await app.get('/api/notifications', {
    ...bob.proof,
    'if-none-match': anns.headers.get('etag') ?? '',
  })
  assert.equal(response.status, 200)
  assert.deepEqual(idsOf(response.json().data.items), bob.ids)
  const withoutProof = await app.get('/api/notifications', {
    'if-none-match': anns.headers.get('etag') ?? '',
  })
  assert.equal(withoutProof.status, 401)
})

test('text that is not an id is 404 like an unknown id, and the details say what an id looks like', async () => {
  const { ids, proof } = await reader(1)
  for (const id of ['1', '%20', `${ids[0]}x`, `${ids[0]}%0a`, ids[0]?.replaceAll('-', '')])
    for (const response of [
      await app.get(`/api/notifications/${id}`, proof),
      await read(proof, id),
    ]) {
      assert.deepEqual([response.status, response.json().error.code], [404, 'NOT_FOUND'], `${id}`)
      assert.equal(response.json().error.details[0].field, 'id')
    }
  assert.equal((await read(proof, newId(app.now()))).status, 404)
  const path = await app.get('/api/notifications/..%2fme', proof)
  assert.deepEqual(
    [path.status, path.json().error.details],
    [404, undefined],
    'an encoded slash is no route at all',
  )
  assert.equal((await app.list(proof)).unread, 1)
})

test('read-all?through=<id> marks what was on screen as read, and nothing that arrived later', async () => {
  const { ids, proof } = await reader(5)
  assert.equal((await readAll(proof, `?through=${ids[2]}`)).status, 204)
  const states = (await app.list(proof)).items.map((item) => item.read)
  assert.deepEqual(states, [false, false, true, true, true])
  const { unread, version } = await app.list(proof)
  assert.equal(unread, 2)
  // An older bound makes nothing unread again.
  assert.equal((await readAll(proof, `?through=${ids[4]}`)).status, 204)
  assert.equal((await app.list(proof)).version, version)
  assert.equal((await readAll(proof, `?through=${ids[0]?.toUpperCase()}`)).status, 204)
  assert.equal((await app.list(proof)).unread, 0)
})

test('read-all takes through or throughSeq, and a throughSeq from 1', async () => {
  const { proof } = await reader()
  const id = '01900000-0000-7000-8000-000000000000'
  for (const [query, field] of [
    [`through=${id}&throughSeq=1`, 'through'],
    ['throughSeq=0', 'throughSeq'],
    ['throughSeq=1.5', 'throughSeq'],
    ['throughSeq=', 'throughSeq'],
    ['category=', 'category'],
    [`category=${'x'.repeat(65)}`, 'category'],
  ] as const) {
    const response = await readAll(proof, `?${query}`)
    assert.equal(response.status, 400, query)
    assert.equal(response.json().error.details[0].field, field)
  }
})

test("read-all?through= another id than one of the caller's notifications marks nothing as read", async () => {
  const { proof } = await reader(2)
  assert.equal((await readAll(proof, `?through=${newId(app.now())}`)).status, 404)
  for (const query of [
    '?through=',
    '?through=1',
    '?through=x&through=y',
    '?until=1',
    '?through=%00',
  ]) {
    const response = await readAll(proof, query)
    assert.equal(response.status, 400, query)
    assert.ok(response.json().error.details[0].reason)
  }
  assert.equal((await app.list(proof)).unread, 2)
})
