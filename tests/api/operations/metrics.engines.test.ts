import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Durations } from '../../../server/basics/counts.ts'
import { newId } from '../../../server/basics/ids.ts'
import { examineMetrics } from '../../../server/doctor/configuration.ts'
import { Drift } from '../../../server/metrics/drift.ts'
import { addTestMail } from '../../../server/reach/outbox.store.ts'
import { freePort } from '../../support/network/free-port.ts'
import { MailServer } from '../../support/network/mail-server.ts'
import { WebhookReceiver } from '../../support/network/webhook-receiver.ts'
import { untilSo } from '../../support/processes/nodes.ts'
import { startTestService } from '../../support/service.ts'

type Metrics = Readonly<Record<string, number>>

/** By `name{label="value"}`. */
async function read(url: string): Promise<Metrics> {
  const response = await fetch(url)
  const text = await response.text()
  assert.equal(response.status, 200, text)
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return Object.fromEntries(
    lines.map((line) => [line.replace(/ \S+$/, ''), Number(line.replace(/^.* /, ''))]),
  )
}

async function measured(env: Record<string, string> = {}) {
  const port = await freePort()
  const service = await startTestService({ env: { CARILLON_METRICS_PORT: String(port), ...env } })
  return { service, url: `http://127.0.0.1:${port}/metrics` }
}

test('the metrics count what was done, with labels of closed lists', async (t) => {
  const { service, url } = await measured()
  t.after(() => service.stop())
  const before = await read(url)
  const ann = await service.user()
  const proof = await service.signIn(ann, 'stateful')
  await service.post('/login', { username: ann.username, password: 'wrong' })
  // The client would send it twice: another tab may have a new cookie.
  await fetch(`${service.url}/api/notifications`)
  await service.get('/api/notifications', { authorization: 'Bearer made-up' })
  await service.get('/no/such/route')
  const [first = ''] = await service.deliver({ to: ann, title: 'One' })
  await service.deliver({ to: ann, title: 'Two' })
  const sender = { authorization: `Bearer ${(await service.producerKey()).key}` }
  const toNobody = { recipients: [{ username: 'nobody' }], title: 'Three' }
  assert.equal((await service.post('/api/notifications', toNobody, sender)).status, 422)
  await service.patch(`/api/notifications/${first}/read`, proof)
  await service.post('/api/notifications/read-all', undefined, proof)
  await service.post('/api/notifications/undo', undefined, proof)
  await service.list(proof)
  const after = await read(url)
  const risen = (name: string) => (after[name] ?? 0) - (before[name] ?? 0)
  const expected = {
    'carillon_sign_ins_total{method="password",outcome="accepted"}': 1,
    'carillon_sign_ins_total{method="password",outcome="refused"}': 1,
    'carillon_refused_proofs_total{reason="missing"}': 1,
    'carillon_refused_proofs_total{reason="token-not-valid"}': 1,
    'carillon_http_requests_total{route="none",method="any",status="4xx"}': 1,
    'carillon_http_requests_total{route="/api/notifications",method="GET",status="4xx"}': 2,
    'carillon_http_requests_total{route="/api/notifications",method="GET",status="2xx"}': 1,
    'carillon_http_request_duration_seconds_count{route="/api/notifications",method="POST"}': 3,
    'carillon_http_request_duration_seconds_bucket{le="+Inf",route="/api/notifications",method="POST"}': 3,
    'carillon_deliveries_total{outcome="delivered"}': 2,
    'carillon_deliveries_total{outcome="refused"}': 1,
    'carillon_delivery_recipients_total{outcome="delivered"}': 2,
    'carillon_delivery_recipients_total{outcome="unknown_recipient"}': 1,
    'carillon_inbox_acts_total{act="read"}': 1,
    'carillon_inbox_acts_total{act="read-all"}': 1,
    'carillon_inbox_acts_total{act="undo"}': 1,
    carillon_bulk_steps_total: 2,
  }
  // A histogram names its labels in the order in which prom-client writes them.
  const found = Object.fromEntries(
    Object.keys(expected).map((name) => [name, risen(sameLabels(after, name))]),
  )
  assert.deepEqual(found, expected)
  assert.equal(after.carillon_database_up, 1)
  assert.ok((after.carillon_commit_duration_seconds_count ?? 0) > 0)
  assert.ok(
    (after.carillon_writes_total ?? 0) >= (after.carillon_commit_duration_seconds_count ?? 0),
  )
  assert.ok((after.nodejs_eventloop_lag_seconds ?? -1) >= 0)
  assert.ok(after.carillon_signing_key_age_seconds !== undefined)
})

test('what leaves, and the timers before it, are counted by channel and outcome', async (t) => {
  const mails = await MailServer.start()
  t.after(() => mails.stop())
  const receiver = await WebhookReceiver.start()
  t.after(() => receiver.stop())
  receiver.answer = (_, response) => response.writeHead(500).end()
  const env = { CARILLON_SMTP_URL: mails.url, CARILLON_OUTBOUND_PRIVATE: 'on' }
  const { service, url } = await measured(env)
  t.after(() => service.stop())
  const before = await read(url)
  const at = service.now()
  await service.store.write(addTestMail, { id: newId(at), target: 'ann@example.org', at })
  const { key } = await service.producerKey(['send', 'users', 'webhooks'], null, 'shop')
  const proof = { authorization: `Bearer ${key}` }
  const webhook = { url: receiver.url, events: ['notification.created'] }
  assert.equal((await service.post('/api/webhooks', webhook, proof)).status, 201)
  const sent = { recipients: [{ externalId: 'customer' }], title: 'One' }
  assert.equal((await service.post('/api/notifications', sent, proof)).status, 201)
  const expected = [
    'carillon_outbox_total{channel="mail",outcome="sent"}',
    'carillon_outbox_total{channel="webhook",outcome="failed"}',
    'carillon_timers_total{channel="webhook",outcome="queued"}',
  ]
  await untilSo(async () => {
    const after = await read(url)
    return expected.every((name) => (after[name] ?? 0) - (before[name] ?? 0) === 1)
  })
})

/** Labels may have any order. */
function sameLabels(metrics: Metrics, name: string): string {
  const parts = (text: string) => (text.match(/[^{},]+/g) ?? []).sort().join()
  return Object.keys(metrics).find((one) => parts(one) === parts(name)) ?? name
}

test('the listener of the metrics has no other route, and refuses another host, another method and a missing token', async (t) => {
  const token = 'five small boats on a quiet lake at noon'
  const { service, url } = await measured()
  t.after(() => service.stop())
  const { service: closed, url: closedUrl } = await measured({ CARILLON_METRICS_TOKEN: token })
  t.after(() => closed.stop())
  const statusOf = async (at: string, init: RequestInit = {}) => (await fetch(at, init)).status
  assert.equal(await statusOf(url.replace('/metrics', '/')), 404)
  assert.equal(await statusOf(url.replace('/metrics', '/login')), 404)
  assert.equal(await statusOf(url, { method: 'POST', body: 'x' }), 405)
  assert.equal(await statusOf(closedUrl), 401)
  assert.equal(await statusOf(closedUrl, { headers: { authorization: 'Bearer wrong' } }), 401)
  assert.equal(await statusOf(closedUrl, { headers: { authorization: `Bearer ${token}` } }), 200)
  assert.match(await rawStatus(url, 'evil.example'), /^HTTP\/1.1 421 /)
  assert.match(await rawStatus(url, 'localhost:1'), /^HTTP\/1.1 200 /)
  for (const at of [url, closedUrl])
    assert.deepEqual(await examineMetrics(at.replace('/metrics', '')), [])
  // The service itself publishes nothing.
  assert.equal((await service.get('/metrics')).status, 404)
})

async function rawStatus(url: string, host: string): Promise<string> {
  const { port } = new URL(url)
  const { promise, resolve } = Promise.withResolvers<string>()
  const socket = connect(Number(port), '127.0.0.1', () =>
    socket.write(`GET /metrics HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`),
  )
  socket.once('data', (chunk: Buffer) => resolve(chunk.toString().split('\r\n')[0] ?? ''))
  socket.on('error', () => {})
  return promise.finally(() => socket.destroy())
}

test('a taken port of the metrics refuses the start with the setting to change, and leaves the service stopped', async (t) => {
  const port = await freePort()
  const other = createServer().listen(port, '127.0.0.1')
  t.after(() => other.close())
  other.on('connection', (socket) => socket.destroy())
  await assert.rejects(
    startTestService({ env: { CARILLON_METRICS_PORT: String(port) } }),
    /127\.0\.0\.1:\d+ is taken by another program.*CARILLON_METRICS_PORT/,
  )
  const [found] = await examineMetrics(`http://127.0.0.1:${port}`)
  assert.deepEqual([found?.check, found?.state], ['metrics', 'fault'])
  other.close()
  await once(other, 'close')
  assert.deepEqual(await examineMetrics(`http://127.0.0.1:${port}`), [])
})

test('a recount finds an inbox whose counters differ from its rows', async (t) => {
  const { service } = await measured()
  t.after(() => service.stop())
  const lines: object[] = []
  const log = { error: (fields: object) => lines.push(fields) } as never
  const drift = new Drift({ store: service.store, log, now: service.now, random: () => 0 })
  t.after(() => drift.end())
  const ann = await service.user()
  const ben = await service.user()
  const proof = await service.signIn(ann, 'stateful')
  const ids = await service.deliver({ to: [ann, ben], title: 'One', category: 'builds' })
  await service.deliver({ to: [ann, ben], title: 'Two', category: 'builds' })
  await service.patch(`/api/notifications/${ids[0]}/archive`, proof)
  await drift.check()
  assert.deepEqual([drift.checked, drift.found, lines], [2, 0, []])
  await service.database.change('update inbox set unread = unread + 1 where archived = 1')
  // The reads of one turn share a read transaction.
  await nextTurn()
  await drift.check()
  assert.equal(drift.found, 1)
  assert.deepEqual(lines, [
    { event: 'counters-differ', userId: ann.id, counters: ['unread 2, found 1'] },
  ])
})

test('a duration is in the first bucket whose bound it does not exceed', () => {
  const durations = new Durations()
  for (const ms of [0.2, 1, 1.1, 5_000, 6_000]) durations.add(ms)
  assert.deepEqual(durations.buckets, [2, 1, 0, 0, 0, 0, 0, 0, 0, 1])
  assert.equal(durations.count, 5)
})
