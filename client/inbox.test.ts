import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTestService, type TestService, variants } from '../tests/support/service.ts'
import {
  type Changes,
  createCarillon,
  isCarillonError,
  type ListStatus,
} from './carillon-client.ts'
import { failureOf, signedIn } from './testing/clients.ts'

let service: TestService
before(async () => {
  service = await startTestService()
})
after(() => service.stop())

async function deliver(
  to: Awaited<ReturnType<TestService['user']>>,
  count: number,
  category?: string,
) {
  const ids: string[] = []
  for (let i = 1; i <= count; i++)
    ids.push(
      ...(await service.deliver({ to, title: `Number ${i}`, ...(category && { category }) })),
    )
  return ids
}

for (const variant of variants) {
  test(`list returns pages, by page number and by cursor, ${variant}`, async () => {
    const ann = await service.user()
    const { inbox } = await signedIn(service, ann, variant)
    await deliver(ann, 5)
    const titles = async (options: Parameters<typeof inbox.list>[0]) =>
      (await inbox.list(options)).items.map(({ title }) => title)
    assert.deepEqual(await titles({ page: 2, limit: 2 }), ['Number 3', 'Number 2'])
    const first = await inbox.list({ limit: 3 })
    assert.deepEqual([first.total, first.hasMore, first.unread, first.version], [5, true, 5, 5])
    assert.deepEqual(await titles({ limit: 3, before: first.next ?? assert.fail() }), [
      'Number 2',
      'Number 1',
    ])
    assert.equal((await inbox.list()).items.length, 5)
    assert.deepEqual((await inbox.list({ page: 9 })).items, [])
  })

  test(`iterate yields all notifications, newest first, and requests a page only when the loop needs it, ${variant}`, async () => {
    const ann = await service.user()
    const { inbox } = await signedIn(service, ann, variant)
    const ids = await deliver(ann, 7)
    const all = await Array.fromAsync(inbox.iterate({ limit: 3 }), ({ id }) => id)
    assert.deepEqual(all, ids.toReversed())
    await inbox.read(ids[2] as string)
    const unread = await Array.fromAsync(
      inbox.iterate({ limit: 2, status: 'unread' }),
      ({ id }) => id,
    )
    assert.deepEqual(unread, ids.filter((id) => id !== ids[2]).toReversed())
    const read = await Array.fromAsync(inbox.iterate({ limit: 2, status: 'read' }), ({ id }) => id)
    assert.deepEqual(read, [ids[2]])
    for await (const { id } of inbox.iterate({ limit: 2 })) {
      assert.equal(id, ids[6])
      await deliver(ann, 1)
      break
    }
  })

  test(`list and iterate take a status and one or several categories, ${variant}`, async () => {
    const ann = await service.user()
    const { inbox } = await signedIn(service, ann, variant)
    const [order = ''] = await deliver(ann, 2, 'orders')
    const [news = ''] = await deliver(ann, 1, 'a b&c')
    await deliver(ann, 1)
    await inbox.read(order)
    assert.equal((await inbox.list({ status: 'all' })).total, 4)
    assert.deepEqual(
      (await inbox.list({ category: 'a b&c' })).items.map(({ id }) => id),
      [news],
    )
    assert.deepEqual(
      (await inbox.list({ category: ['orders'], status: 'read' })).items.map(({ id }) => id),
      [order],
    )
    assert.equal((await inbox.list({ category: [] })).total, 4)
    const both = inbox.iterate({ category: ['orders', 'a b&c'], status: 'unread', limit: 1 })
    assert.deepEqual(await Array.fromAsync(both, ({ category }) => category), ['a b&c', 'orders'])
  })

  test(`get, counts, read and readAll, ${variant}`, async () => {
    const ann = await service.user()
    const { inbox } = await signedIn(service, ann, variant)
    const [first = '', second = ''] = await deliver(ann, 3, 'orders')
    assert.deepEqual(await inbox.counts(), {
      total: 3,
      unread: 3,
      unseen: 3,
      archived: 0,
      snoozed: 0,
      categories: { orders: { total: 3, unread: 3 } },
    })
    assert.equal(await inbox.read(first), undefined)
    const { read, readAt } = await inbox.get(first)
    assert.deepEqual([read, typeof readAt], [true, 'string'])
    await inbox.readAll({ through: second })
    assert.equal((await inbox.counts()).unread, 1)
    await inbox.readAll()
    assert.equal((await inbox.counts()).unread, 0)
  })

  test(`archive, unarchive, snooze, remove, archiveRead, seen and undo, ${variant}`, async () => {
    const ann = await service.user()
    const { inbox } = await signedIn(service, ann, variant)
    const [one = '', two = '', three = '', four = ''] = await deliver(ann, 4)
    const idsIn = async (status?: ListStatus) =>
      (await inbox.list({ status })).items.map(({ id }) => id)
    const { version } = await inbox.list()
    const until = new Date(service.now() + 60_000).toISOString()
    for (const _ of [1, 2]) {
      await inbox.archive(one)
      await inbox.snooze(two, until)
      await inbox.remove(three)
    }
    await inbox.seen(4)
    assert.deepEqual(
      [await idsIn(), await idsIn('archived'), await idsIn('snoozed')],
      [[four], [one], [two]],
    )
    assert.deepEqual(
      [await idsIn('all'), (await inbox.get(two)).snoozedUntil],
      [[four, two, one], until],
    )
    assert.deepEqual(await inbox.counts(), {
      total: 1,
      unread: 1,
      unseen: 0,
      archived: 1,
      snoozed: 1,
      categories: {},
    })
    for (const id of [one, two]) await inbox.unarchive(id)
    await inbox.archiveRead()
    const changes = known(await inbox.changes({ since: version }))
    assert.deepEqual(
      [changes.removed, changes.archiveReads.length, changes.unseen],
      [[three], 1, 0],
    )
    assert.deepEqual([await idsIn(), await idsIn('archived')], [[four], [two, one]])
    await inbox.undo()
    assert.deepEqual([await idsIn(), await idsIn('archived')], [[four, two, one], []])
  })

  test(`changes returns what has changed since a version and since a position, ${variant}`, async () => {
    const ann = await service.user()
    const { inbox } = await signedIn(service, ann, variant)
    const [first = '', second = ''] = await deliver(ann, 3)
    const one = known(await inbox.changes({ since: 0, limit: 2 }))
    assert.deepEqual([one.created.map(({ id }) => id), one.hasMore], [[first, second], true])
    const two = known(await inbox.changes({ since: one.position }))
    assert.deepEqual([two.created.length, two.hasMore, two.version], [1, false, 3])
    await inbox.read(first)
    await inbox.readAll({ through: second })
    const three = known(await inbox.changes({ since: two.position }))
    assert.deepEqual(
      [three.changed.map(({ id }) => id), three.readAlls.map(({ through }) => through)],
      [[first], [second]],
    )
    assert.deepEqual(await inbox.changes({ since: 4_000 }), { reset: true })
  })

  test(`changes with wait returns after a change, and an abort ends the wait, ${variant}`, async () => {
    const ann = await service.user()
    const { inbox } = await signedIn(service, ann, variant)
    const waiting = inbox.changes({ since: 0, wait: 20 })
    await deliver(ann, 1)
    assert.equal(known(await waiting).created.length, 1)
    const controller = new AbortController()
    const held = inbox.changes({ since: 1, wait: 20, signal: controller.signal })
    setTimeout(() => controller.abort(), 50)
    const from = performance.now()
    assert.equal(((await failureOf(held)) as Error).name, 'AbortError')
    assert.ok(performance.now() - from < 15_000)
  })
}

test('get and read throw NOT_FOUND for an id that this user does not have, whatever its format', async () => {
  const ann = await service.user()
  const bob = await service.user()
  const { inbox } = await signedIn(service, ann, 'stateless')
  const [foreign = ''] = await deliver(bob, 1)
  for (const id of [foreign, 'nothing', 'a/b?c#d', '%2e%2e', 'é'])
    for (const failing of [inbox.get(id), inbox.read(id), inbox.archive(id), inbox.remove(id)])
      assert.ok(isCarillonError(await failureOf(failing), 'NOT_FOUND'), id)
})

test('get and read throw NOT_FOUND without a request for a text that is not a UUID, because it could be another route', async () => {
  const { inbox } = createCarillon({
    baseUrl: service.url,
    fetch: () => assert.fail('the client sent a request'),
  })
  for (const id of ['', '.', '..', 'stream', 'counts', 'changes', 'read-all', 'nothing', '\ud800'])
    for (const call of [inbox.get, inbox.read, inbox.archive, inbox.unarchive, inbox.remove])
      assert.ok(isCarillonError(await failureOf(call(id)), 'NOT_FOUND'), id)
})

test('get accepts an id in capital letters', async () => {
  const ann = await service.user()
  const { inbox } = await signedIn(service, ann, 'stateless')
  const [id = ''] = await deliver(ann, 1)
  assert.equal((await inbox.get(id.toUpperCase())).id, id)
})

test('list throws INVALID_REQUEST with the invalid fields for values that are out of range', async () => {
  const { inbox } = await signedIn(service, await service.user(), 'stateless')
  const failure = await failureOf(inbox.list({ page: 0, limit: 101 }))
  assert.ok(isCarillonError(failure, 'INVALID_REQUEST'))
  assert.deepEqual(failure.details, [
    { field: 'page', reason: 'must be at least 1' },
    { field: 'limit', reason: 'must be at most 100' },
  ])
})

function known(changes: Changes) {
  return changes.reset ? assert.fail('the response is a reset') : changes
}
