// What running services do during a backup, a move and a maintenance, each of which is a command in another process.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type HttpResponse,
  type Proof,
  startTestService,
  type TestService,
  type TestUser,
} from '../../../tests/support/service.ts'
import { isSoak, soakTest } from '../../../tests/support/soak.ts'
import { readDatabaseUrl } from '../../config/database-url.ts'
import { recount } from '../../contract/random/random.ts'
import { newId, World } from '../../contract/world.ts'
import { openStore, usualPartitions } from '../../open-store.ts'
import { addToOutbox, claimOutbox, listOutbox } from '../../reach/outbox.store.ts'
import { newFolder } from '../sqlite/testing/folder.ts'
import { restoreBackup } from './backup.ts'
import { carillon } from './testing/command.ts'
import { checksumsAt, emptyPlace, engines, report } from './testing/filled.ts'

const secret = 'a secret of more than thirty-two characters'

async function serviceOn(t: TestContext, place: string): Promise<TestService> {
  const service = await startTestService({
    env: {
      CARILLON_DATABASE_URL: place,
      CARILLON_SECRET: secret,
      // All services issue and accept the same tokens.
      CARILLON_PUBLIC_URL: 'https://bell.example',
      // A use is noted every two seconds.
      CARILLON_SESSION_IDLE: '40s',
    },
  })
  t.after(() => service.stop())
  return service
}

async function proofsOf(service: TestService, user: TestUser) {
  return {
    cookie: await service.signIn(user, 'stateful'),
    token: await service.signIn(user, 'stateless'),
  }
}

const deliver = (service: TestService, key: string, { username }: TestUser) =>
  service.post(
    '/api/notifications',
    { recipients: [{ username }], title: 'Hi', category: 'c' },
    { authorization: `Bearer ${key}` },
  )

const signInStatus = async (service: TestService, user: TestUser, variant: string) =>
  (await service.post('/login', { ...user, id: undefined, variant })).status

/** Until `stop` is called, which returns all responses. */
function keepSending(ask: () => Promise<HttpResponse>) {
  const answers: HttpResponse[] = []
  let isGoingOn = true
  const going = (async () => {
    while (isGoingOn) {
      answers.push(await ask())
      await sleep(2)
    }
  })()
  const stop = async () => {
    isGoingOn = false
    await going
    return answers
  }
  return { answers, stop }
}

const idOf = (answer: HttpResponse): string => answer.json().data.results[0].id

const idsOf = async (service: TestService, proof: Proof) =>
  new Set((await service.everything(proof)).items.map(({ id }) => id))

async function movesUnderLoad(
  t: TestContext,
  { from, to }: { from: string; to: string },
): Promise<void> {
  const service = await serviceOn(t, from)
  const ann = await service.user('ann')
  const { key } = await service.producerKey()
  const { cookie, token } = await proofsOf(service, ann)
  let reads = 0
  const reading = keepSending(() =>
    service.get('/api/notifications', ++reads % 2 === 0 ? cookie : token),
  )
  const writing = keepSending(() => deliver(service, key, ann))
  while (writing.answers.length < 20) await sleep(5)
  const moved = await carillon(['move', '--json'], {
    CARILLON_DATABASE_URL: from,
    CARILLON_TARGET_URL: to,
  })
  assert.equal(moved.status, 0, moved.stderr)
  const written = [...(await writing.stop()), await deliver(service, key, ann)]
  const statuses = written.map(({ status }) => status)
  const firstRefused = statuses.indexOf(503)
  assert.ok(firstRefused > 0, 'writes were taken before, and refused from then on')
  assert.ok(statuses.slice(0, firstRefused).every((status) => status === 201))
  assert.ok(statuses.slice(firstRefused).every((status) => status === 503))
  const { json, headers } = written.at(-1) ?? assert.fail()
  assert.deepEqual([json().error.code, headers.get('retry-after')], ['UNAVAILABLE', '30'])
  assert.match(json().error.message, /^This database is being moved, and can only be read\. /)

  // The database refuses to record the use of the session, and the user notices nothing.
  service.pass(2_100)
  const answers = await reading.stop()
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  assert.equal((await service.get('/routeRestreinte', cookie)).status, 200)
  assert.equal((await service.get('/readyz')).status, 200)
  assert.equal((await service.post('/api/notifications/read-all', {}, token)).status, 503)
  for (const variant of ['stateful', 'stateless'])
    assert.equal(await signInStatus(service, ann, variant), 503)
  assert.equal((await service.post('/token/renew', {}, token)).status, 200)
  assert.equal((await service.post('/logout', {}, cookie)).status, 503)

  const acknowledged = new Set(written.slice(0, firstRefused).map(idOf))
  const next = await serviceOn(t, to)
  for (const proof of [cookie, token]) assert.deepEqual(await idsOf(next, proof), acknowledged)
  assert.equal((await deliver(next, key, ann)).status, 201)
}

for (const [from, to] of [
  ['sqlite', 'postgres'],
  ['postgres', 'sqlite'],
] as const)
  soakTest(
    `a move from ${from} to ${to} under load: reads work, writes get 503, and no acknowledged delivery is lost`,
    async (t) =>
      movesUnderLoad(t, { from: await emptyPlace(t, from), to: await emptyPlace(t, to) }),
  )

test('a backup under load has the state of one moment, and every row of it is restored (R11)', async (t) => {
  for (const engine of isSoak ? engines : (['sqlite'] as const)) {
    const place = await emptyPlace(t, engine)
    const service = await serviceOn(t, place)
    const ann = await service.user('ann')
    const { key } = await service.producerKey()
    const before = await Promise.all(Array.from({ length: 20 }, () => deliver(service, key, ann)))
    const writing = keepSending(() => deliver(service, key, ann))
    const file = join(await newFolder(t), 'backup')
    const { status, stderr } = await carillon(['backup', file], { CARILLON_DATABASE_URL: place })
    assert.equal(status, 0, stderr)
    const written = await writing.stop()
    assert.ok(written.every((answer) => answer.status === 201))

    const to = await emptyPlace(t, engine === 'sqlite' ? 'postgres' : 'sqlite')
    const target = { to: readDatabaseUrl(to), partitions: usualPartitions }
    const checksums = await restoreBackup({ file, report, ...target })
    assert.deepEqual(await checksumsAt(to), checksums)
    const { store } = await openStore(readDatabaseUrl(to))
    const { items } = await recount(await World.on(store), { ...ann, passwordHash: '' })
    await store.close()
    const kept = new Set(items.map((item) => item.id))
    assert.ok(
      before.every((answer) => kept.has(idOf(answer))),
      'what came before is in it',
    )
    // One after the other, so what is in it is the first of them.
    const inIt = written.map((answer) => kept.has(idOf(answer)))
    assert.deepEqual(inIt, [...inIt].sort().reverse())
  }
})

test('in maintenance every node serves reads and refuses writes, also after a restart, until the command ends it', async (t) => {
  for (const engine of isSoak ? engines : (['postgres'] as const)) {
    const place = await emptyPlace(t, engine)
    const first = await serviceOn(t, place)
    const nodes = engine === 'postgres' ? [first, await serviceOn(t, place)] : [first]
    const ann = await first.user('ann')
    const { key } = await first.producerKey()
    const { cookie, token } = await proofsOf(first, ann)
    const id = idOf(await deliver(first, key, ann))
    const env = { CARILLON_DATABASE_URL: place }
    const maintenance = async (...args: string[]) => {
      const ended = await carillon(['maintenance', ...args], env)
      assert.equal(ended.status, 0, ended.stderr)
      return ended.stdout
    }
    assert.equal(await maintenance(), 'The service accepts writes\n')
    await leaveClaimed(place, first.now())
    const onIn =
      /^The service can only be read since \S+Z: to end that, run carillon maintenance off\n$/
    assert.match(await maintenance('on'), onIn)
    assert.match(await maintenance('on'), onIn, 'a second call changes nothing')

    const isReadOnly = async (node: TestService) => {
      const { status, headers, json } = await deliver(node, key, ann)
      assert.deepEqual([status, headers.get('retry-after')], [503, '30'])
      assert.match(json().error.message, /^This service is in maintenance, and can only be read\. /)
      for (const proof of [cookie, token]) {
        assert.deepEqual(await idsOf(node, proof), new Set([id]))
        assert.equal((await node.get('/routeRestreinte', proof)).status, 200)
      }
      for (const variant of ['stateful', 'stateless'])
        assert.equal(await signInStatus(node, ann, variant), 503)
      assert.equal((await node.post('/logout', {}, cookie)).status, 503)
      assert.equal((await node.get('/readyz')).status, 200)
    }
    for (const node of nodes) await isReadOnly(node)
    await first.restart()
    await isReadOnly(first)
    assert.equal((await first.post('/token/renew', {}, token)).status, 200)
    const command = await carillon(['user', 'add', 'ben', '--password-stdin'], env)
    assert.deepEqual([command.status, command.stdout], [1, ''])
    const doctor = await carillon(['doctor', '--json'], { ...env, CARILLON_SECRET: secret })
    const findings: { check: string; state: string; change: string }[] = JSON.parse(
      doctor.stdout,
    ).findings
    const finding = findings.find(({ check }) => check === 'maintenance')
    assert.deepEqual(
      [finding?.state, finding?.change],
      ['warning', 'when it is done: npx carillon maintenance off'],
    )

    assert.equal(await maintenance('off'), 'The service accepts writes\n')
    assert.equal((await deliver(first, key, ann)).status, 201)
    assert.equal((await first.post('/logout', {}, cookie)).status, 204)
    const audit = await carillon(['audit', '--json'], env)
    const events = JSON.parse(audit.stdout).map(({ event }: { event: string }) => event)
    assert.deepEqual(
      events.filter((event: string) => event.startsWith('maintenance')),
      ['maintenance-began', 'maintenance-ended'],
    )
    for (const node of nodes) node.pass(11_000)
    while ((await first.store.read(listOutbox, { limit: 1 })).length > 0) await sleep(50)
  }
})

/** A push that a process was sending when it ended. Its subscription is gone, so it is removed when it is sent. */
async function leaveClaimed(place: string, at: number): Promise<void> {
  const { store } = await openStore(readDatabaseUrl(place))
  const holder = store.holder() ?? assert.fail('the store has no number')
  const row = { id: newId(), kind: 'push', channel: 'push', queue: 'push.example' } as const
  // No running process claims it before.
  const dueAt = at + 10_000
  await store.write(addToOutbox, { ...row, target: 'gone', ownerId: newId(), ids: '[]', dueAt, at })
  const places = [{ queue: row.queue, limit: 1 }]
  const claimed = await store.write(claimOutbox, { holder, channel: 'push', at: dueAt, places })
  assert.equal(claimed.length, 1)
  await store.close()
}
