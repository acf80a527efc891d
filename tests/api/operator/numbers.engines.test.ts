// The numbers of each hour: what the service counted is what the page /operator gets, once, from every node (O1).
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { addHourly } from '../../../server/metrics/hourly.store.ts'
import { HourlyNumbers } from '../../../server/metrics/hourly.ts'
import { growthOf, seriesOf } from '../../../server/metrics/series.ts'
import { setRole } from '../../../server/users/access/roles.store.ts'
import { EventReader } from '../../support/event-source/event-source.ts'
import { untilSo } from '../../support/processes/nodes.ts'
import { startTestService } from '../../support/service.ts'

const app = await startTestService()
after(() => app.stop())
const boss = await app.user('boss')
await app.store.write(setRole, { userId: boss.id, role: 'operator' })
const proof = await app.signIn(boss, 'stateful')
const hourMs = 3_600_000
const hourOf = (at: number) => Math.floor(at / hourMs)

type Numbers = { points: Record<string, number | null>[]; marks: { kind: string }[] }

async function numbers(range: string): Promise<Numbers> {
  app.pass(10_000)
  const response = await app.get(`/api/operator/numbers?range=${range}`, proof)
  assert.equal(response.status, 200, response.text)
  return response.json().data
}

const last = (found: Numbers, name: string) => found.points.at(-1)?.[name] ?? 0

test('sign-ins, deliveries and requests are in the numbers of this hour and of this day, each once', async () => {
  const before = await numbers('day')
  const ann = await app.user('ann-of-numbers')
  await app.signIn(ann, 'stateful')
  await app.post('/login', { username: ann.username, password: 'wrong' })
  await app.deliver({ to: ann, title: 'One' })
  await app.deliver({ to: ann, title: 'Two' })
  await app.get('/no/such/route')
  const found = await numbers('day')
  const risen = (name: string) => last(found, name) - last(before, name)
  assert.deepEqual(['accepted', 'refused', 'deliveries', 'rejected'].map(risen), [1, 1, 2, 2])
  assert.ok(last(found, 'databaseMib') > 0)
  const { outbox } = found.points.at(-1) ?? {}
  assert.deepEqual([outbox, found.points[0]?.outbox], [0, null], 'null before the service ran')
  assert.ok(last(found, 'deliveryP99Ms') > 0)
  assert.equal(last(await numbers('month'), 'deliveries'), last(found, 'deliveries'))
  assert.deepEqual([found.points.length, (await numbers('month')).points.length], [24, 30])
  assert.ok(found.marks.some(({ kind }) => kind === 'start'))
})

test('without a change nothing is written', async () => {
  const none = () => 0
  const hourly = new HourlyNumbers({
    store: app.store,
    wall: app.now,
    requests: undefined,
    streamsOpen: none,
    hashesWaiting: none,
  })
  await hourly.write()
  const { written } = app.store.numbers()
  await hourly.write()
  assert.equal(app.store.numbers().written, written)
})

test('refused sign-ins are in the hour and under the address that they came from', async () => {
  const dan = await app.user('dan-of-attacks')
  await app.post('/login', { username: dan.username, password: 'wrong' })
  await numbers('day')
  const { hours, addresses } = (await app.get('/api/operator/attacks', proof)).json().data
  assert.equal(hours.length, 1)
  assert.ok(hours[0].refusals >= 1)
  assert.equal(Date.parse(hours[0].at), hourOf(app.now()) * hourMs)
  assert.equal(addresses[0].address, '127.0.0.1')
})

test('who holds the most streams is named, and the end of the sign-ins ends them', async () => {
  const eve = await app.user('eve-of-streams')
  const headers = await app.signIn(eve, 'stateful')
  using first = await EventReader.open(app.url, { headers })
  using second = await EventReader.open(app.url, { headers })
  await Promise.all([first, second].map((reader) => reader.next('hello')))
  const most = async () => (await app.get('/api/operator/now', proof)).json().data.mostStreams
  assert.deepEqual(await most(), [{ userId: eve.id, name: eve.username, streams: 2 }])
  await app.delete(`/api/operator/users/${eve.id}/sessions`, proof)
  await untilSo(async () => (await most()).length === 0)
})

test('a range that is none is refused', async () => {
  assert.equal((await app.get('/api/operator/numbers?range=year', proof)).status, 400)
})

test('the disk is full when the line through the sizes of the days reaches its end', async () => {
  const now = app.now()
  const sizes = Array.from({ length: 20 }, (_, day) => {
    return {
      name: 'database-mib',
      hour: hourOf(now) - 24 * (19 - day),
      count: 0,
      max: 1_000 + 10 * day,
    }
  })
  await app.store.write(addHourly, sizes)
  const month = await seriesOf(app.store, 'month', now)
  const growth = growthOf(month, { now, freeBytes: 500 * 2 ** 20 })
  assert.deepEqual(growth, { kibPerDay: 10_240, fullAt: now + 50 * 24 * hourMs })
  assert.equal(growthOf(month, { now, freeBytes: null }).fullAt, null)
  assert.equal(growthOf(month, { now, freeBytes: 2 ** 52 }).fullAt, null, 'no date can say it')
})
