import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { startTestService, type TestService, type TestUser } from '../../tests/support/service.ts'
import {
  createCarillon,
  createProducer,
  type InboxList,
  isCarillonError,
  type Notification,
  type OpenOptions,
} from '../carillon-client.ts'
import { failureOf, until } from '../testing/clients.ts'
import { CookieJar } from '../testing/cookie-jar.ts'

let service: TestService
before(async () => {
  service = await startTestService()
})
const opened: InboxList[] = []
after(() => {
  for (const list of opened) list.close()
  return service.stop()
})

/** A cookie jar as in a browser. It records its requests and can lose the network. */
async function device(user: TestUser) {
  const jar = new CookieJar()
  const requests: string[] = []
  const network = { cut: new AbortController() }
  const fetch = async (url: string, init: RequestInit) => {
    requests.push(`${init.method} ${new URL(url).pathname}`)
    const signal = AbortSignal.any([network.cut.signal, init.signal as AbortSignal])
    return jar.fetch(url, { ...init, signal }).catch((error) => {
      throw network.cut.signal.aborted ? new TypeError('cut') : error
    })
  }
  const carillon = createCarillon({ baseUrl: service.url, fetch })
  await carillon.login({ username: user.username, password: user.password, variant: 'stateful' })
  const { open } = carillon.inbox
  carillon.inbox.open = (options) => {
    const list = open(options)
    opened.push(list)
    return list
  }
  const count = (request: string) => requests.filter((one) => one === request).length
  return { carillon, network, count, jar }
}

const isLive = (list: InboxList) => list.getSnapshot().state === 'live'

async function deliver(to: TestUser, count: number) {
  const ids: string[] = []
  for (let i = 1; i <= count; i++)
    ids.push(...(await service.deliver({ to, title: `Number ${i}` })))
  return ids.reverse()
}

/** The list of a user with that many notifications. */
async function live(count: number, options?: OpenOptions) {
  const ann = await service.user()
  const ids = await deliver(ann, count)
  const reader = await device(ann)
  const list = reader.carillon.inbox.open(options)
  await until(() => isLive(list))
  return { ann, ids, list, ...reader }
}

test('ten lists with equal options cause one list request and one stream, also if one is closed and opened again at once', async () => {
  const ann = await service.user()
  await deliver(ann, 3)
  const { carillon, count } = await device(ann)
  carillon.inbox.open().close()
  const lists = Array.from({ length: 10 }, () => carillon.inbox.open())
  await until(() => lists.every(isLive))
  assert.equal(new Set(lists.map(({ getSnapshot }) => getSnapshot())).size, 1)
  const { length } = lists[0]?.getSnapshot().items ?? []
  assert.equal(length, 3)
  assert.equal(count('GET /api/notifications'), 1)
  assert.equal(count('GET /api/notifications/stream'), 1)
  for (const list of lists) list.close()
})

test('an act that waits is not sent for another user, who has signed in meanwhile (C13)', async () => {
  const ann = await service.user()
  const bob = await service.user()
  await deliver(ann, 1)
  await deliver(bob, 1)
  const { carillon, network, count, jar } = await device(ann)
  const list = carillon.inbox.open()
  await until(() => isLive(list))
  network.cut.abort(new TypeError('cut'))
  const reading = failureOf(list.readAll())
  await until(() => list.getSnapshot().state === 'offline')
  const attempts = count('POST /api/notifications/read-all')
  const beside = createCarillon({ baseUrl: service.url, fetch: jar.fetch })
  await beside.login({ username: bob.username, password: bob.password, variant: 'stateful' })
  network.cut = new AbortController()
  assert.ok(isCarillonError(await reading, 'UNAUTHORIZED'))
  await until(() => isLive(list))
  assert.equal(list.getSnapshot().unread, 1)
  assert.equal((await beside.inbox.counts()).unread, 1)
  assert.equal(count('POST /api/notifications/read-all'), attempts)
  list.close()
})

test('after sign-out the list is empty; after a sign-in of another user it has nothing of the user before (C12)', async () => {
  const ann = await service.user()
  const bob = await service.user()
  await deliver(ann, 2)
  const [ofBob = ''] = await deliver(bob, 1)
  const { carillon } = await device(ann)
  const list = carillon.inbox.open()
  await until(() => isLive(list))
  const seen: string[][] = []
  await carillon.logout()
  await until(() => list.getSnapshot().state === 'signed-out')
  assert.deepEqual([list.getSnapshot().items, list.getSnapshot().unread], [[], 0])
  list.subscribe(({ items }) => seen.push(items.map(({ id }) => id)))
  await carillon.login({ username: bob.username, password: bob.password, variant: 'stateful' })
  await until(() => isLive(list))
  assert.deepEqual(
    list.getSnapshot().items.map(({ id }) => id),
    [ofBob],
  )
  assert.ok(seen.flat().every((id) => id === ofBob))
  list.close()
})

test('more requests the next page once, and without a change the snapshot stays the same object', async () => {
  const { ids, count, list } = await live(5, { limit: 2 })
  assert.deepEqual([list.getSnapshot().items.length, list.getSnapshot().hasMore], [2, true])
  await Promise.all([list.more(), list.more()])
  assert.deepEqual(
    list.getSnapshot().items.map(({ id }) => id),
    ids.slice(0, 4),
  )
  assert.equal(count('GET /api/notifications'), 2)
  const snapshot = list.getSnapshot()
  list.hold(true)
  list.hold(false)
  assert.equal(list.getSnapshot(), snapshot)
  list.close()
})

test('200 notifications cause few snapshots, and a list that is not held keeps at most 100 more than its pages', async () => {
  const { ann, list } = await live(0, { limit: 5 })
  let snapshots = 0
  list.subscribe(() => snapshots++)
  const startedAt = performance.now()
  for (let round = 0; round < 20; round++)
    await Promise.all(Array.from({ length: 10 }, () => deliver(ann, 1)))
  await until(() => list.getSnapshot().items[0]?.seq === 200)
  assert.ok(snapshots <= 3 + (performance.now() - startedAt) / 50, `${snapshots} snapshots`)
  const { items, hasMore } = list.getSnapshot()
  assert.ok(items.length <= 105 && hasMore, `${items.length} items`)
  assert.deepEqual(
    items.map(({ seq }) => seq),
    items.map((_, index) => 200 - index),
  )
  list.close()
})

test('a close ends the subscriptions and the hold of that list, and not those of another one with equal options', async () => {
  const ann = await service.user()
  await deliver(ann, 1)
  const { carillon } = await device(ann)
  const closed = carillon.inbox.open()
  const list = carillon.inbox.open()
  await until(() => isLive(list))
  const calls = { closed: 0, list: 0 }
  closed.subscribe(() => calls.closed++)
  list.subscribe(() => calls.list++)
  closed.hold(true)
  closed.close()
  closed.subscribe(() => calls.closed++)
  await deliver(ann, 1)
  await until(() => list.getSnapshot().items.length === 2)
  assert.deepEqual([calls.closed, calls.list > 0], [0, true])
  list.close()
})

test('invalid options throw a TypeError, and other lists stay live', async () => {
  const { carillon } = await device(await service.user())
  const list = carillon.inbox.open()
  const invalid: unknown[] = [
    ...[0, 101, 1.5, -1, Number.NaN, 'abc'].map((limit) => ({ limit })),
    ...['', 'seen'].map((status) => ({ status })),
    ...[Array(21).fill('a'), '', ['a', 'x'.repeat(65)]].map((category) => ({ category })),
  ]
  for (const options of invalid)
    assert.throws(() => carillon.inbox.open(options as OpenOptions), TypeError)
  await until(() => isLive(list))
  list.close()
})

test('a listener that acts, or that ends another subscription, leaves no listener with an older snapshot', async () => {
  const { ann, list } = await live(0)
  list.subscribe(({ items, unread }) => {
    end()
    if (unread) void list.read(items[0]?.id ?? '')
  })
  const end = list.subscribe(() => assert.fail('the subscription has ended'))
  const seen: number[] = []
  list.subscribe(({ unread }) => seen.push(unread))
  await deliver(ann, 1)
  await until(() => list.getSnapshot().items[0]?.readAt !== null && seen.length > 1)
  assert.ok(
    seen.every((unread) => unread === 0),
    `${seen}`,
  )
  list.close()
})

test('undo takes back the last act of the page, whichever list sent it, and a second one changes nothing', async () => {
  const ann = await service.user()
  const [newest = ''] = await deliver(ann, 2)
  const { carillon } = await device(ann)
  const list = carillon.inbox.open()
  const other = carillon.inbox.open({ status: 'unread' })
  await until(() => isLive(list) && isLive(other))
  await Promise.all([list.readAll(), list.undo()])
  await list.read(newest)
  await until(() => list.getSnapshot().unread === 1)
  const undone = other.undo()
  assert.deepEqual([list.getSnapshot().unread, titlesOf(other)], [2, ['2', '1']], 'at once')
  await undone
  await list.undo()
  assert.equal((await carillon.inbox.counts()).unread, 2)
})

test('undo puts a notification back as it was: unread, read, archived or snoozed', async () => {
  const ann = await service.user()
  const [unread = '', read = '', archived = '', snoozed = ''] = await deliver(ann, 4)
  const { carillon, count } = await device(ann)
  const { inbox } = carillon
  await inbox.read(read)
  await inbox.archive(archived)
  await inbox.snooze(snoozed, new Date(service.now() + 60_000).toISOString())
  const list = inbox.open({ status: 'all' })
  await until(() => isLive(list))
  const stateOf = ({ read: isRead, archivedAt, snoozedUntil }: Notification) => [
    isRead,
    !!archivedAt,
    snoozedUntil,
  ]
  const wakesAt = new Date(service.now() + 120_000).toISOString()
  for (const id of [unread, read, archived, snoozed]) {
    const wasAs = stateOf(await inbox.get(id))
    const acts = [
      list.read,
      list.markUnread,
      list.archive,
      list.unarchive,
      (one: string) => list.snooze(one, wakesAt),
    ]
    for (const act of acts) {
      await act(id)
      const undone = list.undo()
      const shown = list.items.find((one) => one.id === id) ?? assert.fail()
      assert.deepEqual(stateOf(shown), wasAs, 'at once')
      await undone
      assert.deepEqual(stateOf(await inbox.get(id)), wasAs)
    }
  }
  assert.equal(count('POST /api/notifications/undo'), 0)
})

test('undo puts back unread what no list of the page had loaded when it was archived', async () => {
  const ann = await service.user()
  const oldest = (await deliver(ann, 3))[2] ?? ''
  const { carillon } = await device(ann)
  const list = carillon.inbox.open({ limit: 1 })
  await until(() => isLive(list))
  await list.archive(oldest)
  assert.equal((await carillon.inbox.counts()).unread, 2)
  await list.undo()
  assert.equal((await carillon.inbox.counts()).unread, 3)
})

test('a removal is final: undo throws CONFLICT, and takes back no act before it', async () => {
  const {
    ids: [second = '', first = ''],
    carillon,
    list,
  } = await live(2)
  await list.archive(second)
  await list.remove(first)
  const refused = await failureOf(list.undo())
  assert.ok(isCarillonError(refused, 'CONFLICT'))
  assert.equal((await carillon.inbox.counts()).archived, 1)
})

test('undo takes back the last act that was not refused, also one whose outcome was open when another followed', async () => {
  const {
    ids: [second = '', first = ''],
    carillon,
    count,
    list,
  } = await live(2)
  const refused = () => list.archive(crypto.randomUUID())
  const outcomes = await Promise.allSettled([
    list.archive(first),
    refused(),
    list.readAll(),
    refused(),
    refused(),
  ])
  const expected = ['fulfilled', 'rejected', 'fulfilled', 'rejected', 'rejected']
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    expected,
  )
  await list.undo()
  assert.equal(count('POST /api/notifications/undo'), 1)
  assert.equal((await carillon.inbox.get(second)).read, false)
  await list.archive(second)
  await assert.rejects(refused())
  await list.undo()
  const { archivedAt } = await carillon.inbox.get(second)
  assert.equal(archivedAt, null)
  assert.equal((await carillon.inbox.counts()).archived, 1, 'acts before it stay')
})

test('a list has labels and counts of the categories as soon as a page reads them, and they stay right, whatever their names', async () => {
  const ann = await service.user()
  const producer = createProducer({ baseUrl: service.url, key: (await service.producerKey()).key })
  await producer.categories.put('constructor', { name: { en: 'Orders', de: 'Bestellungen' } })
  for (const category of ['constructor', 'constructor', 'chat'])
    await service.deliver({ to: ann, title: 'New', category })
  const { carillon, count } = await device(ann)
  const list = carillon.inbox.open({ limit: 1 })
  await until(() => isLive(list))
  assert.equal(
    count('GET /api/notifications/counts'),
    0,
    'a page that reads none causes no request',
  )
  assert.deepEqual(list.categories, {})
  const are = (chat: object, orders: object) =>
    until(() =>
      isDeepStrictEqual(list.categories, {
        chat: { label: 'chat', ...chat },
        constructor: { label: 'Orders', ...orders },
      }),
    )
  await are({ total: 1, unread: 1 }, { total: 2, unread: 2 })
  await service.deliver({ to: ann, title: 'New', category: 'constructor' })
  await are({ total: 1, unread: 1 }, { total: 3, unread: 3 })
  await list.readAll()
  await are({ total: 1, unread: 0 }, { total: 3, unread: 0 })
  await list.undo()
  await are({ total: 1, unread: 1 }, { total: 3, unread: 3 })
  const ben = await service.user()
  await carillon.login({ username: ben.username, password: ben.password, variant: 'stateful' })
  await until(
    () =>
      isLive(list) &&
      isDeepStrictEqual(list.categories, { constructor: { label: 'Orders', total: 0, unread: 0 } }),
  )
})

test('readAll of a list with a category marks that category in every list, and undo takes exactly that back', async () => {
  const ann = await service.user()
  for (const category of ['orders', 'chat', 'orders', null])
    await service.deliver({ to: ann, title: 'New', ...(category !== null && { category }) })
  const { carillon } = await device(ann)
  const orders = carillon.inbox.open({ category: 'orders' })
  const all = carillon.inbox.open()
  const read = carillon.inbox.open({ status: 'read' })
  const other = (await device(ann)).carillon.inbox.open()
  const unreadIn = (list: InboxList) =>
    list
      .getSnapshot()
      .items.filter((one) => !one.read)
      .map((one) => one.category)
  const seen = [() => unreadIn(all), () => unreadIn(other)]
  await until(() => [orders, all, read, other].every(isLive))
  const marked = orders.readAll()
  assert.deepEqual([unreadIn(all), all.getSnapshot().unread], [[null, 'chat'], 2], 'at once')
  await marked
  await until(
    () => seen.every((categories) => categories().length === 2) && other.getSnapshot().unread === 2,
  )
  assert.equal((await carillon.inbox.counts()).unread, 2)
  await read.readAll()
  assert.equal(
    (await carillon.inbox.counts()).unread,
    2,
    'a list of read notifications has nothing to mark',
  )
  await orders.undo()
  await until(() => seen.every((categories) => categories().length === 4))
  assert.equal((await carillon.inbox.counts()).unread, 4)
})

const titlesOf = (list: InboxList) =>
  list.getSnapshot().items.map(({ title }) => title.replace('Number ', ''))

test('a security notice that the user deletes, snoozes or archives with all others is back in the list at once, with the reason', async () => {
  const ann = await service.user()
  await deliver(ann, 1)
  const { carillon, jar } = await device(ann)
  const changed = await jar.fetch(`${service.url}/api/me/password`, {
    method: 'PUT',
    credentials: 'include',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      currentPassword: ann.password,
      newPassword: 'grey heron over the weir',
    }),
  })
  assert.equal(changed.status, 204)
  const list = carillon.inbox.open()
  await until(
    () => isLive(list) && list.getSnapshot().items.some(({ category }) => category === 'security'),
  )
  const shown = titlesOf(list)
  const notice =
    list.getSnapshot().items.find(({ category }) => category === 'security') ?? assert.fail()
  for (const act of [list.remove, list.archive]) {
    const acting = act(notice.id)
    assert.ok(
      !titlesOf(list).includes(`${notice.title}`),
      'it is displayed before the confirmation',
    )
    assert.ok(isCarillonError(await failureOf(acting), 'CONFLICT'))
    assert.deepEqual(titlesOf(list), shown)
  }
  await list.readAll()
  await list.archiveRead()
  await until(
    () =>
      titlesOf(list).includes(notice.title) && list.getSnapshot().total === titlesOf(list).length,
  )
  assert.ok(!titlesOf(list).includes('1'))
})

test('an act that empties a page requests the next items, and what the reader puts back is at its place in a held list', async () => {
  const {
    ids: [, second = ''],
    list,
  } = await live(4, { limit: 3 })
  list.hold(true)
  await list.archive(second)
  await until(() => titlesOf(list).join() === '4,2,1')
  const putBack = list.unarchive(second)
  assert.deepEqual([titlesOf(list), list.getSnapshot().newer], [['4', '3', '2', '1'], []])
  await putBack
  await until(() => list.getSnapshot().items[1]?.archivedAt === null)
  assert.deepEqual([titlesOf(list), list.getSnapshot().newer], [['4', '3', '2', '1'], []])
})

test('seen sets unseen to what arrived after the newest item, and sends nothing if there is none', async () => {
  const ann = await service.user()
  await deliver(ann, 2)
  const { carillon, count } = await device(ann)
  const list = carillon.inbox.open()
  const other = (await device(ann)).carillon.inbox.open()
  await until(() => list.getSnapshot().unseen === 2 && other.getSnapshot().unseen === 2)
  list.hold(true)
  await deliver(ann, 1)
  await until(() => list.getSnapshot().newer.length === 1)
  const seen = list.seen()
  assert.deepEqual([list.getSnapshot().unseen, list.getSnapshot().unread], [1, 3])
  await seen
  await until(() => other.getSnapshot().unseen === 1)
  list.showNewer()
  await list.seen()
  await list.seen()
  assert.equal(count('POST /api/notifications/seen'), 2)
  await until(() => other.getSnapshot().unseen === 0)
})

test('acts without a connection wait, and are sent in their order', async () => {
  const ann = await service.user()
  const [newest = '', second = ''] = await deliver(ann, 3)
  const { carillon, network } = await device(ann)
  const list = carillon.inbox.open()
  const archived = carillon.inbox.open({ status: 'archived' })
  await until(() => isLive(list) && isLive(archived))
  network.cut.abort(new TypeError('cut'))
  const acts = [list.archive(newest), list.read(second), list.archiveRead(), list.unarchive(newest)]
  await until(() => list.getSnapshot().state === 'offline')
  assert.ok(isCarillonError(list.getSnapshot().error, 'NETWORK'))
  assert.deepEqual([titlesOf(list), titlesOf(archived)], [['3', '1'], ['2']])
  network.cut = new AbortController()
  await Promise.all(acts)
  await until(() => isLive(list) && isLive(archived))
  assert.deepEqual([titlesOf(list), titlesOf(archived)], [['3', '1'], ['2']])
  assert.deepEqual(await carillon.inbox.counts(), {
    total: 2,
    unread: 1,
    unseen: 2,
    archived: 1,
    snoozed: 0,
    categories: {},
  })
})
