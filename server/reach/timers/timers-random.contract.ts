// Random acts, delays, quiet hours and kills: what is sent is what a model says, by mail, push and
// webhook.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { newOrderedId } from '../../basics/ids.ts'
import {
  at,
  isoAt,
  newId,
  type Person,
  type PromiseOf,
  runs,
  type World,
} from '../../contract/world.ts'
import { archiveRead, markAllRead } from '../../inbox/bulk/bulk.store.ts'
import { archive, markRead, remove, snooze, unarchive } from '../../inbox/marks.store.ts'
import { findDue, removeOrWake } from '../../inbox/retention.store.ts'
import { type EventType, eventTypes } from '../../inbox/webhook-events.store.ts'
import { changePreferences } from '../../preferences/preferences.store.ts'
import { deleteUser } from '../../users/erasure/erasure.store.ts'
import { updateUser } from '../../users/users.store.ts'
import { eventOf } from '../../webhooks/event-body.ts'
import { lookAtChanges, lookAtUnread, type Row, takeEvents } from '../../webhooks/looks.store.ts'
import { addWebhook, removeWebhook } from '../../webhooks/webhooks.store.ts'
import { unreadOf } from '../items.store.ts'
import { claimOutbox, dueQueues, type OutboxRow, removeFromOutbox } from '../outbox.store.ts'
import { subscriptionOf } from '../push/push.contract.ts'
import { decidePush, pushContent } from '../push/push.store.ts'
import { addSubscription } from '../push/subscriptions.store.ts'
import { decideMail } from '../unread/unread.store.ts'
import { dueReminders } from './decision.store.ts'

const ownChannels = ['mail', 'push'] as const
const channels = [...ownChannels, 'unread', 'webhook'] as const
type OwnChannel = (typeof ownChannels)[number]
const minute = 60
const pushDelay = 10
const delays = { '5m': 5 * minute, '1h': 60 * minute }
const unreadAfter = 10 * minute
const gone = 7
/** The application has two webhooks: one gets requests, and its backend reads the other. */
const ways = ['sent', 'read'] as const
type Way = (typeof ways)[number]

const anyCategory = fc.constantFrom('fast', 'slow')
const anyPick = fc.nat({ max: 99 })
const anyAct = fc.oneof(
  fc.record({ act: fc.constant('deliver' as const), category: anyCategory }),
  fc.record({ act: fc.constant('again' as const), pick: anyPick }),
  fc.record({ act: fc.constantFrom('read', 'archive', 'unarchive', 'remove'), pick: anyPick }),
  fc.record({ act: fc.constantFrom('readAll', 'archiveRead') }),
  fc.record({
    act: fc.constant('snooze' as const),
    pick: anyPick,
    minutes: fc.constantFrom(3, 90),
  }),
  fc.record({ act: fc.constant('mute' as const), category: anyCategory, isOn: fc.boolean() }),
  fc.record({
    act: fc.constant('rule' as const),
    category: anyCategory,
    mail: fc.constantFrom('5m' as const, '1h' as const),
  }),
  fc.record({ act: fc.constant('quiet' as const), isOn: fc.boolean() }),
  fc.record({ act: fc.constant('kill' as const) }),
  fc.record({ act: fc.constant('pass' as const), minutes: fc.constantFrom(1, 4, 5, 61, 600) }),
)
type Act = typeof anyAct extends fc.Arbitrary<infer One> ? One : never

type State = 'unread' | 'read' | 'archived' | 'snoozed' | 'gone'
const listedOrArchived = ['unread', 'read', 'archived'] as const

/** `wakesAt`: in seconds; while it is set, the item is snoozed. `round`: rises when it may be sent again. */
type Item = {
  id: string
  category: 'fast' | 'slow'
  arrivedAt: number
  state: State
  wakesAt?: number | undefined
  round: number
  /** What no look has seen yet, by its number among all acts. */
  arrival?: number | undefined
  change?: { number: number; type: EventType } | undefined
}

const eventOfState: Partial<Record<State, EventType>> = {
  read: 'notification.read',
  archived: 'notification.archived',
  gone: 'notification.deleted',
}

/** Of one reader: what the service does, and what it has to do. */
class Reach {
  readonly #world: World
  readonly #person: Person
  readonly #webhooks: Record<Way, string> = { sent: newId(), read: newId() }
  /** This webhook gets the events of one category. */
  readonly #filtered: Way
  /** The newest is last. */
  readonly #items: Item[] = []
  readonly #rules = { fast: '5m' as '5m' | '1h', slow: '1h' as '5m' | '1h' }
  readonly #muted = new Set<string>()
  #isQuiet = false
  #now = 0
  #acts = 0
  /** Channel, id and round, as often as it was sent; row of an event and id, too. */
  readonly #sent = new Map<string, number>()
  readonly #expected = new Set<string>()
  readonly #wereDue = new Set<string>()
  /** Type and id, in order. */
  readonly #events: Record<Way, string[]> = { sent: [], read: [] }
  readonly #expectedEvents: Record<Way, string[]> = { sent: [], read: [] }
  #cursor: number | null = null
  #kills = 0

  private constructor(world: World, person: Person, filtered: Way) {
    this.#world = world
    this.#person = person
    this.#filtered = filtered
  }

  static async of(world: World, filtered: Way): Promise<Reach> {
    const [person = assert.fail()] = await world.addUsers(1)
    const { id: userId } = person
    const { store } = world
    await store.write(updateUser, { userId, email: 'a@example.org', emailVerifiedAt: at(0) })
    const signInId = newId()
    await world.signIn(person, { signInId })
    const subscription = subscriptionOf(userId, signInId)
    assert.equal(await store.write(addSubscription, subscription), 'done')
    const reach = new Reach(world, person, filtered)
    for (const [category, mail] of Object.entries(reach.#rules))
      await reach.#prefer({ choices: [{ category, mail }] })
    for (const way of ways) await reach.#addWebhook(way)
    return reach
  }

  async #addWebhook(way: Way): Promise<void> {
    const added = await this.#world.store.write(addWebhook, {
      id: this.#webhooks[way],
      application: '',
      url: way === 'sent' ? 'https://shop.example/' : null,
      events: eventTypes.join(),
      categories: way === this.#filtered ? '["fast"]' : null,
      unreadAfterMs: unreadAfter * 1_000,
      sealedSecret: '',
      createdAt: at(0),
    })
    assert.equal(added, 'done')
  }

  /** Nothing of it reaches the next run. */
  async end(): Promise<void> {
    const { store } = this.#world
    for (const id of Object.values(this.#webhooks))
      await store.write(removeWebhook, { id, application: null })
    await store.write(deleteUser, { userId: this.#person.id, at: at(this.#now) })
  }

  async perform(act: Act): Promise<void> {
    this.#acts++
    switch (act.act) {
      case 'deliver':
        return this.#deliver(act.category)
      case 'again':
        return this.#sendAgain(this.#picked(act.pick, ['unread']))
      case 'read':
        return this.#mark(this.#picked(act.pick, ['unread', 'read']), markRead, 'read')
      case 'archive':
        return this.#mark(this.#picked(act.pick, listedOrArchived), archive, 'archived')
      case 'unarchive':
        return this.#mark(this.#picked(act.pick, ['archived']), unarchive, 'read')
      case 'remove':
        return this.#mark(this.#picked(act.pick, listedOrArchived), remove, 'gone')
      case 'readAll':
        await this.#world.bulk(markAllRead, { ...this.#moment(), throughId: null })
        return this.#changeAll('unread', 'read')
      case 'archiveRead':
        await this.#world.bulk(archiveRead, this.#moment())
        return this.#changeAll('read', 'archived')
      case 'snooze':
        return this.#snooze(this.#picked(act.pick, ['unread']), act.minutes * minute)
      case 'mute':
        return this.#mute(act.category, act.isOn)
      case 'rule':
        this.#rules[act.category] = act.mail
        return this.#prefer({ choices: [{ category: act.category, mail: act.mail }] })
      case 'quiet':
        this.#isQuiet = act.isOn
        return this.#prefer({
          hours: { quietHours: act.isOn ? { from: '22:00', to: '07:00' } : null },
        })
      case 'kill':
        this.#kills++
        await this.#decide()
        return this.#send(gone)
      case 'pass':
        return this.pass(act.minutes * minute)
    }
  }

  #moment() {
    return { userId: this.#person.id, at: at(this.#now) }
  }

  async #mute(category: string, isOn: boolean): Promise<void> {
    if (isOn) this.#muted.add(category)
    else this.#muted.delete(category)
    await this.#prefer({ choices: [{ category, mutedUntil: isOn ? 'forever' : null }] })
  }

  async #mark(item: Item | undefined, mark: typeof archive, state: State): Promise<void> {
    if (item === undefined) return
    assert.equal(await this.#world.store.write(mark, { ...this.#moment(), id: item.id }), 'done')
    this.#change(item, state)
  }

  #changeAll(from: State, to: State): void {
    for (const item of this.#items) if (item.state === from) this.#change(item, to)
  }

  #change(item: Item, state: State): void {
    if (item.state === state) return
    item.state = state
    const type = eventOfState[state]
    item.change = type && { number: this.#acts, type }
    if (state === 'gone') item.arrival = undefined
  }

  async #snooze(item: Item | undefined, seconds: number): Promise<void> {
    if (item === undefined) return
    this.#change(item, 'snoozed')
    item.wakesAt = this.#now + seconds
    const snoozed = { ...this.#moment(), id: item.id, until: at(item.wakesAt) }
    await this.#world.store.write(snooze, snoozed)
  }

  #picked(pick: number, states: readonly State[]): Item | undefined {
    const found = this.#items.filter(({ state }) => states.includes(state))
    return found[pick % Math.max(1, found.length)]
  }

  async #prefer(change: Partial<Parameters<typeof changePreferences>[0]>): Promise<void> {
    const now = isoAt(this.#now)
    await this.#world.store.write(changePreferences, { userId: this.#person.id, now, ...change })
  }

  async #deliver(category: 'fast' | 'slow', key = newId(), more = {}): Promise<void> {
    const id = await this.#world.send(this.#person, 'Hi', {
      at: at(this.#now),
      category,
      key,
      mailUnread: '5m',
      pushDelayMs: pushDelay * 1_000,
      watch: { marks: true, arrivals: true, unreadAfterMs: unreadAfter * 1_000 },
      ids: [key],
      ...more,
    })
    assert.equal(id, key)
    const before = this.#items.find((item) => item.id === id)
    const round = before === undefined ? 0 : before.round + 1
    const state = this.#muted.has(category) ? 'archived' : 'unread'
    this.#arrive({ id, category, arrivedAt: this.#now, state, round })
  }

  async #sendAgain(item: Item | undefined): Promise<void> {
    if (item !== undefined)
      await this.#deliver(item.category, item.id, { ids: [newId()], renotify: true })
  }

  /** It is the newest from now on. */
  #arrive(arrived: Item): void {
    const before = this.#items.findIndex(({ id }) => id === arrived.id)
    if (before >= 0) this.#items.splice(before, 1)
    this.#items.push({ ...arrived, arrival: ++this.#acts })
  }

  async pass(seconds: number): Promise<void> {
    this.#now += seconds
    const { store } = this.#world
    const due = await store.read(findDue, at(this.#now))
    await store.write(removeOrWake, { due, at: at(this.#now) })
    const woken = this.#items.filter(({ wakesAt = Infinity }) => wakesAt <= this.#now)
    woken.sort((one, other) => (one.wakesAt ?? 0) - (other.wakesAt ?? 0))
    for (const { id, category, arrivedAt, round } of woken)
      this.#arrive({ id, category, arrivedAt, state: 'unread', round: round + 1 })
    await this.#decide()
    await this.#send(store.holder() ?? assert.fail())
    this.#compare()
  }

  async #decide(): Promise<void> {
    const { store } = this.#world
    for (const { userId, channel } of await store.read(dueReminders, {
      channels,
      at: at(this.#now),
    })) {
      const look = { userId, at: at(this.#now), rowId: newOrderedId(at(this.#now)) }
      if (channel === 'push')
        await store.write(decidePush, { ...look, pushDelayMs: pushDelay * 1_000 })
      if (channel === 'mail') await store.write(decideMail, { ...look, mailUnread: '5m' })
      if (channel === 'unread') await store.write(lookAtUnread, look)
      if (channel === 'webhook') await store.write(lookAtChanges, look)
    }
    this.#expectChanges()
    this.#expectUnread()
    this.#expect()
  }

  /** A process that is gone has sent, and could not remove the rows. */
  async #send(holder: number): Promise<void> {
    const { store } = this.#world
    for (const channel of [...ownChannels, 'webhook'] as const) {
      const due = { channel, at: at(this.#now) }
      const queues = await store.read(dueQueues, due)
      const places = queues.map((queue) => ({ queue, limit: 99 }))
      for (const row of await store.write(claimOutbox, { ...due, holder, places })) {
        if (channel === 'webhook') await this.#noteEvent('sent', row)
        else for (const id of await this.#contentOf(channel, row)) this.#note(channel, id)
        if (holder !== gone) await store.write(removeFromOutbox, { id: row.id, holder })
      }
    }
    await this.#readEvents(holder)
  }

  /** A backend that is gone has read them all, and acknowledged none. */
  async #readEvents(holder: number): Promise<void> {
    const { store } = this.#world
    const limit = holder === gone ? 99 : 3
    let found: Row[]
    do {
      const cursor = ++this.#acts
      const taking = { webhookId: this.#webhooks.read, after: this.#cursor, cursor, limit }
      found = (await store.write(takeEvents, taking)).rows
      for (const row of found) await this.#noteEvent('read', row)
      this.#cursor = holder === gone ? null : cursor
    } while (this.#cursor !== null && found.length > 0)
  }

  async #contentOf(channel: OwnChannel, { ids: json }: OutboxRow): Promise<string[]> {
    const ids: string[] = JSON.parse(json)
    const userId = this.#person.id
    const { store } = this.#world
    if (channel === 'mail') return store.read(unreadOf, { userId, ids })
    const { unseen } = await store.read(pushContent, { userId, maxIds: 99 })
    return unseen.map(({ id }) => id).filter((id) => ids.includes(id))
  }

  #note(channel: OwnChannel, id: string): void {
    const item = this.#itemOf(id)
    assert.equal(item.state, 'unread', 'it was read before it was sent')
    this.#countSent(`${channel} ${id} ${item.round}`)
  }

  async #noteEvent(way: Way, row: Row): Promise<void> {
    const event = await eventOf(this.#world.store, row)
    if (event === undefined) return
    assert.ok('items' in event.data)
    for (const { id } of event.data.items) {
      if (event.type === 'notification.unread') assert.equal(this.#itemOf(id).state, 'unread')
      if (this.#countSent(`event ${row.id} ${id}`) === 1)
        this.#events[way].push(`${event.type} ${id}`)
    }
  }

  #itemOf(id: string): Item {
    return this.#items.find((one) => one.id === id) ?? assert.fail(`${id} is unknown`)
  }

  #countSent(what: string): number {
    const count = (this.#sent.get(what) ?? 0) + 1
    this.#sent.set(what, count)
    return count
  }

  /** What has to be sent at this moment, by the rules of now. */
  #expect(): void {
    const hour = (this.#now / 3_600) % 24
    if (this.#isQuiet && (hour >= 22 || hour < 7)) return
    for (const { id, category, arrivedAt, state, round } of this.#items) {
      if (state !== 'unread') continue
      if (arrivedAt + pushDelay <= this.#now) this.#expectOne(`push ${id} ${round}`, category)
      if (arrivedAt + delays[this.#rules[category]] <= this.#now)
        this.#expectOne(`mail ${id} ${round}`, category)
    }
  }

  /** What is muted when it is due is not sent later either. */
  #expectOne(what: string, category: string): void {
    if (this.#wereDue.has(what)) return
    this.#wereDue.add(what)
    if (!this.#muted.has(category)) this.#expected.add(what)
  }

  #expectChanges(): void {
    const changes = this.#items.flatMap((item) => [
      { item, type: 'notification.created' as const, number: item.arrival },
      { item, type: item.change?.type, number: item.change?.number },
    ])
    changes.sort((one, other) => (one.number ?? 0) - (other.number ?? 0))
    for (const { item, type, number } of changes)
      if (number !== undefined) this.#expectEvent(item, type ?? assert.fail())
    for (const item of this.#items) Object.assign(item, { arrival: undefined, change: undefined })
  }

  /** Quiet hours are the reader's, and hold for mails and pushes only. */
  #expectUnread(): void {
    for (const item of this.#items.toReversed()) {
      const isDue = item.state === 'unread' && item.arrivedAt + unreadAfter <= this.#now
      const once = `event ${item.id} ${item.round}`
      if (!isDue || this.#wereDue.has(once)) continue
      this.#wereDue.add(once)
      if (!this.#muted.has(item.category)) this.#expectEvent(item, 'notification.unread')
    }
  }

  #expectEvent({ id, category }: Item, type: EventType): void {
    for (const way of ways)
      if (way !== this.#filtered || category === 'fast')
        this.#expectedEvents[way].push(`${type} ${id}`)
  }

  #compare(): void {
    const own = [...this.#sent.keys()].filter((what) => !what.startsWith('event'))
    assert.deepEqual(own.sort(), [...this.#expected].sort())
    assert.deepEqual(this.#events.read, this.#expectedEvents.read)
    assert.deepEqual(this.#events.sent.toSorted(), this.#expectedEvents.sent.toSorted())
    for (const count of this.#sent.values()) assert.ok(count <= 1 + this.#kills)
  }
}

export function timersRandomPromises(promise: PromiseOf): void {
  promise('random acts, delays, quiet hours and kills send what the model says', async (world) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyAct, { minLength: 10, maxLength: 40, size: 'max' }),
        fc.constantFrom(...ways),
        async (acts, filtered) => {
          const reach = await Reach.of(world, filtered)
          try {
            for (const act of acts) await reach.perform(act)
            await reach.pass(36 * 60 * minute)
          } finally {
            await reach.end()
          }
        },
      ),
      { numRuns: runs(8, 500) },
    )
  })
}
