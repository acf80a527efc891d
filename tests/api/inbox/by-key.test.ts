// Producers change, withdraw and resolve by their own key (docs/inbox/repeats.md, "By key").
import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { DescribedApi, type Document } from '../../support/http/described-api.ts'
import { refusalIn } from '../../support/http/envelope.ts'
import { untilSo } from '../../support/processes/nodes.ts'
import { type Proof, startTestService, type TestUser } from '../../support/service.ts'

const app = await startTestService({ env: { CARILLON_INBOX_MAX: '1000' } })
after(() => app.stop())
const api = new DescribedApi((await app.get('/openapi.json')).json() as Document)

async function keyOf(application?: string): Promise<Proof> {
  return { authorization: `Bearer ${(await app.producerKey(['send'], null, application)).key}` }
}

const sender = await keyOf()

type Call = { method: 'PATCH' | 'DELETE' | 'POST'; key: string; body?: unknown; proof?: Proof }

/** Checks that the response is one of the description. */
async function call({ method, key, body, proof = sender }: Call) {
  const route = `/api/notifications/by-key/{key}${method === 'POST' ? '/resolve' : ''}`
  const headers = { ...proof, ...(body !== undefined && { 'content-type': 'application/json' }) }
  const path = route.replace('{key}', encodeURIComponent(key))
  const response = await app.request(path, {
    method,
    headers,
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  api.promises(api.find(method, route) ?? assert.fail(), response)
  return response
}

async function isDone(wanted: Call, inboxes: number): Promise<void> {
  const response = await call(wanted)
  assert.deepEqual([response.status, response.json()], [200, { success: true, data: { inboxes } }])
}

async function readerOf(users: readonly TestUser[]) {
  return Promise.all(users.map((user) => app.signIn(user, 'stateless')))
}

suite('by key', () => {
  test('an update brings no link into a Markdown body that a delivery may not have (C8)', async () => {
    const ann = await app.user()
    await app.deliver({
      to: ann,
      title: 'Order',
      body: '[a](https://u:p@bank.example)',
      key: 'markdown',
    })
    for (const [body, field] of [
      [{ body: '[a](javascript:alert)' }, 'body'],
      [{ body: { en: '[a](https://u:p@bank.example)' } }, 'body.en'],
      [{ format: 'markdown', body: '[a](javascript:alert)' }, 'body'],
      [{ format: 'markdown' }, 'body'],
    ] as const) {
      const response = await call({ method: 'PATCH', key: 'markdown', body })
      assert.deepEqual(
        [response.status, refusalIn(response).details?.[0]?.field],
        [400, field],
        JSON.stringify(body),
      )
    }
    for (const body of [
      { format: 'markdown', body: '[a](/orders/8)' },
      { body: '**Sent**' },
      { format: 'text', body: '[a](javascript:alert)' },
      { format: 'markdown', body: null },
    ])
      await isDone({ method: 'PATCH', key: 'markdown', body }, 1)
  })

  test('a withdrawal removes from every inbox, a resolution archives; then no inbox has the key', async () => {
    const users = [await app.user(), await app.user()]
    const [proof = {}] = await readerOf(users)
    await app.deliver({ to: users, title: 'Wrong', key: 'wrong' })
    await app.deliver({ to: users, title: 'Incident', key: 'incident' })
    await isDone({ method: 'POST', key: 'incident' }, 2)
    await isDone({ method: 'POST', key: 'incident' }, 2)
    await isDone({ method: 'DELETE', key: 'wrong' }, 2)
    assert.deepEqual((await app.list(proof)).items, [])
    assert.deepEqual(
      (await app.list(proof, '?status=archived')).items.map(({ title, read }) => [title, read]),
      [['Incident', true]],
    )
    const refusal = refusalIn(await call({ method: 'DELETE', key: 'wrong' }))
    assert.equal(refusal.code, 'NOT_FOUND')
    const { changes } = {
      changes: (await app.get('/api/notifications/changes?since=0', proof)).json().data,
    }
    assert.equal(changes.removed.length, 1)
  })

  test('a faulty update is refused as a whole, with each fault', async () => {
    const user = await app.user()
    const [proof = {}] = await readerOf([user])
    await app.deliver({ to: user, title: 'Stays', key: 'stays' })
    const faulty: [body: unknown, fields: string[]][] = [
      [{}, ['']],
      [{ title: null }, ['title']],
      [
        { title: 'x', url: 'javascript:alert(1)', expiresAt: '2020-01-01T00:00:00Z' },
        ['url', 'expiresAt'],
      ],
      [{ title: 'x', icon: { imageUrl: 'https://evil.example/a.png' } }, ['icon.imageUrl']],
      [{ data: { text: 'x'.repeat(9_000) } }, ['data']],
      [{ key: 'other' }, ['key']],
      [{ renotify: true }, ['renotify']],
      [{ recipients: [] }, ['recipients']],
    ]
    for (const [body, fields] of faulty) {
      const refused = await call({ method: 'PATCH', key: 'stays', body })
      const refusal = refusalIn(refused)
      assert.equal(refusal.code, 'INVALID_REQUEST', refused.text)
      const details = refusal.details?.map(({ field }: { field: string }) => field) ?? []
      if (fields[0] !== '') assert.deepEqual(details.sort(), fields.sort(), refused.text)
    }
    assert.equal((await call({ method: 'PATCH', key: 'stays', body: 'no JSON' })).status, 400)
    const [item] = (await app.list(proof)).items
    assert.equal(item?.title, 'Stays')
  })
})

test('what has expired leaves the inbox and the stream within five seconds, and what was snoozed comes back', async () => {
  const user = await app.user()
  const [proof = {}] = await readerOf([user])
  const expiresAt = new Date(app.now() + 60_000).toISOString()
  const [expiring = ''] = await app.deliver({ to: user, title: 'Expires', expiresAt })
  const [snoozed = ''] = await app.deliver({ to: user, title: 'Snoozed' })
  await app.request(`/api/notifications/${snoozed}/snooze`, {
    method: 'PATCH',
    headers: { ...proof, 'content-type': 'application/json' },
    body: JSON.stringify({ until: expiresAt }),
  })
  const { position } = (await app.get('/api/notifications/changes?since=0', proof)).json().data
  const waiting = app.get(`/api/notifications/changes?since=${position}&wait=20`, proof)
  app.pass(60_000)
  const took = await untilSo(
    async () => (await app.list(proof)).items.map(({ title }) => title).join() === 'Snoozed',
  )
  assert.ok(took < 5_000, `${took} ms`)
  const first = (await waiting).json().data
  const rest = first.hasMore || first.created.length + first.removed.length < 2
  const { created, removed } = rest
    ? (await app.get(`/api/notifications/changes?since=${position}`, proof)).json().data
    : first
  assert.deepEqual([created.map(({ id }: { id: string }) => id), removed], [[snoozed], [expiring]])
  const [item] = (await app.list(proof)).items
  assert.deepEqual([item?.read, item?.seq], [false, 3])
})
