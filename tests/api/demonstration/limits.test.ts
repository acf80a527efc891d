import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { demonstrationHere } from '../../support/demonstration/demonstration-here.ts'
import { startTestService } from '../../support/service.ts'

async function here(t: TestContext) {
  const demonstration = await demonstrationHere()
  t.after(() => demonstration.stop())
  return demonstration
}

test('a world is gone after ten minutes without a request, and stays as long as it is used (S16)', async (t) => {
  const demonstration = await here(t)
  const idle = await demonstration.from('192.0.2.1').again()
  const busy = await demonstration.from('192.0.2.2').again()
  for (let minutes = 9; minutes < 60; minutes += 9) {
    demonstration.pass(9 * 60_000)
    assert.equal((await busy.send('visit')).status, 200, `after ${minutes} minutes`)
  }
  assert.equal((await idle.send('visit')).status, 404)
  demonstration.pass(600_000)
  assert.equal((await busy.session('routeRestreinte')).status, 404)
  assert.equal((await busy.start()).status, 201, 'the page can start again')
})

test('starting again replaces the world of the browser, whose old id and cookie lead nowhere', async (t) => {
  const demonstration = await here(t)
  const visitor = await demonstration.from('192.0.2.1').again()
  const { id, cookie } = visitor
  assert.equal((await visitor.start()).status, 201)
  assert.notEqual(visitor.id, id)
  assert.equal(readdirSync(demonstration.folder).length, 1)
  assert.equal((await visitor.send('visit', { headers: { cookie } })).status, 404)
  for (const path of ['service/routeRestreinte', 'visit', 'exchanges/1'])
    assert.equal(
      (await visitor.send(path, { headers: { 'carillon-visit': id } })).status,
      404,
      'another tab notices it',
    )
})

test('one address can have every place; if all are taken, the response is 503 and says when to try again (S16)', async (t) => {
  const demonstration = await here(t)
  const start = () => demonstration.from('192.0.2.1').start()
  const started = await Promise.all(Array.from({ length: 12 }, start))
  assert.deepEqual(
    started.map(({ status }) => status).toSorted(),
    [...Array.from({ length: 10 }, () => 201), 503, 503],
    'those that start at the same time are counted, too',
  )
  demonstration.pass(60_000)
  const refused = await start()
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '540'])
  assert.match(refused.text, /All 10 places .* Try again in 9 minutes/)
  demonstration.pass(540_000)
  assert.equal((await start()).status, 201)
})

test('a world has 5,000 requests, with those of its controls: none of them lets its database grow without an end (S16)', async (t) => {
  const demonstration = await here(t)
  const visitor = await demonstration.from('192.0.2.1').again()
  const token = await visitor.signIn()
  const waiting = (seconds: number) =>
    Promise.all(Array.from({ length: 99 }, () => visitor.control('advance', { seconds })))
  for (let n = 0; n < 50; n++) assert.ok((await waiting(1)).every(({ status }) => status === 200))
  assert.equal((await visitor.session('routeRestreinte')).status, 200)
  assert.ok((await waiting(1)).some(({ status }) => status === 429))
  assert.equal((await visitor.control('deliver', { title: 'one more' })).status, 429)
  assert.equal((await visitor.session('routeRestreinte')).status, 429)
  assert.equal((await visitor.without('other-server/me', token)).status, 429)
  assert.equal((await visitor.start()).status, 201)
  assert.equal((await visitor.control('deliver', { title: 'one more' })).status, 200)
})

test('the folder of a world can be read by the user of the process only, and a stop removes it (S16)', async () => {
  const demonstration = await demonstrationHere()
  await demonstration.from('192.0.2.1').again()
  const [name = ''] = readdirSync(demonstration.folder)
  assert.equal(statSync(join(demonstration.folder, name)).mode & 0o777, 0o700)
  await demonstration.stop()
  assert.throws(() => readdirSync(demonstration.folder), /ENOENT/)
})

test('without the setting there is no demonstration', async (t) => {
  const app = await startTestService({ env: { CARILLON_DEMONSTRATION: 'off' } })
  t.after(() => app.stop())
  for (const [method, path] of [
    ['POST', 'visits'],
    ['GET', 'visit'],
    ['GET', 'service/routeRestreinte'],
    ['POST', 'controls/outage'],
  ] as const)
    assert.equal((await app.request(`/demonstration/${path}`, { method })).status, 404, path)
})

test('a service that is reached by another name than a loopback one has no demonstration by itself', async (t) => {
  for (const env of [
    { CARILLON_ALLOWED_HOSTS: 'bell.example' },
    { CARILLON_PUBLIC_URL: 'https://bell.example' },
  ]) {
    const app = await startTestService({ env })
    t.after(() => app.stop())
    const headers = { host: 'bell.example' }
    assert.equal(
      (await app.request('/demonstration/visits', { method: 'POST', headers })).status,
      404,
    )
    assert.equal((await app.get('/demonstration', headers)).status, 404)
  }
})
