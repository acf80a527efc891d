// Random acts, delays, quiet hours and kills: what is sent is what a model says, by mail and push.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  at,
  isoAt,
  newId,
  type Person,
  type PromiseOf,
  runs,
  type World,
} from '../../contract/world.ts'
import { markRead, snooze } from '../../inbox/marks.store.ts'
import { findDue, removeOrWake } from '../../inbox/retention.store.ts'
import { changePreferences } from '../../preferences/preferences.store.ts'
import { updateUser } from '../../users/users.store.ts'
import { unreadOf } from '../items.store.ts'
import { claimOutbox, dueQueues, type OutboxRow, removeFromOutbox } from '../outbox.store.ts'
import { subscriptionOf } from '../push/push.contract.ts'
import { decidePush, pushContent } from '../push/push.store.ts'
import { addSubscription } from '../push/subscriptions.store.ts'
import { decideMail } from '../unread/unread.store.ts'
import { dueReminders } from './decision.store.ts'

const channels = ['mail', 'push'] as const
type Channel = (typeof channels)[number]
const minute = 60
const pushDelay = 10
const delays = { '5m': 5 * minute, '1h': 60 * minute }
const gone = 7

const anyCategory = fc.constantFrom('fast', 'slow')
const anyPick = fc.nat({ max: 99 })
const anyAct = fc.oneof(
  fc.record({ act: fc.constant('deliver' as const), category: anyCategory }),
  fc.record({ act: fc.constant('again' as const), pick: anyPick }),
  fc.record({ act: fc.constant('read' as const), pick: anyPick }),
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

/** `wakesAt`: in seconds; while it is set, the item is snoozed. `round`: rises when it may be sent again. */
type Item = {
  id: string
  category: 'fast' | 'slow'
  arrivedAt: number
  isUnread: boolean
  wakesAt?: number | undefined
  round: number
}

/** Of one reader: what the service does, and what it has to do. */
class Reach {
  readonly #world: World
  readonly #person: Person
  readonly #items: Item[] = []
  readonly #rules = { fast: '5m' as '5m' | '1h', slow: '1h' as '5m' | '1h' }
  readonly #muted = new Set<string>()
  #isQuiet = false
  #now = 0
  /** Channel, id and round, as often as it was sent. */
  readonly #sent = new Map<string, number>()
  readonly #expected = new Set<string>()
  #kills = 0

  private constructor(world: World, person: Person) {
    this.#world = world
    this.#person = person
  }

  static async of(world: World): Promise<Reach> {
    const [person = assert.fail()] = await world.addUsers(1)
    const { id: userId } = person
    const { store } = world
    await store.write(updateUser, { userId, email: 'a@example.org', emailVerifiedAt: at(0) })
    const signInId = newId()
    await world.signIn(person, { signInId })
    const subscription = subscriptionOf(userId, signInId)
    assert.equal(await store.write(addSubscription, subscription), 'done')
    const reach = new Reach(world, person)
    for (const [category, mail] of Object.entries(reach.#rules))
      await reach.#prefer({ choices: [{ category, mail }] })
    return reach
  }

  async perform(act: Act): Promise<void> {
    if (act.act === 'deliver') await this.#deliver(act.category)
    if (act.act === 'again') await this.#sendAgain(this.#picked(act.pick))
    if (act.act === 'read') await this.#read(this.#picked(act.pick))
    if (act.act === 'snooze') await this.#snooze(this.#picked(act.pick), act.minutes * minute)
    if (act.act === 'mute') await this.#mute(act.category, act.isOn)
    if (act.act === 'rule') {
      this.#rules[act.category] = act.mail
      await this.#prefer({ choices: [{ category: act.category, mail: act.mail }] })
    }
    if (act.act === 'quiet') {
      this.#isQuiet = act.isOn
      const quietHours = act.isOn ? { from: '22:00', to: '07:00' } : null
      await this.#prefer({ hours: { quietHours } })
    }
    if (act.act === 'kill') {
      this.#kills++
      await this.#decide()
      await this.#send(gone)
    }
    if (act.act === 'pass') await this.pass(act.minutes * minute)
  }

  async #mute(category: string, isOn: boolean): Promise<void> {
    if (isOn) this.#muted.add(category)
    else this.#muted.delete(category)
    await this.#prefer({ choices: [{ category, mutedUntil: isOn ? 'forever' : null }] })
  }

  async #read(item: Item | undefined): Promise<void> {
    if (item === undefined) return
    item.isUnread = false
    const mark = { userId: this.#person.id, id: item.id, at: at(this.#now) }
    await this.#world.store.write(markRead, mark)
  }

  async #snooze(item: Item | undefined, seconds: number): Promise<void> {
    if (item === undefined) return
    item.isUnread = false
    item.wakesAt = this.#now + seconds
    const mark = { userId: this.#person.id, id: item.id, at: at(this.#now) }
    await this.#world.store.write(snooze, { ...mark, until: at(item.wakesAt) })
  }

  #picked(pick: number): Item | undefined {
    const unread = this.#items.filter(({ isUnread }) => isUnread)
    return unread[pick % Math.max(1, unread.length)]
  }

  #prefer(change: Partial<Parameters<typeof changePreferences>[0]>) {
    const now = isoAt(this.#now)
    return this.#world.store.write(changePreferences, { userId: this.#person.id, now, ...change })
  }

  async #deliver(category: 'fast' | 'slow', key = newId(), more = {}): Promise<string> {
    const id = await this.#world.send(this.#person, 'Hi', {
      at: at(this.#now),
      category,
      key,
      mailUnread: '5m',
      pushDelayMs: pushDelay * 1_000,
      ids: [key],
      ...more,
    })
    const isUnread = !this.#muted.has(category)
    if (id === key && !('renotify' in more))
      this.#items.push({ id, category, arrivedAt: this.#now, isUnread, round: 0 })
    return id
  }

  async #sendAgain(item: Item | undefined): Promise<void> {
    if (item === undefined) return
    await this.#deliver(item.category, item.id, { ids: [newId()], renotify: true })
    Object.assign(item, {
      arrivedAt: this.#now,
      isUnread: !this.#muted.has(item.category),
      round: item.round + 1,
    })
  }

  async pass(seconds: number): Promise<void> {
    this.#now += seconds
    const { store } = this.#world
    const due = await store.read(findDue, at(this.#now))
    await store.write(removeOrWake, { due, at: at(this.#now) })
    for (const item of this.#items)
      if (item.wakesAt !== undefined && item.wakesAt <= this.#now)
        Object.assign(item, { wakesAt: undefined, isUnread: true, round: item.round + 1 })
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
      const decision = { userId, at: at(this.#now), pushDelayMs: pushDelay * 1_000, rowId: newId() }
      if (channel === 'push') await store.write(decidePush, decision)
      else await store.write(decideMail, { ...decision, mailUnread: '5m' })
    }
    this.#expect()
  }

  /** A process that is gone has sent, and could not remove the rows. */
  async #send(holder: number): Promise<void> {
    const { store } = this.#world
    for (const channel of channels) {
      const due = { channel, at: at(this.#now) }
      const queues = await store.read(dueQueues, due)
      const places = queues.map((queue) => ({ queue, limit: 99 }))
      for (const row of await store.write(claimOutbox, { ...due, holder, places })) {
        for (const id of await this.#contentOf(channel, row)) this.#note(channel, id)
        if (holder !== gone) await store.write(removeFromOutbox, { id: row.id, holder })
      }
    }
  }

  async #contentOf(channel: Channel, { ids: json }: OutboxRow): Promise<string[]> {
    const ids: string[] = JSON.parse(json)
    const userId = this.#person.id
    const { store } = this.#world
    if (channel === 'mail') return store.read(unreadOf, { userId, ids })
    const { unseen } = await store.read(pushContent, { userId, maxIds: 99 })
    return unseen.map(({ id }) => id).filter((id) => ids.includes(id))
  }

  #note(channel: Channel, id: string): void {
    const item = this.#items.find((one) => one.id === id) ?? assert.fail(`${id} is unknown`)
    assert.ok(item.isUnread, 'it was read before it was sent')
    const key = `${channel} ${id} ${item.round}`
    this.#sent.set(key, (this.#sent.get(key) ?? 0) + 1)
  }

  /** What has to be sent at this moment, by the rules of now. */
  #expect(): void {
    const hour = (this.#now / 3_600) % 24
    if (this.#isQuiet && (hour >= 22 || hour < 7)) return
    for (const { id, category, arrivedAt, isUnread, round } of this.#items) {
      if (!isUnread) continue
      if (arrivedAt + pushDelay <= this.#now) this.#expected.add(`push ${id} ${round}`)
      if (arrivedAt + delays[this.#rules[category]] <= this.#now)
        this.#expected.add(`mail ${id} ${round}`)
    }
  }

  #compare(): void {
    assert.deepEqual([...this.#sent.keys()].sort(), [...this.#expected].sort())
    for (const count of this.#sent.values()) assert.ok(count <= 1 + this.#kills)
  }
}

export function timersRandomPromises(promise: PromiseOf): void {
  promise('random acts, delays, quiet hours and kills send what the model says', async (world) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyAct, { minLength: 10, maxLength: 40, size: 'max' }),
        async (acts) => {
          const reach = await Reach.of(world)
          for (const act of acts) await reach.perform(act)
          await reach.pass(36 * 60 * minute)
        },
      ),
      { numRuns: runs(4, 500) },
    )
  })
}
