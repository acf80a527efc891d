// Each application learns what became of its own notifications, at least once, and of no other's.
import assert from 'node:assert/strict'
import { mock } from 'node:test'
import { auditEntry, serviceSource } from '../audit/entry.ts'
import { Sealing } from '../basics/secrets.ts'
import { at, newId, type Person, type PromiseOf, type World } from '../contract/world.ts'
import { archiveRead, markAllRead } from '../inbox/bulk/bulk.store.ts'
import { actsOf } from '../inbox/contract/places.contract.ts'
import { archive, markRead, markUnread, remove, unarchive } from '../inbox/marks.store.ts'
import { findDue, removeOrWake } from '../inbox/retention.store.ts'
import { type EventContent, type EventType, readWithinMs } from '../inbox/webhook-events.store.ts'
import { itemsOf } from '../reach/items.store.ts'
import { listOutbox, retryOutbox } from '../reach/outbox.store.ts'
import { dueReminders } from '../reach/timers/decision.store.ts'
import { disableUser } from '../users/access/user-changes.store.ts'
import { deleteUser } from '../users/erasure/erasure.store.ts'
import { eventOf } from './event-body.ts'
import { lookAtChanges, lookAtUnread, maxItems, noteMissed, takeEvents } from './looks.store.ts'
import {
  addWebhook,
  changeWebhook,
  findWebhook,
  listWebhooks,
  maxWebhooks,
  noteAttempt,
  removeWebhook,
  resealWebhooks,
} from './webhooks.store.ts'
import { changeWebhook as changeByOwner } from './webhooks.ts'

const unreadAfterMs = 60_000
const watch = { marks: true, arrivals: true, unreadAfterMs }
const marks = { marks: true, arrivals: false, unreadAfterMs: null }
const all: EventType[] = [
  'notification.unread',
  'notification.created',
  'notification.read',
  'notification.archived',
  'notification.deleted',
  'user.erased',
]

type Options = {
  application?: string
  events?: EventType[]
  categories?: string[] | null
  url?: string | null
  unreadAfterMs?: number | null
}

async function webhook(world: World, options: Options = {}): Promise<string> {
  const {
    application = '',
    events = all,
    categories = null,
    url = 'https://shop.example/',
    unreadAfterMs: after = unreadAfterMs,
  } = options
  const id = newId()
  const added = {
    id,
    application,
    url,
    events: events.join(),
    unreadAfterMs: after,
    sealedSecret: `secret of ${id}`,
  }
  const json = categories === null ? null : JSON.stringify(categories)
  assert.equal(
    await world.store.write(addWebhook, { ...added, categories: json, createdAt: at(0) }),
    'done',
  )
  return id
}

const dueAt = (seconds: number) => ({ channels: ['unread', 'webhook'] as const, at: at(seconds) })

type Event = Omit<EventContent, 'ids'> & { to: string; ids: string[] }

/** Returns the events of the new rows in their order. */
async function lookedAt({ store }: World, seconds: number): Promise<Event[]> {
  const before = new Set((await store.read(listOutbox, { limit: 1_000 })).map(({ id }) => id))
  let due = await store.read(dueReminders, dueAt(seconds))
  while (due.length > 0) {
    for (const { userId, channel } of due) {
      const look = { userId, at: at(seconds), rowId: newId() }
      await (channel === 'unread'
        ? store.write(lookAtUnread, look)
        : store.write(lookAtChanges, look))
    }
    due = await store.read(dueReminders, dueAt(seconds))
  }
  const rows = (await store.read(listOutbox, { limit: 1_000 })).filter(({ id }) => !before.has(id))
  rows.sort((one, other) => (one.id < other.id ? -1 : 1))
  return rows.map(({ target, ids }) => {
    const content: EventContent = JSON.parse(ids)
    return { ...content, to: target, ids: [...(content.ids ?? [])] }
  })
}

const typesOf = (found: readonly Event[]) => found.map(({ type, ids }) => [type, ids])

export function webhookPromises(promise: PromiseOf): void {
  promise(
    'what is unread for long enough is one event for a user, once, and the timer goes with the last of it; a disabled user is none',
    async (world) => {
      const ann = await world.addUser('ann')
      await webhook(world, { events: ['notification.unread'] })
      const only = { watch: { marks: false, arrivals: false, unreadAfterMs } }
      const first = await world.send(ann, 'Hi', { at: at(0), ...only })
      const second = await world.send(ann, 'Hi', { at: at(1), ...only })
      const read = await world.send(ann, 'Hi', { at: at(1), ...only })
      const third = await world.send(ann, 'Hi', { at: at(9), ...only })
      await actsOf(world, ann).read(read, 2)
      assert.deepEqual(await lookedAt(world, 59), [])
      assert.deepEqual(typesOf(await lookedAt(world, 61)), [
        ['notification.unread', [second, first]],
      ])
      assert.deepEqual(typesOf(await lookedAt(world, 69)), [['notification.unread', [third]]])
      assert.deepEqual(await world.store.read(dueReminders, dueAt(9_999)), [])
      await world.send(ann, 'Hi', { at: at(70), ...only })
      await world.store.write(disableUser, { userId: ann.id, at: at(71) })
      assert.deepEqual(await lookedAt(world, 999), [])
    },
  )

  promise('with more unread than one look reads and none due, the timer waits', async (world) => {
    const ann = await world.addUser('ann')
    await webhook(world, { events: ['notification.unread'] })
    const only = { marks: false, arrivals: false, unreadAfterMs }
    const id = await world.send(ann, 'Hi', { at: at(-30), watch: only })
    await actsOf(world, ann).read(id, 0)
    await world.sendTimes(1_001, ann)
    await world.store.write(lookAtUnread, { userId: ann.id, at: at(30), rowId: newId() })
    assert.deepEqual(await world.store.read(dueReminders, dueAt(59)), [])
    const found = await lookedAt(world, 60)
    const counts = found.map(({ ids, more = 0 }) => ids.length + more)
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      1_001,
    )
  })

  promise(
    'a notification that arrives, is read, archived or deleted is an event, and a mark that is taken back is none',
    async (world) => {
      const ann = await world.addUser('ann')
      await webhook(world)
      const ids = [
        await world.send(ann, 'Hi', { watch }),
        await world.send(ann, 'Hi', { watch }),
      ] as const
      const one = (id: string) => ({ userId: ann.id, id, at: at(1) })
      assert.deepEqual(typesOf(await lookedAt(world, 0)), [['notification.created', [...ids]]])
      await world.store.write(markRead, one(ids[0]))
      await world.store.write(markRead, one(ids[1]))
      await world.store.write(markUnread, one(ids[1]))
      assert.deepEqual(typesOf(await lookedAt(world, 0)), [['notification.read', [ids[0]]]])
      await world.store.write(archive, one(ids[1]))
      assert.deepEqual(typesOf(await lookedAt(world, 0)), [['notification.archived', [ids[1]]]])
      await world.store.write(unarchive, one(ids[1]))
      assert.deepEqual(typesOf(await lookedAt(world, 0)), [['notification.read', [ids[1]]]])
      await world.store.write(remove, one(ids[0]))
      const [gone, ...others] = await lookedAt(world, 0)
      assert.deepEqual(
        [gone?.type, gone?.ids, gone?.reason, others],
        ['notification.deleted', [ids[0]], 'deleted', []],
      )
    },
  )

  promise(
    'a snooze that ends is an arrival for a webhook that waits for no other event',
    async (world) => {
      const ann = await world.addUser('ann')
      const added = await webhook(world, { events: ['notification.created'] })
      const only = { watch: { marks: false, arrivals: true, unreadAfterMs: null } }
      const id = await world.send(ann, 'Hi', { at: at(0), ...only })
      const created = [['notification.created', [id]]]
      assert.deepEqual(typesOf(await lookedAt(world, 0)), created)
      const woken = async (seconds: number) => {
        await actsOf(world, ann).snooze(id, seconds - 1, seconds)
        const due = await world.store.read(findDue, at(seconds))
        await world.store.write(removeOrWake, { due, at: at(seconds) })
      }
      await woken(10)
      assert.deepEqual(typesOf(await lookedAt(world, 10)), created)
      await world.store.write(removeWebhook, { id: added, application: null })
      await woken(20)
      assert.deepEqual(await world.store.read(dueReminders, dueAt(99)), [])
    },
  )

  promise('a bulk act is one event, and of many one for each 200', async (world) => {
    const ann = await world.addUser('ann')
    await webhook(world, { events: ['notification.read', 'notification.archived'] })
    await world.send(ann, 'Hi', { watch: marks })
    await world.sendTimes(maxItems + 4, ann)
    await world.bulk(markAllRead, { userId: ann.id, throughId: null, at: at(1) })
    const read = await lookedAt(world, 1)
    assert.deepEqual(
      [read.map(({ type }) => type), read.map(({ ids }) => ids.length)],
      [
        ['notification.read', 'notification.read'],
        [maxItems, 5],
      ],
    )
    assert.equal(new Set(read.flatMap(({ ids }) => ids)).size, maxItems + 5)
    await world.bulk(archiveRead, { userId: ann.id, at: at(2) })
    assert.deepEqual(
      (await lookedAt(world, 2)).map(({ type, ids }) => [type, ids.length]),
      [
        ['notification.archived', maxItems],
        ['notification.archived', 5],
      ],
    )
  })

  promise(
    'no application learns of the notifications of another, nor of other categories than it asked for',
    async (world) => {
      const ann = await world.addUser('ann')
      const ofShop = await webhook(world, { application: 'shop' })
      const ofForum = await webhook(world, { application: 'forum', categories: ['posts'] })
      const producers = { shop: '', forum: '' }
      for (const application of ['shop', 'forum'] as const)
        producers[application] = await world.addProducer(application, { application })
      const send = (from: keyof typeof producers, category: string | null) =>
        world.send(ann, 'Hi', { producerId: producers[from], watch, category })
      const sold = await send('shop', 'posts')
      const post = await send('forum', 'posts')
      await send('forum', null)
      const expected = new Map([
        [ofShop, [sold]],
        [ofForum, [post]],
      ])
      const acts = [
        () => world.store.write(markAllRead, { userId: ann.id, throughId: null, at: at(1) }),
        async () => {
          for (const id of await world.ids(ann)) await actsOf(world, ann).remove(id, 2)
        },
      ]
      for (const act of [async () => {}, ...acts]) {
        await act()
        const found = await lookedAt(world, 0)
        assert.equal(found.length, 2)
        for (const { to, ids } of found) assert.deepEqual(ids, expected.get(to))
      }
    },
  )

  promise(
    'a user whom no webhook concerns has no timer, and none is left when the webhooks are gone',
    async (world) => {
      const ann = await world.addUser('ann')
      const id = await world.send(ann)
      const mark = { userId: ann.id, id, at: at(1) }
      await world.store.write(markRead, mark)
      assert.deepEqual(await world.store.read(dueReminders, dueAt(9)), [])
      const added = await webhook(world)
      await world.send(ann, 'Hi', { watch: marks })
      await world.store.write(markUnread, mark)
      await world.store.write(removeWebhook, { id: added, application: null })
      assert.deepEqual(await lookedAt(world, 9), [])
      await world.store.write(markRead, mark)
      assert.deepEqual(await world.store.read(dueReminders, dueAt(9)), [])
    },
  )

  promise('one delivery to many, and deliveries at the same time, lose no event', async (world) => {
    const people = await world.addUsers(5)
    await webhook(world, { events: ['notification.created'] })
    await world.deliver({ to: people, watch })
    const sent: string[] = []
    const found: string[] = []
    const [ann] = people as [Person]
    for (let round = 0; round < 10; round++) {
      const [id, ...more] = await Promise.all([
        world.send(ann, 'Hi', { watch }),
        lookedAt(world, 0),
      ])
      sent.push(id)
      found.push(...more.flat().flatMap(({ ids }) => ids))
    }
    found.push(...(await lookedAt(world, 0)).flatMap(({ ids }) => ids))
    assert.equal(found.length, sent.length + people.length)
    for (const id of sent) assert.ok(found.includes(id))
  })

  promise(
    'what is read is what waits, in order, until it is acknowledged, and no row that came in between',
    async (world) => {
      const { store } = world
      const ann = await world.addUser('ann')
      const id = await webhook(world, { url: null })
      const take = async (after: number | null, cursor: number) =>
        (await store.write(takeEvents, { webhookId: id, after, cursor, limit: 2 })).rows.map(
          (row) => JSON.parse(row.ids),
        )
      const first = await world.send(ann, 'Hi', { watch })
      await lookedAt(world, 0)
      await actsOf(world, ann).read(first, 1)
      await lookedAt(world, 0)
      const typesIn = (rows: EventContent[]) => rows.map(({ type }) => type).sort()
      const both = ['notification.created', 'notification.read']
      assert.deepEqual(typesIn(await take(null, 11)), both)
      assert.deepEqual(typesIn(await take(null, 12)), both)
      assert.deepEqual(typesIn(await take(11, 13)), both, 'a cursor of before acknowledges nothing')
      await actsOf(world, ann).archive(first, 2)
      await lookedAt(world, 0)
      assert.deepEqual(typesIn(await take(13, 14)), ['notification.archived'])
      assert.deepEqual(await take(14, 15), [])
      const waiting = await store.read(listOutbox, { limit: 9 })
      assert.deepEqual(waiting, [])
      await store.write(noteMissed, id)
      const missed = async () =>
        (await store.write(takeEvents, { webhookId: id, after: null, cursor: 1, limit: 1 })).missed
      assert.deepEqual([await missed(), await missed()], [true, false])
    },
  )

  promise(
    'items beyond the size of an event have their ids alone, and are not read',
    async (world) => {
      const ann = await world.addUser('ann')
      await webhook(world, { events: ['notification.unread'] })
      const only = { watch: { marks: false, arrivals: false, unreadAfterMs } }
      const ids: string[] = []
      for (let n = 0; n < 50; n++) ids.unshift(await world.send(ann, 'x'.repeat(1_000), only))
      const read = await world.send(ann, 'Hi', only)
      await lookedAt(world, 60)
      await actsOf(world, ann).read(read, 61)
      const [row] = await world.store.read(listOutbox, { limit: 9 })
      const reads = mock.method(world.store, 'read').mock
      const event =
        (await eventOf(world.store, row ?? assert.fail('there is no row'))) ??
        assert.fail('there is no event')
      reads.restore()
      const ofItems = reads.calls.flatMap(({ arguments: [step, input] }) =>
        (step as unknown) === itemsOf ? [(input as unknown as { ids: string[] }).ids.length] : [],
      )
      assert.deepEqual(ofItems, [20])
      const items = (event.data as { items: { id: string; title?: string }[] }).items
      assert.deepEqual(
        items.map(({ id }) => id),
        ids,
      )
      const { length } = items.filter(({ title }) => title !== undefined)
      assert.ok(length > 5 && length < 20, `${length} have a title`)
      assert.ok(Buffer.byteLength(JSON.stringify(event)) < 20_000)
    },
  )

  promise('an event that is read is due when it is too old', async (world) => {
    const ann = await world.addUser('ann')
    await webhook(world, { url: null })
    await world.send(ann, 'Hi', { watch })
    await lookedAt(world, 5)
    assert.equal(await world.store.write(retryOutbox, { ids: null, at: at(6) }), 0)
    const [row] = await world.store.read(listOutbox, { limit: 9 })
    assert.deepEqual([row?.kind, row?.dueAt], ['event-to-read', at(5) + readWithinMs])
  })

  promise(
    'an erasure is an event of the user’s application and of those of none, and removes what waits about the user',
    async (world) => {
      const ann = await world.addUser('ann', 'shop')
      const ofShop = await webhook(world, { application: 'shop' })
      const ofNone = await webhook(world)
      await webhook(world, { application: 'forum' })
      const producerId = await world.addProducer('shop', { application: 'shop' })
      await world.send(ann, 'Hi', { producerId, watch })
      assert.equal((await lookedAt(world, 0)).length, 1)
      await world.send(ann, 'Hi', { producerId, watch })
      await world.store.write(deleteUser, { userId: ann.id, at: at(5) })
      const rows = await world.store.read(listOutbox, { limit: 9 })
      assert.deepEqual(rows.map(({ target }) => target).sort(), [ofShop, ofNone].sort())
      for (const { ids } of rows)
        assert.deepEqual(JSON.parse(ids).user, { id: ann.id, username: null, externalId: null })
      assert.deepEqual(await world.store.read(dueReminders, dueAt(9)), [])
    },
  )

  promise(
    'an application changes and removes its own webhooks, and has as many as allowed',
    async (world) => {
      const { store } = world
      const id = await webhook(world, { application: 'shop' })
      const other = await webhook(world, { application: 'shop' })
      const change = {
        id,
        url: 'https://b.example/',
        events: 'user.erased',
        categories: null,
        unreadAfterMs: 7_000,
      }
      const secret = { sealed: 'new', previousUntil: at(9) }
      assert.equal(
        await store.write(changeWebhook, { ...change, application: 'forum', secret }),
        'absent',
      )
      assert.equal(
        await store.write(changeWebhook, { ...change, application: 'shop', secret }),
        'done',
      )
      const changed = await store.read(findWebhook, id)
      assert.deepEqual(
        [changed?.url, changed?.sealedSecret, changed?.sealedPrevious],
        [change.url, 'new', `secret of ${id}`],
      )
      assert.equal((await store.read(findWebhook, other))?.unreadAfterMs, 7_000)
      await store.write(resealWebhooks, [
        { id, from: 'new', to: 'newer' },
        { id, from: 'another', to: 'x' },
      ])
      assert.equal((await store.read(findWebhook, id))?.sealedSecret, 'newer')
      assert.equal(await store.write(removeWebhook, { id, application: 'forum' }), 'absent')
      assert.equal(await store.write(removeWebhook, { id, application: 'shop' }), 'done')
      const inherits = await webhook(world, { application: 'shop', unreadAfterMs: null })
      assert.equal((await store.read(findWebhook, inherits))?.unreadAfterMs, 7_000)
      for (let n = 2; n < maxWebhooks; n++) await webhook(world, { application: 'shop' })
      const added = {
        ...change,
        id: newId(),
        application: 'shop',
        sealedSecret: '',
        createdAt: at(0),
      }
      assert.equal(await store.write(addWebhook, added), 'too-many')
      assert.equal((await store.read(listWebhooks)).length, maxWebhooks)
    },
  )

  promise('a new secret replaces one that cannot be opened, and keeps any other', async (world) => {
    const { store } = world
    const id = await webhook(world, { application: 'shop' })
    const sealing = new Sealing({ current: 'a secret of the service' })
    const needs = { store, sealing, now: () => at(1), allowsPrivate: false }
    const rotated = async () => {
      const named = { id, application: 'shop' }
      const { secret, webhook: after } = await changeByOwner(needs, named, { rotateSecret: true })
      const { sealedSecret, sealedPrevious, previousUntil } = after
      assert.equal(await sealing.open('webhooks', sealedSecret), secret)
      return { secret, sealedPrevious, previousUntil }
    }
    const { secret, ...before } = await rotated()
    assert.deepEqual(before, { sealedPrevious: null, previousUntil: null })
    const { sealedPrevious } = await rotated()
    assert.equal(await sealing.open('webhooks', sealedPrevious ?? ''), secret)
  })

  promise(
    'a webhook whose requests all fail for three days is disabled once, and a success enables it',
    async (world) => {
      const { store } = world
      const id = await webhook(world)
      const fail = (seconds: number) => {
        const audit = [auditEntry(serviceSource, { event: 'webhook-disabled', at: at(seconds) })]
        const attempt = { id, at: at(seconds), outcome: 'timeout', isAccepted: false }
        return store.write(noteAttempt, { ...attempt, disableAfterMs: 100_000, audit })
      }
      const succeed = (seconds: number) => {
        const attempt = { id, at: at(seconds), outcome: 'status-200', isAccepted: true }
        return store.write(noteAttempt, { ...attempt, disableAfterMs: 100_000 })
      }
      assert.deepEqual([await fail(0), await fail(99)], [false, false])
      await succeed(100)
      assert.deepEqual(
        [await fail(101), await fail(200), await fail(201), await fail(202)],
        [false, false, true, false],
      )
      const disabled = await store.read(findWebhook, id)
      assert.deepEqual([disabled?.disabledAt, disabled?.failingSince], [at(201), at(101)])
      const ann = await world.addUser('ann')
      await world.send(ann, 'Hi', { watch })
      assert.deepEqual(await lookedAt(world, 999), [])
      await succeed(300)
      const enabled = await store.read(findWebhook, id)
      assert.equal(enabled?.disabledAt, null)
      const newest = { at: at(300), outcome: 'status-200' }
      assert.deepEqual(JSON.parse(enabled?.attempts ?? '').slice(0, 2), [
        newest,
        { at: at(202), outcome: 'timeout' },
      ])
      for (let n = 0; n < 30; n++) await succeed(400 + n)
      const { attempts = '' } = (await store.read(findWebhook, id)) ?? {}
      assert.equal(JSON.parse(attempts).length, 20)
    },
  )
}
