import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { pino } from 'pino'
import { ready } from '../../../server/http/health.routes.ts'
import { usualCost } from '../../../server/passwords/passwords.ts'
import { startTestService } from '../../support/service.ts'

const written: string[] = []
const log = pino({ level: 'info', base: null }, { write: (line: string) => written.push(line) })
const app = await startTestService({
  hashCost: usualCost,
  log,
  env: { CARILLON_TRUSTED_PROXIES: '127.0.0.1' },
})
after(() => app.stop())
const ann = await app.user('ann')
const lines = () => written.map((line) => JSON.parse(line))

test('a flood of sign-ins writes a warning a second and no stack, and every refusal is counted (L1)', async () => {
  const started = performance.now()
  const responses = await Promise.all(
    Array.from({ length: 400 }, (_, n) =>
      app.post('/login', { username: `name ${n}`, password: 'x' }),
    ),
  )
  const seconds = Math.ceil((performance.now() - started) / 1_000) + 1
  await app.restart()
  const refused = responses.filter(({ status }) => status === 503)
  assert.ok(refused.length > 0, 'the queue was never full')
  for (const response of refused) {
    assert.equal(response.headers.get('retry-after'), '1')
    assert.equal(response.json().error.code, 'UNAVAILABLE')
  }
  const overload = lines().filter(({ event }) => event === 'overload')
  assert.equal(
    overload.reduce((sum, { count }) => sum + count, 0),
    refused.length,
  )
  assert.ok(overload.length <= seconds, `${overload.length} lines in ${seconds} s`)
  assert.deepEqual(
    lines().filter(({ level, err }) => level >= 50 || err !== undefined),
    [],
  )
  const wrong = lines().filter(({ event }) => event === 'sign-in-refused')
  assert.equal(
    wrong.reduce((sum, { count = 1 }) => sum + count, 0),
    responses.filter(({ status }) => status === 401 || status === 429).length,
  )
})

test('50 clients that disconnect while they wait cost no hash (A12)', async () => {
  // The limit on guesses has forgotten the failures of the test before.
  app.pass(24 * 3_600_000)
  written.length = 0
  const body = JSON.stringify({ username: 'ann', password: ann.password })
  const request = `POST /login HTTP/1.1\r\nHost: x\r\nAuthorization: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const { hostname, port } = new URL(app.url)
  const sockets = await Promise.all(
    Array.from({ length: 50 }, async () => {
      const socket = connect(Number(port), hostname)
      await new Promise((resolve) => socket.once('connect', resolve))
      return socket
    }),
  )
  for (const socket of sockets) socket.write(request)
  // After the first response the others wait in the queue.
  await Promise.race(
    sockets.map((socket) => new Promise((resolve) => socket.once('data', resolve))),
  )
  for (const socket of sockets) socket.destroy()
  assert.equal((await app.post('/login', { username: 'ann', password: ann.password })).status, 200)
  const signedIn = lines().filter(({ event }) => event === 'sign-in').length
  assert.ok(signedIn < 25, `${signedIn} of 50 were hashed all the same`)
  assert.deepEqual(
    lines().filter(({ event }) => event !== 'sign-in'),
    [],
  )
})

test('a 503 of /readyz is not logged as a failure (L1)', async () => {
  const dependencies = {
    store: app.store,
    readiness: { isReady: false, isKnown: false, askedAt: 0 },
  }
  const refusal = await ready
    .handle(dependencies as never, undefined as never, undefined as never)
    .catch((error: unknown) => error)
  const { status, report } = refusal as { status: number; report: string }
  assert.deepEqual([status, report], [503, 'nothing'])
})
