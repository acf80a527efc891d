// The changes since a place (docs/guide.md, "Without a stream"): paged to the end they are the list, held until there is
// something to tell, and refused or reset where the place is none.
import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { inboxTagOf, positionOf } from '../../../server/inbox/live/position.ts'
import { randomOf } from '../../support/event-source/random.ts'
import { DescribedApi, type Document } from '../../support/http/described-api.ts'
import { refusalIn } from '../../support/http/envelope.ts'
import { type Notification, type Proof, startTestService, type TestUser, variants } from '../../support/service.ts'

const rounds = process.env.SOAK === undefined ? 40 : 1_000
/** The longest there is; everyday still longer than a connection may usually be idle. */
const maxSeconds = process.env.SOAK === undefined ? 11 : 25
/** What is answered at once is answered sooner than this, on a slow machine too; what is held by mistake is held for longer. */
const atOnceMs = 20_000
const path = '/api/notifications/changes'

const app = await startTestService()
after(() => app.stop())
const api = new DescribedApi((await app.get('/openapi.json')).json() as Document)
const described = api.find('GET', path) ?? assert.fail()

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

/** What is answered is what is described, whatever it is. */
async function request(proof: Proof, query: string): Promise<Changes> {
  const response = await app.get(`${path}?${query}`, proof)
  assert.equal(response.status, 200, response.text)
  api.promises(described, response)
  assert.equal(response.headers.get('cache-control'), 'no-store')
  return response.json().data
}

/** A copy of an inbox that is kept by asking again and again, so many changes at a time. */
class Asker {
  readonly #proof: Proof
  readonly #items = new Map<string, Notification>()
  position = '0'
  last: Changes | undefined

  constructor(proof: Proof) {
    this.#proof = proof
  }

  get items(): Notification[] {
    return [...this.#items.values()].toReversed()
  }

  async catchUp(limit: number): Promise<void> {
    let hasMore = true
    while (hasMore) {
      const changes = await request(this.#proof, `since=${this.position}&limit=${limit}`)
      assert.ok(changes.created.length + changes.changed.length + changes.readAlls.length <= limit)
      this.#apply(changes)
      hasMore = changes.hasMore
    }
  }

  #apply(changes: Changes): void {
    for (const item of changes.created) {
      assert.ok(!this.#items.has(item.id), 'it arrived twice')
      this.#items.set(item.id, item)
    }
    for (const item of changes.changed) this.#items.set(item.id, item)
    for (const { through, readAt } of changes.readAlls)
      for (const [id, item] of this.#items) {
        if (!item.read) this.#items.set(id, { ...item, read: true, readAt })
        if (id === through) break
      }
    this.position = changes.position
    this.last = changes
  }
}

for (const variant of variants)
  test(`since 0, paged to the end, is the list, whatever was done and in whatever pages (${variant})`, async (t) => {
    const chance = randomOf(t)
    const ann = await app.user()
    const proof = await app.signIn(ann, variant)
    const requesters = [1, 2, 7, 100].map((limit) => ({ limit, asker: new Asker(proof) }))
    for (let round = 0; round < rounds; round++) {
      const { items } = await app.list(proof, '?limit=20')
      const any = () => items[chance.below(items.length)]?.id
      const acts = [
        () => send(ann, `No. ${round}`),
        () => send(ann, `Key, ${round}`, `key ${chance.below(4)}`),
        () => app.patch(`/api/notifications/${any()}/read`, proof),
        () => app.post(`/api/notifications/read-all${any() ? `?through=${any()}` : ''}`, undefined, proof),
      ]
      for (let n = 0; n < 4; n++) await acts[n === 3 ? 3 * Math.round(chance.draw()) : chance.below(3)]?.()
      app.pass(1)
      // Most of them seldom ask.
      for (const { limit, asker } of requesters) if (chance.below(limit + 1) < 3) await asker.catchUp(limit)
    }
    const list = await app.everything(proof)
    for (const { limit, asker } of [...requesters, { limit: 3, asker: new Asker(proof) }]) {
      await asker.catchUp(limit)
      assert.deepEqual(asker.items, list.items)
      const { total, unread, version, position, hasMore, removed } = asker.last ?? assert.fail()
      assert.deepEqual({ total, unread, version }, { total: list.total, unread: list.unread, version: list.version })
      assert.equal(position, positionOf(version, inboxTagOf(app.store.history, ann.id)))
      assert.deepEqual([hasMore, removed], [false, []])
    }
  })

test('each kind of change is told as what it is: arrived, replaced, read, all read', async () => {
  const ann = await app.user()
  const proof = await app.signIn(ann, 'stateful')
  const [first, second] = [await send(ann, 'one', 'k'), await send(ann, 'two')]
  const told = async (since: string) => {
    const { created, changed, readAlls, version, position, unread } = await request(proof, `since=${since}`)
    const titles = (items: Notification[]) => items.map((item) => `${item.title}${item.read ? ', read' : ''}`)
    return {
      told: [titles(created), titles(changed), readAlls.map(({ through }) => through)],
      version,
      position,
      unread,
    }
  }
  const start = await told('0')
  assert.deepEqual([start.told, start.version], [[['one', 'two'], [], []], 2])
  await send(ann, 'one again', 'k')
  const replaced = await told(start.position)
  assert.deepEqual([replaced.told, replaced.version], [[[], ['one again'], []], 3])
  await app.patch(`/api/notifications/${second}/read`, proof)
  const read = await told(replaced.position)
  assert.deepEqual([read.told, read.version, read.unread], [[[], ['two, read'], []], 4, 1])
  const third = await send(ann, 'three')
  await app.post(`/api/notifications/read-all?through=${first}`, undefined, proof)
  await app.post('/api/notifications/read-all', undefined, proof)
  const all = await told(String(read.version))
  assert.deepEqual([all.told[0]?.length, all.told[2], all.version, all.unread], [1, [first, third], 7, 0])
  const none = await told(all.position)
  assert.deepEqual([none.told, none.version, none.position], [[[], [], []], 7, all.position])
})

test('N3: a place that is not known is a reset: too new, of another user, of another history', async () => {
  const [ann, bob] = [await app.user(), await app.user()]
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
      assert.ok(performance.now() - from < atOnceMs, 'it was held')
    }
  assert.equal((await request(proof, `since=${own}`)).version, 2)
  assert.equal((await request(proof, 'since=0')).created.length, 2)
})

test('I6: what is no position, is missing, is said twice or is out of range is 400, with the field', async () => {
  const proof = await app.signIn(await app.user(), 'stateful')
  const long = '1'.repeat(4_000)
  const bad: [query: string, field: string][] = [
    ['', 'since'],
    ['since=', 'since'],
    ...['x', '-1', '1e9', '5-zzzzzzzz', '99999999999999999999', '01', '1-', '%20', '1%0a', long].map(
      (text): [string, string] => [`since=${text}`, 'since'],
    ),
    ['since=1&since=1', 'query'],
    ['limit=1', 'since'],
    ...['0', '101', '-1', '1.5', 'x', ''].map((text): [string, string] => [`since=0&limit=${text}`, 'limit']),
    ...['26', '-1', '0.5', 'x', ''].map((text): [string, string] => [`since=0&wait=${text}`, 'wait']),
    ['since=0&until=1', 'until'],
    ['since=0&limit=1&limit=2', 'query'],
    ['since=0&wait=1&wait=1', 'query'],
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

suite('what is held', { concurrency: true }, () => {
  const timed = async (proof: Proof, query: string) => {
    const from = performance.now()
    const changes = await request(proof, query)
    return { changes, ms: performance.now() - from }
  }

  for (const variant of variants) {
    test(`a delivery answers what is held at once, for everybody who waits (${variant})`, async () => {
      const [ann, bob] = [await app.user(), await app.user()]
      const proof = await app.signIn(ann, variant)
      const held = Promise.all(Array.from({ length: 10 }, () => timed(proof, 'since=0&wait=25')))
      const bobs = timed(await app.signIn(bob, variant), 'since=0&wait=2')
      await sleep(500)
      const from = performance.now()
      const id = await send(ann, 'Hi')
      for (const { changes } of await held)
        assert.deepEqual(
          changes.created.map((item) => item.id),
          [id],
        )
      const ms = performance.now() - from
      assert.ok(ms < atOnceMs, `answered after ${ms} ms`)
      const none = await bobs
      assert.deepEqual([none.changes.created, none.changes.version], [[], 0])
      assert.ok(none.ms > 1_950 && none.ms < 2_000 + atOnceMs, `${none.ms} ms`)
    })

    test(`a read and an "all read" end the wait too, what is there is not waited for, and so is nothing without wait (${variant})`, async () => {
      const ann = await app.user()
      const proof = await app.signIn(ann, variant)
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
  }

  test(`held for ${maxSeconds} s with nothing to tell, it is answered with nothing, and the connection serves on`, async (t) => {
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

  /** All seats are taken, or one is free. */
  async function untilSeats(are: 'taken' | 'free', proof: Proof): Promise<void> {
    const giveUpAt = performance.now() + 20_000
    while (((await app.get(`${path}?since=0&wait=1`, proof)).status === 429) !== (are === 'taken')) {
      assert.ok(performance.now() < giveUpAt, `the seats are never ${are}`)
      await sleep(20)
    }
  }

  test('N7: whoever goes away while he waits gives his seat up at once', async () => {
    const ann = await app.user()
    const proof = await app.signIn(ann, 'stateful')
    for (let round = 0; round < 5; round++) {
      const from = performance.now()
      const gone = new AbortController()
      const hold = async () => {
        // The asking below may have the last seat, and a broken connection is noticed a moment later.
        for (let status = 429; status === 429; await sleep(20)) {
          const response = await fetch(`${app.url}${path}?since=0&wait=25`, { headers: proof, signal: gone.signal })
          await response.text()
          ;({ status } = response)
        }
      }
      const held = Array.from({ length: 20 }, () => hold().catch(() => 'gone'))
      await untilSeats('taken', proof)
      gone.abort()
      assert.deepEqual(new Set(await Promise.all(held)), new Set(['gone']))
      await untilSeats('free', proof)
      const ms = performance.now() - from
      assert.ok(ms < 25_000, `${ms} ms`)
    }
  })
})
