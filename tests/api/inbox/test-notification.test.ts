import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startTestService } from '../../support/service.ts'

test('while there is one user, that user gets ten test notifications an hour; with a second user the route is gone', async () => {
  const app = await startTestService()
  after(() => app.stop())
  const operator = await app.user('operator')
  const proof = await app.signIn(operator, 'stateful')
  const sendTest = () => app.post('/api/me/test-notification', undefined, proof)
  for (let n = 0; n < 10; n++) assert.equal((await sendTest()).status, 204)
  const refused = await sendTest()
  assert.equal(refused.status, 429)
  assert.ok(Number(refused.headers.get('retry-after')) > 0)
  assert.match(refused.text, /Too many messages\. Try again in 3600 s\./)
  const { items, unread } = await app.list(proof)
  assert.deepEqual([items[0]?.title, unread], ['It works', 10])
  app.pass(3_600_000)
  assert.equal((await sendTest()).status, 204)
  await app.user('second')
  assert.equal((await sendTest()).status, 404)
})

test('the inbox page has the first steps for the only user, and the sign-in page names no user', async () => {
  const app = await startTestService()
  after(() => app.stop())
  const operator = await app.user('operator')
  const proof = await app.signIn(operator, 'stateful')
  const page = async (path: string, headers = {}) =>
    app.get(path, { accept: 'text/html', ...headers })
  assert.match((await page('/inbox', proof)).text, /First steps/)
  for (const path of ['/', '/sign-in']) assert.doesNotMatch((await page(path)).text, /operator/)
  await app.user('second')
  assert.doesNotMatch((await page('/inbox', proof)).text, /First steps/)
})

test('/.well-known/change-password leads to the account page, and pages have their own process and few permissions', async () => {
  const app = await startTestService()
  after(() => app.stop())
  const { status, headers } = await app.request('/.well-known/change-password', {
    redirect: 'manual',
  })
  assert.deepEqual([status, headers.get('location')], [303, '/account#password'])
  const page = await app.get('/sign-in', { accept: 'text/html' })
  assert.equal(page.headers.get('cross-origin-opener-policy'), 'same-origin')
  assert.match(page.headers.get('permissions-policy') ?? '', /camera=\(\)/)
})
