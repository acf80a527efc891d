// How many demonstrations there are, how long they last, and that nothing of them is left.
import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { Visitor } from '../../support/demonstration/visitor.ts'
import { CarillonProcess, Folder } from '../../support/processes/carillon-process.ts'
import { startTestService } from '../../support/service.ts'

/** The folders of the worlds of a process. */
function foldersOf(pid: number | undefined, parent = tmpdir()): string[] {
  return readdirSync(parent).filter((name) => name.startsWith('carillon-demonstration-') && name.includes(`-${pid}-`))
}

test('a world is gone after ten minutes without a request, and after an hour in any case (S16)', async (t) => {
  const app = await startTestService()
  t.after(() => app.stop())
  const [idle, busy] = [await Visitor.of(app), await Visitor.of(app)]
  for (let minutes = 9; minutes < 60; minutes += 9) {
    app.pass(9 * 60_000)
    assert.equal((await busy.send('visit')).status, 200, `after ${minutes} minutes`)
  }
  assert.equal((await idle.send('visit')).status, 404)
  app.pass(6 * 60_000)
  assert.equal((await busy.send('visit')).status, 404)
  assert.equal((await busy.session('routeRestreinte')).status, 404)
  assert.equal((await busy.start()).status, 201, 'the page can start again')
})

test('starting again replaces the world of the browser, whose old id and cookie lead nowhere', async (t) => {
  const app = await startTestService()
  t.after(() => app.stop())
  const visitor = await Visitor.of(app)
  const { id, cookie } = visitor
  assert.equal((await visitor.start()).status, 201)
  assert.notEqual(visitor.id, id)
  assert.equal(foldersOf(process.pid).length, 1)
  assert.equal((await app.get('/demonstration/visit', { cookie })).status, 404)
  const other = { 'carillon-visit': id, cookie: visitor.cookie }
  for (const path of ['service/routeRestreinte', 'visit', 'exchanges/1'])
    assert.equal((await app.get(`/demonstration/${path}`, other)).status, 404, 'another tab notices it')
})

test('if all places are taken, the response is 503 and says when to try again (S16)', async (t) => {
  const app = await startTestService()
  t.after(() => app.stop())
  const visitors = await Promise.all(Array.from({ length: 10 }, () => Visitor.of(app)))
  app.pass(60_000)
  const refused = await new Visitor(app).start()
  assert.equal(refused.status, 503)
  assert.equal(refused.headers.get('retry-after'), '540')
  assert.match(refused.text, /All 10 places .* Try again in 9 minutes/)
  assert.equal((await visitors[0]?.start())?.status, 201, 'a visitor who has a place can start again')
  app.pass(540_000)
  assert.equal((await new Visitor(app).start()).status, 201)
})

test('one address can try to start thirty demonstrations in ten minutes, and another one is not refused then (S16)', async (t) => {
  const app = await startTestService({ env: { CARILLON_TRUSTED_PROXIES: '127.0.0.1' } })
  t.after(() => app.stop())
  const from = (address: string) => new Visitor(app).start({ 'x-forwarded-for': address })
  for (let n = 0; n < 30; n++) assert.equal((await from('192.0.2.1')).status, n < 10 ? 201 : 503)
  const refused = await from('192.0.2.1')
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '600'])
  assert.equal((await from('192.0.2.2')).status, 503)
  app.pass(600_000)
  assert.equal((await from('192.0.2.1')).status, 201)
})

test('a world has 5,000 requests, with those of its controls: none of them lets its database grow without an end (S16)', async (t) => {
  const app = await startTestService()
  t.after(() => app.stop())
  const visitor = await Visitor.of(app)
  const body = JSON.stringify({ action: 'advance', seconds: 1 })
  const fields = { host: new URL(app.url).host, cookie: visitor.cookie, 'content-type': 'application/json' }
  const lines = Object.entries({ ...fields, 'content-length': body.length }).map((field) => field.join(': '))
  const advance = ['POST /demonstration/controls HTTP/1.1', ...lines, '', body].join('\r\n')
  const last = advance.replace('\r\n', '\r\nconnection: close\r\n')
  const responses = await app.raw(`${advance.repeat(4_998)}${last}`)
  assert.equal(responses.match(/HTTP\/1\.1 200 /g)?.length, 4_999)
  assert.equal((await visitor.session('routeRestreinte')).status, 401)
  assert.equal((await visitor.control('deliver', { title: 'one more' })).status, 429)
  assert.equal((await visitor.control('revoke')).status, 429)
  assert.equal((await visitor.session('routeRestreinte')).status, 429)
  assert.equal((await visitor.start()).status, 201)
  assert.equal((await visitor.control('deliver', { title: 'one more' })).status, 200)
})

test('worlds restart one after the other, so that other requests have their turn (S16)', async (t) => {
  const app = await startTestService()
  t.after(() => app.stop())
  const visitors = await Promise.all(Array.from({ length: 4 }, () => Visitor.of(app)))
  const from = performance.now()
  const restarts = await Promise.all(visitors.map((visitor) => visitor.control('restart')))
  const tookMs = performance.now() - from
  const each = restarts.map((response) => response.json().data.ms as number)
  const sum = each.reduce((total, ms) => total + ms, 0)
  assert.ok(sum <= tookMs + each.length, `${each} ms, all in ${tookMs} ms`)
  const [one] = visitors
  const both = await Promise.all([one?.control('restart'), one?.control('restart')])
  assert.deepEqual(both.map((response) => response?.status).sort(), [200, 503])
})

test('without the setting there is no demonstration, and no folder', async (t) => {
  const app = await startTestService({ env: { CARILLON_DEMONSTRATION: 'off' } })
  t.after(() => app.stop())
  const before = foldersOf(process.pid)
  for (const [method, path] of [
    ['POST', 'visits'],
    ['GET', 'visit'],
    ['GET', 'service/routeRestreinte'],
    ['POST', 'controls'],
  ] as const)
    assert.equal((await app.request(`/demonstration/${path}`, { method })).status, 404, path)
  assert.deepEqual(foldersOf(process.pid), before)
})

test('a service that is reached by another name than a loopback one has no demonstration by itself', async (t) => {
  for (const env of [{ CARILLON_ALLOWED_HOSTS: 'bell.example' }, { CARILLON_PUBLIC_URL: 'https://bell.example' }]) {
    const app = await startTestService({ env })
    t.after(() => app.stop())
    const headers = { host: 'bell.example' }
    assert.equal((await app.request('/demonstration/visits', { method: 'POST', headers })).status, 404)
    assert.equal((await app.get('/demonstration', headers)).status, 404)
  }
})

test('without CARILLON_DEMONSTRATION_TRACE no trace is made', async (t) => {
  const app = await startTestService({ env: { CARILLON_DEMONSTRATION_TRACE: 'off' } })
  t.after(() => app.stop())
  const visitor = await Visitor.of(app)
  assert.equal((await visitor.state()).hasTrace, false)
  const { trace, rows } = await visitor.exchange(await visitor.session('routeRestreinte'))
  assert.equal(trace, null)
  assert.equal(rows.after.length, 1)
})

test('the folder of a world can be read by the user of the process only; a stop removes it, and after a kill the next start (S16)', async () => {
  using folder = new Folder()
  using temporary = new Folder()
  const env = { TMPDIR: temporary.path }
  const visit = async ({ url }: CarillonProcess) => {
    const response = await fetch(`${url}/demonstration/visits`, { method: 'POST' })
    assert.equal(response.status, 201, await response.text())
  }
  const left = () => readdirSync(temporary.path).filter((one) => one.startsWith('carillon-demonstration-'))
  await using first = await CarillonProcess.ready(folder, { env })
  await visit(first)
  const [name = ''] = foldersOf(first.child.pid, temporary.path)
  assert.equal(statSync(join(temporary.path, name)).mode & 0o777, 0o700)
  await first.end('SIGTERM')
  assert.deepEqual(left(), [])
  await using killed = await CarillonProcess.ready(folder, { env })
  await visit(killed)
  await killed.end('SIGKILL')
  assert.equal(left().length, 1)
  await using off = await CarillonProcess.ready(folder, { env: { ...env, CARILLON_DEMONSTRATION: 'off' } })
  for (let waited = 0; waited < 600 && left().length > 0; waited++) await setTimeout(100)
  assert.deepEqual(left(), [], 'also if it is off since')
  await off.end('SIGTERM')
  await using last = await CarillonProcess.ready(folder, { env })
  await visit(last)
  assert.deepEqual(left(), foldersOf(last.child.pid, temporary.path))
  assert.equal((await last.end('SIGTERM')).status, 0)
  assert.deepEqual(left(), [])
})
