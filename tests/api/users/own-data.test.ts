// GET /api/me/export and DELETE /api/me: a signed-in user takes all data along, and erases the account.
import assert from 'node:assert/strict'
import { get } from 'node:http'
import { after, test } from 'node:test'
import { listAudit } from '../../../server/audit/audit.store.ts'
import { replaceOperation } from '../../../server/store/testing/operations.ts'
import { erasedKey } from '../../../server/tokens/tokens.store.ts'
import { notificationsAfter } from '../../../server/users/own-data/export.store.ts'
import { findUser } from '../../../server/users/users.store.ts'
import { refusalIn } from '../../support/http/envelope.ts'
import { type Proof, startTestService, variants } from '../../support/service.ts'

const app = await startTestService()
after(() => app.stop())

const erase = (proof: Proof = {}) => app.request('/api/me', { method: 'DELETE', headers: proof })

for (const variant of variants)
  test(`a user downloads everything as lines, ${variant}`, async () => {
    const ann = await app.user()
    const proof = await app.signIn(ann, variant)
    const [id] = await app.deliver({ to: [ann, await app.user()], title: 'Zwölf "Reiher"\n', data: { n: 1 } })
    const response = await app.get('/api/me/export', proof)
    assert.equal(response.status, 200, response.text)
    assert.equal(response.headers.get('content-type'), 'application/x-ndjson')
    assert.equal(response.headers.get('content-disposition'), 'attachment; filename="carillon-export.jsonl"')
    assert.equal(response.headers.get('cache-control'), 'no-store')
    const lines = response.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    const [{ type, id: userId }] = lines
    assert.deepEqual([type, userId], ['user', ann.id])
    assert.ok(lines.some((line) => line.type === 'activity' && line.event === 'sign-in'))
    const sent = lines.filter((line) => line.type === 'notification')
    assert.deepEqual(sent, [
      { type: 'notification', ...(await app.get(`/api/notifications/${id}`, proof)).json().data },
    ])
    const head = await app.request('/api/me/export', { method: 'HEAD', headers: proof })
    assert.deepEqual([head.status, head.text], [200, ''])
  })

test('the export and the erasure need a user’s own sign-in: no token for the inbox, and no producer key', async () => {
  const ann = await app.user()
  const { key } = await app.producerKey(['users', 'send'])
  for (const [proof, code] of [
    [{}, 'UNAUTHORIZED'],
    [{ authorization: `Bearer ${key}` }, 'UNAUTHORIZED'],
    [await app.issueToken(ann), 'FORBIDDEN'],
  ] as const) {
    assert.equal(refusalIn(await app.get('/api/me/export', proof)).code, code)
    assert.equal(refusalIn(await erase(proof)).code, code)
  }
  assert.match(refusalIn(await erase(await app.issueToken(ann))).message, /not one by your application/)
  assert.ok(await app.store.read(findUser, ann.id))
})

test('a browser whose sign-in has ended gets a page in place of the export, and no file', async () => {
  const response = await app.get('/api/me/export', { accept: 'text/html' })
  assert.deepEqual([response.status, response.headers.get('content-type')], [401, 'text/html; charset=utf-8'])
  assert.equal(response.headers.get('content-disposition'), null)
})

test('the export ends reading when the client is gone', async () => {
  const ann = await app.user()
  const proof = await app.signIn(ann, 'stateful')
  for (let n = 0; n < 4; n++) await Promise.all(Array.from({ length: 75 }, () => app.deliver({ to: ann, title: 'Hi' })))
  const [gone, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let reads = 0
  const restore = replaceOperation(app.store, notificationsAfter, async (_, run) => {
    if (++reads === 2) {
      held.resolve()
      await gone.promise
    }
    return run()
  })
  const request = get(`${app.url}/api/me/export`, { headers: proof })
  request.on('error', () => {}).on('response', (response) => response.resume())
  await held.promise
  const closed = new Promise((resolve) => request.on('close', resolve))
  request.destroy()
  await closed
  // The service learns of the end before it responds to a later request.
  await app.get('/livez')
  gone.resolve()
  await app.get('/api/me', proof)
  assert.equal(reads, 2)
  restore?.()
})

for (const variant of variants)
  test(`a user erases the account: the cookie is cleared, every proof ends, and nobody else loses anything, ${variant}`, async () => {
    const [ann, ben] = [await app.user(), await app.user()]
    const [proof, other, bens] = [
      await app.signIn(ann, variant),
      await app.signIn(ann, 'stateful'),
      await app.signIn(ben, 'stateful'),
    ]
    await app.deliver({ to: [ann, ben], title: 'For both' })
    const response = await erase(proof)
    assert.deepEqual([response.status, response.text], [204, ''])
    const cookies = response.headers.getSetCookie()
    if (variant === 'stateful') assert.match(cookies[0] ?? '', /^carillon=; .*Max-Age=0/)
    else assert.deepEqual(cookies, [])
    for (const ended of [proof, other]) assert.equal((await app.get('/api/me', ended)).status, 401)
    assert.equal((await erase(proof)).status, 401)
    const { username, password } = ann
    assert.equal((await app.post('/login', { username, password })).status, 401)
    assert.equal(await app.store.read(findUser, ann.id), undefined)
    assert.equal((await app.get('/api/notifications/counts', bens)).json().data.total, 1)
    const entries = await app.store.read(listAudit, { actor: 'user', limit: 100 })
    const erased = entries.find(({ detail }) => detail?.user === erasedKey(ann.id))
    const { event, userId, address, userAgent } = erased ?? {}
    assert.deepEqual([event, userId, address, userAgent], ['user-erased', null, null, null])
  })

test('ten minutes after the sign-in, the account is erased only after a confirmation', async () => {
  const ann = await app.user()
  const proof = await app.signIn(ann, 'stateful')
  app.pass(10 * 60_000 + 1)
  assert.equal(refusalIn(await erase(proof)).code, 'FRESH_SIGN_IN_REQUIRED')
  assert.equal((await app.get('/api/me/export', proof)).status, 200)
  const confirmed = await app.post('/api/me/confirm', { password: ann.password }, proof)
  assert.equal(confirmed.status, 204, confirmed.text)
  assert.equal((await erase(proof)).status, 204)
})

test('of two erasures at the same time both end with the account erased, and none with a failure', async () => {
  const ann = await app.user()
  const [one, other] = [await app.signIn(ann, 'stateful'), await app.signIn(ann, 'stateless')]
  const statuses = (await Promise.all([erase(one), erase(other)])).map(({ status }) => status)
  assert.deepEqual(statuses.toSorted(), [204, 401])
})

test('the last user can leave, too', async () => {
  const own = await startTestService()
  try {
    const headers = await own.signIn(await own.user(), 'stateful')
    assert.equal((await own.request('/api/me', { method: 'DELETE', headers })).status, 204)
  } finally {
    await own.stop()
  }
})
