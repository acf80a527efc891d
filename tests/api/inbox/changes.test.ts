// GET /api/notifications/changes (docs/inbox/live.md, "Without a stream").
import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { inboxTagOf, positionOf } from '../../../server/live/events.ts'
import { refusalIn } from '../../support/http/envelope.ts'
import {
  type Notification,
  type Proof,
  startTestService,
  type TestUser,
} from '../../support/service.ts'

/** It is longer than an idle connection stays open. */
const maxSeconds = process.env.SOAK === undefined ? 11 : 25
/** A response that is held by mistake comes later, even on a slow machine. */
const atOnceMs = 20_000
const path = '/api/notifications/changes'

const app = await startTestService()
after(() => app.stop())

type Changes = {
  reset?: true
  created: Notification[]
  changed: Notification[]
  readAlls: { through: string; readAt: string }[]
  removed: string[]
  total: number
  unread: number
  version: number
  position: string
  hasMore: boolean
}

async function send(to: TestUser, title: string, about?: string): Promise<string> {
  const [id = ''] = await app.deliver({ to, title, ...(about && { key: about }) })
  return id
}

async function request(proof: Proof, query: string): Promise<Changes> {
  const response = await app.get(`${path}?${query}`, proof)
  assert.equal(response.status, 200, response.text)
  assert.equal(response.headers.get('cache-control'), 'no-store')
  return response.json().data
}

test('a position that is too new, of another user, or of another history gets a reset (N3)', async () => {
  const ann = await app.user()
  const bob = await app.user()
  const proof = await app.signIn(ann, 'stateless')
  for (const user of [ann, bob]) for (const title of ['one', 'two']) await send(user, title)
  const own = positionOf(2, inboxTagOf(app.store.history, ann.id))
  const lost = [
    positionOf(2, inboxTagOf(app.store.history, bob.id)),
    positionOf(2, inboxTagOf('another history', ann.id)),
    positionOf(3, inboxTagOf(app.store.history, ann.id)),
    '3',
    '999999999999999',
  ]
  for (const since of lost)
    for (const more of ['', '&limit=1', '&wait=25']) {
      const from = performance.now()
      assert.deepEqual(await request(proof, `since=${since}${more}`), { reset: true })
      assert.ok(performance.now() - from < atOnceMs, 'the request was held')
    }
  assert.equal((await request(proof, `since=${own}`)).version, 2)
  assert.equal((await request(proof, 'since=0')).created.length, 2)
})

test('a `since` that is not a position, is missing or is sent twice, and a number out of range, is 400 with the field (I6)', async () => {
  const proof = await app.signIn(await app.user(), 'stateful')
  const long = '1'.repeat(4_000)
  const bad: [query: string, field: string][] = [
    ['', 'since'],
    ...['', 'x', '-1', '1e9', '5-zzzzzzzz', '99999999999999999999', '01', '1-', long].map(
      (text): [string, string] => [`since=${text}`, 'since'],
    ),
    ['since=1&since=1', 'query'],
    ['since=0&limit=101', 'limit'],
    ['since=0&wait=26', 'wait'],
    ['since=0&until=1', 'until'],
  ]
  for (const [query, field] of bad) {
    const response = await app.get(`${path}?${query}`, proof)
    assert.equal(response.status, 400, query)
    const { code, details = [] } = refusalIn(response)
    assert.equal(code, 'INVALID_REQUEST')
    assert.ok(
      details.some((fault) => fault.field === field),
      `${query}: ${response.text}`,
    )
  }
})

suite('held requests', { concurrency: true }, () => {
  const timed = async (proof: Proof, query: string) => {
    const from = performance.now()
    const changes = await request(proof, query)
    return { changes, ms: performance.now() - from }
  }

  test('a delivery ends every held request of its user at once', async () => {
    const ann = await app.user()
    const bob = await app.user()
    const proof = await app.signIn(ann, 'stateful')
    const held = Promise.all(Array.from({ length: 10 }, () => timed(proof, 'since=0&wait=25')))
    const bobs = timed(await app.signIn(bob, 'stateless'), 'since=0&wait=2')
    await sleep(500)
    const from = performance.now()
    const id = await send(ann, 'Hi')
    for (const { changes } of await held)
      assert.deepEqual(
        changes.created.map((item) => item.id),
        [id],
      )
    const ms = performance.now() - from
    assert.ok(ms < atOnceMs, `returned after ${ms} ms`)
    const none = await bobs
    assert.deepEqual([none.changes.created, none.changes.version], [[], 0])
    assert.ok(none.ms > 1_950 && none.ms < 2_000 + atOnceMs, `${none.ms} ms`)
  })

  test('mark read and mark all read end the wait too; an existing change, or wait=0, is not held', async () => {
    const ann = await app.user()
    const proof = await app.signIn(ann, 'stateful')
    const id = await send(ann, 'Hi')
    await send(ann, 'Ho')
    for (const [act, since] of [
      [() => app.patch(`/api/notifications/${id}/read`, proof), 2],
      [() => app.post('/api/notifications/read-all', undefined, proof), 3],
    ] as const) {
      const held = timed(proof, `since=${since}&wait=25`)
      await sleep(100)
      await act()
      const { changes, ms } = await held
      assert.equal(changes.version, since + 1)
      assert.ok(ms < atOnceMs, `${ms} ms`)
    }
    for (const query of ['since=0&wait=25', 'since=4', 'since=4&wait=0']) {
      const { ms } = await timed(proof, query)
      assert.ok(ms < atOnceMs, `${query}: ${ms} ms`)
    }
  })

  test(`after ${maxSeconds} s without a change the response is empty, and the connection stays usable`, async (t) => {
    const warnings: Error[] = []
    const onWarning = (warning: Error) => warnings.push(warning)
    process.on('warning', onWarning)
    t.after(() => process.off('warning', onWarning))
    const proof = await app.signIn(await app.user(), 'stateful')
    const { changes, ms } = await timed(proof, `since=0&wait=${maxSeconds}`)
    assert.deepEqual([changes.created, changes.version, changes.hasMore], [[], 0, false])
    assert.ok(ms > maxSeconds * 1_000 - 50 && ms < maxSeconds * 1_000 + atOnceMs, `${ms} ms`)
    assert.equal((await request(proof, 'since=0')).version, 0)
    assert.deepEqual(warnings, [])
  })
})
