// A stream begins at any position of this inbox without a gap (N3, N4), and after any other text
// with one `resync`.
import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { inboxTagOf, positionOf } from '../../../server/live/events.ts'
import { InboxCopy } from '../../support/event-source/copy.ts'
import { arrivals, EventReader, streamPath } from '../../support/event-source/event-source.ts'
import { type Random, randomOf } from '../../support/event-source/random.ts'
import { type Proof, startTestService, type TestUser, variants } from '../../support/service.ts'

const soak = process.env.SOAK !== undefined
const writtenForMs = soak ? 60_000 : 2_500
const rounds = soak ? 3_000 : 120
/** Generous, for a slow machine. */
const timeoutMs = 60_000

const app = await startTestService({ env: { CARILLON_STREAMS_PER_USER: '500' } })
after(() => app.stop())

const send = (to: TestUser, title: string, about?: string) =>
  app.deliver({ to, title, ...(about && { key: about }) })

async function positionNow(proof: Proof): Promise<string> {
  using reader = await EventReader.open(app.url, { headers: proof })
  return (await reader.next('hello')).id ?? assert.fail('hello had no id')
}

/** A client can resume from the id of the `resync`. */
async function isLost(
  user: TestUser,
  { headers, path = streamPath }: { headers: Proof; path?: string },
) {
  using reader = await EventReader.open(app.url, { headers, path })
  assert.equal(reader.status, 200, reader.text)
  const hello = await reader.next('hello')
  assert.equal(hello.id, undefined)
  const { id = '', data } = await reader.next('resync')
  assert.deepEqual(data, hello.data)
  await send(user, 'after')
  assert.equal((await reader.next('created')).data.notification.title, 'after')
  assert.deepEqual(
    reader.events.map(({ type }) => type),
    ['hello', 'resync', 'created'],
  )
  using again = await EventReader.open(app.url, { headers: { ...headers, 'last-event-id': id } })
  assert.equal((await again.next('hello')).id, id)
  assert.equal((await again.next('created')).data.notification.title, 'after')
}

const garbage = [
  'x',
  '-1',
  '1e9',
  '5-zzzzzzzz',
  '99999999999999999999',
  '0x1',
  '01',
  '1.0',
  '+1',
  '1-',
  '-',
  '1-0000000',
  '1-000000000',
  '1,1',
  'null',
  'NaN',
  '%',
  `1'--`,
  '9'.repeat(4_000),
  'x'.repeat(4_000),
  `1-${'0'.repeat(4_000)}`,
]

for (const variant of variants)
  suite(`N3 with a ${variant} proof`, { concurrency: 4 }, () => {
    test('text that is not a position gets one resync, in the header field or in the query (N3)', async () => {
      const ann = await app.user()
      const proof = await app.signIn(ann, variant)
      await send(ann, 'one')
      for (const text of garbage) {
        await isLost(ann, { headers: { ...proof, 'last-event-id': text } })
        await isLost(ann, {
          headers: proof,
          path: `${streamPath}?since=${encodeURIComponent(text)}`,
        })
      }
      for (const text of ['', ' 1', '1 ', '1\n', '1\u2028', '🔔'])
        await isLost(ann, {
          headers: proof,
          path: `${streamPath}?since=${encodeURIComponent(text)}`,
        })
      // A header field is Latin-1; some clients send UTF-8 in it.
      await isLost(ann, { headers: { ...proof, 'last-event-id': '\u00e9\u00ff' } })
    })

    test('a position of another user or of another history gets a resync, even if this inbox has reached that version (N3, R7)', async () => {
      const ann = await app.user()
      const bob = await app.user()
      const anns = await app.signIn(ann, variant)
      const bobs = await app.signIn(bob, variant)
      for (let n = 0; n < 3; n++) for (const user of [ann, bob]) await send(user, `No. ${n}`)
      const foreign = await positionNow(bobs)
      assert.match(foreign, /^3-/)
      assert.equal(positionOf(3, inboxTagOf(app.store.history, bob.id)), foreign)
      const ofAnotherHistory = positionOf(3, inboxTagOf('another history', ann.id))
      for (const lost of [foreign, ofAnotherHistory, '1000', `1000-${foreign.slice(2)}`]) {
        await isLost(ann, { headers: { ...anns, 'last-event-id': lost } })
        await isLost(ann, { headers: anns, path: `${streamPath}?since=${lost}` })
      }
    })

    test('a client that is more than 10,000 changes behind gets a resync; 10,000 changes are sent (N3)', async () => {
      const ann = await app.user()
      const proof = await app.signIn(ann, variant)
      await send(ann, 'one')
      const own = (await positionNow(proof)).slice(2)
      await app.database.change(
        `update inbox set version = 10001 where ${app.database.isOf(ann.id)}`,
      )
      using near = await EventReader.open(app.url, {
        headers: { ...proof, 'last-event-id': `1-${own}` },
      })
      assert.equal((await near.next('hello')).id, `1-${own}`)
      await isLost(ann, { headers: { ...proof, 'last-event-id': '0' } })
      await isLost(ann, { headers: { ...proof, 'last-event-id': `1-${own}` } })
      assert.equal((await near.next('created')).data.notification.title, 'after')
    })

    test('a stream resumes from a position or a bare version; the header field has priority over the query; with neither it begins now (N4)', async () => {
      const ann = await app.user()
      const proof = await app.signIn(ann, variant)
      for (const title of ['one', 'two', 'three']) await send(ann, title)
      const [, tag] = (await positionNow(proof)).split('-')
      const places: [headers: Proof, query: string, id: string, titles: string[]][] = [
        [{ 'last-event-id': '1' }, '', `1-${tag}`, ['two', 'three']],
        [{ 'last-event-id': `2-${tag}` }, '', `2-${tag}`, ['three']],
        [{}, '?since=0', `0-${tag}`, ['one', 'two', 'three']],
        [{}, `?since=2-${tag}`, `2-${tag}`, ['three']],
        [{ 'last-event-id': '2' }, '?since=0', `2-${tag}`, ['three']],
        [{ 'last-event-id': '2' }, '?since=x', `2-${tag}`, ['three']],
        [{ 'last-event-id': '' }, '?since=2', `2-${tag}`, ['three']],
        [{ 'last-event-id': '' }, '', `3-${tag}`, []],
        [{}, '', `3-${tag}`, []],
        [{ 'last-event-id': '3' }, '', `3-${tag}`, []],
      ]
      for (const [headers, query, id, titles] of places) {
        using reader = await EventReader.open(app.url, {
          headers: { ...proof, ...headers },
          path: streamPath + query,
        })
        const hello = await reader.next('hello')
        assert.equal(hello.id, id)
        assert.deepEqual(hello.data, { version: 3, unread: 3, total: 3, unseen: 3 })
        for (const [index, title] of titles.entries()) {
          const event = await reader.next('created')
          assert.equal(event.data.notification.title, title)
          assert.equal(event.id, `${3 - titles.length + index + 1}-${tag}`)
        }
        assert.ok(reader.isUpToDate)
      }
    })

    test('an unknown query field is refused, and so is `since` twice (N3)', async () => {
      const proof = await app.signIn(await app.user(), variant)
      for (const query of ['?sinc=1', '?since=1&since=2', '?since=1&limit=3']) {
        const response = await app.get(streamPath + query, proof)
        assert.equal(response.status, 400, query)
        assert.ok(response.json().error.details.length > 0)
      }
    })
  })

/** Each stream is open for a short time. */
async function resumeAtRandom(of: {
  proof: Proof
  random: Random
  seen: EventReader[]
  isOver: () => boolean
}) {
  let known = 0
  while (!of.isOver()) {
    const from = of.random.below(known + 1)
    using reader = await EventReader.of(app.url, { ...of.proof, 'last-event-id': `${from}` })
    await sleep(of.random.below(60))
    reader.close()
    of.seen.push(reader)
    const [hello, ...events] = reader.events
    known = Math.max(known, hello?.data.version ?? 0, events.at(-1)?.data.version ?? 0)
    // One event for each version, without a gap: only deliveries change this inbox.
    const versions = events.map(({ data }) => data.version)
    assert.deepEqual(
      versions,
      Array.from(events, (_, index) => from + 1 + index),
    )
  }
}

test('a client that resumes at any version during constant deliveries gets every later event once, in order (N4)', async (t) => {
  const random = randomOf(t)
  const ann = await app.user()
  const proofs = [await app.signIn(ann, 'stateful'), await app.signIn(ann, 'stateless')] as const
  const seen: EventReader[] = []
  let isOver = false
  let written = 0
  const write = async () => {
    while (!isOver) await send(ann, `No. ${++written}`)
  }
  const writing = [write(), write(), write()]
  const stayed = await Promise.all(
    proofs.map((headers) => EventReader.of(app.url, { ...headers, 'last-event-id': '0' })),
  )
  const resuming = Array.from({ length: 8 }, (_, n) =>
    resumeAtRandom({ proof: proofs[n % 2] ?? assert.fail(), random, seen, isOver: () => isOver }),
  )
  const replayed = () => seen.filter(({ events }) => events.length > 1).length
  const endAt = performance.now() + writtenForMs
  const seeEnough = async () => {
    while (performance.now() < endAt || replayed() < 20) {
      assert.ok(
        performance.now() < endAt + timeoutMs,
        `${replayed()} of ${seen.length} received events`,
      )
      await sleep(20)
    }
  }
  await Promise.race([seeEnough(), ...resuming]).finally(() => {
    isOver = true
  })
  await Promise.all(writing)
  const { items } = await app.everything(proofs[0])
  const ids = items.map(({ id }) => id).toReversed()
  assert.equal(ids.length, written)
  for (const reader of stayed) {
    await reader.until(() => reader.events.length > written)
    assert.deepEqual(arrivals(reader.events), ids)
    reader.close()
  }
  await Promise.all(resuming)
  for (const { events } of seen)
    for (const { type, data } of events)
      if (type === 'created') assert.equal(data.notification.id, ids[data.version - 1])
  t.diagnostic(
    `${written} deliveries, ${seen.length} connections, ${replayed()} of them received events`,
  )
})

/** Connects and disconnects at random, and applies the events to its copy. */
async function follow(
  copy: InboxCopy,
  of: { proof: Proof; random: Random; onLeave: () => void; isOver: (version: number) => boolean },
) {
  let position = String(copy.version)
  for (;;) {
    using reader = await EventReader.of(app.url, { ...of.proof, 'last-event-id': position })
    const stayMs = of.random.below(40)
    const until = performance.now() + stayMs
    while (performance.now() < until && !of.isOver(reader.events.at(-1)?.data.version ?? 0))
      await sleep(5)
    reader.close()
    for (const event of reader.events) copy.apply(event)
    position = reader.events.at(-1)?.id ?? assert.fail()
    of.onLeave()
    if (of.isOver(copy.version)) return
  }
}

test('a client that applies events to a copy and reconnects at random ends with what the list has (N4)', async (t) => {
  const random = randomOf(t)
  const ann = await app.user()
  const proofs = [await app.signIn(ann, 'stateful'), await app.signIn(ann, 'stateless')] as const
  for (let n = 0; n < 10; n++) await send(ann, `Before ${n}`)
  const before = await app.everything(proofs[0])
  await app.patch(`/api/notifications/${before.items[3]?.id}/read`, proofs[0])
  const copies = Array.from({ length: 6 }, () => new InboxCopy(before))
  let last = Number.POSITIVE_INFINITY
  let connections = 0
  const onLeave = () => void connections++
  const following = Promise.all(
    copies.map((copy, n) =>
      follow(copy, {
        proof: proofs[n % 2] ?? assert.fail(),
        random,
        onLeave,
        isOver: (version) => version >= last,
      }),
    ),
  )
  t.after(() => {
    last = 0
  })
  // This client never disconnects.
  using stays = await EventReader.of(app.url, {
    ...proofs[1],
    'last-event-id': String(before.version),
  })
  const giveUpAt = performance.now() + timeoutMs
  for (let round = 0; round < rounds || connections < 30; round++) {
    assert.ok(
      round < rounds || performance.now() < giveUpAt,
      `${connections} connections in ${round} rounds`,
    )
    const { items } = await app.list(proofs[0], '?limit=40')
    const any = () => items[random.below(items.length)]?.id
    const acts = [
      () => send(ann, `Round ${round}`),
      () => send(ann, `Key, round ${round}`, `key ${random.below(5)}`),
      () => app.patch(`/api/notifications/${any()}/read`, proofs[1]),
    ]
    const rarely = [
      () => app.post(`/api/notifications/read-all?through=${any()}`, undefined, proofs[1]),
      () => app.post('/api/notifications/read-all', undefined, proofs[0]),
    ]
    const chosen = Array.from({ length: 6 }, () => acts[random.below(acts.length)])
    if (random.draw() < 0.5) chosen.push(rarely[random.below(rarely.length)])
    // A follower that fails ends this; none ends otherwise before the last round.
    await Promise.race([Promise.all(chosen.map((act) => act?.())), following])
    app.pass(1)
  }
  const list = await app.everything(proofs[0])
  last = list.version
  await following
  await stays.until(() => (stays.events.at(-1)?.data.version ?? 0) >= last)
  const stayed = new InboxCopy(before)
  for (const event of stays.events) stayed.apply(event)
  for (const copy of [...copies, stayed]) {
    assert.deepEqual(copy.items, list.items)
    assert.deepEqual(
      [copy.version, copy.unread, copy.total],
      [list.version, list.unread, list.total],
    )
  }
  const types = Object.groupBy(stays.events, ({ type }) => type)
  t.diagnostic(
    `${list.version - before.version} changes over ${connections} connections: ${Object.entries(types).map(([type, events]) => `${events?.length} ${type}`)}`,
  )
  for (const type of ['created', 'read', 'read-all'])
    assert.ok((types[type]?.length ?? 0) > 2, `hardly any ${type}`)
})
