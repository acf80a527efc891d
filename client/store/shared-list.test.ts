import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type ModelFilter, ModelInbox } from '../testing/model-inbox.ts'
import type { NotificationPage, StreamEvent } from '../transport/types.ts'
import { isDue, SharedList } from './shared-list.ts'
import {
  type Act,
  emptyState,
  type InboxState,
  isUnclear,
  withActs,
  withEvents,
  withPages,
} from './state.ts'

test('a page that is older than the events does not make a list certain that those events made unclear', () => {
  const page: NotificationPage = {
    items: [],
    total: 0,
    unread: 3,
    version: 4,
    hasMore: false,
    next: null,
  }
  const list = new SharedList({ status: 'read' })
  list.isUnclear = true
  list.extendTo(page, new Map(), 5)
  assert.equal(list.isUnclear, true)
  list.extendTo({ ...page, version: 5 }, new Map(), 5)
  assert.equal(list.isUnclear, false)
})

const statuses = [undefined, 'unread', 'read', 'archived', 'snoozed', 'all'] as const
const filters: ModelFilter[] = statuses.flatMap((status) =>
  [3, 100].flatMap((limit) => [
    { status, limit },
    { status, limit, category: ['a'] },
  ]),
)

/** There are no timers: what is unclear is requested at once. */
class Client {
  readonly inbox = new ModelInbox()
  readonly lists: { list: SharedList; filter: ModelFilter }[]
  state: InboxState = emptyState

  constructor(some: ModelFilter[]) {
    this.lists = some.map((filter) => ({ filter, list: new SharedList(filter) }))
    this.show()
  }

  show(acts: readonly Act[] = []): void {
    const shown = withActs(this.state, acts, '2026-01-01T00:00:00.000Z')
    for (const { list } of this.lists)
      list.show({ ...shown, categories: {}, state: 'live', error: undefined })
  }

  receive(events: readonly StreamEvent[]): void {
    const { known } = this.state
    for (const { list } of this.lists)
      list.isUnclear ||= events.some((event) => isUnclear(list, event, known))
    this.state = withEvents(this.state, events)
    this.show()
    for (const { list, filter } of this.lists) if (isDue(list)) this.load(list, filter)
    this.show()
  }

  load(list: SharedList, filter: ModelFilter): void {
    const page = this.inbox.page({ ...filter, limit: list.size })
    this.state = withPages(this.state, list, [page])
    list.extendTo(page, this.state.known, this.inbox.version)
  }

  expected(filter: ModelFilter, { snapshot }: SharedList) {
    const { items, total } = this.inbox.page({ ...filter, limit: snapshot.items.length })
    const { unread, unseen } = this.inbox.counters
    return { items, total, unread, unseen }
  }

  /** Only the service knows whether what an act puts back is unseen. */
  withoutTimes({ type }: Act) {
    return this.lists.map(({ list: { snapshot } }) => ({
      ...snapshot,
      unseen: type === 'unread' || type === 'unarchive' ? undefined : snapshot.unseen,
      items: snapshot.items.map((one) => ({
        ...one,
        readAt: null,
        archivedAt: one.archivedAt !== null,
      })),
    }))
  }

  checkAll(made: string): void {
    for (const { list, filter } of this.lists) {
      const { items, total, unread, unseen } = list.snapshot
      const message = `${JSON.stringify(filter)} after ${made}`
      assert.deepEqual({ items, total, unread, unseen }, this.expected(filter, list), message)
      const first = this.inbox.page(filter).items.length
      assert.ok(items.length >= first, `${message}: ${items.length} of ${first}`)
    }
  }
}

const names = [
  'deliver',
  'mute',
  'raise',
  'read',
  'unread',
  'archive',
  'unarchive',
  'snooze',
  'remove',
] as const
const bulk = ['read-all', 'archive-read', 'seen'] as const
const change = fc.record({
  name: fc.constantFrom(...names, 'deliver' as const, ...bulk),
  at: fc.double({ min: 0, max: 0.999, noNaN: true }),
  category: fc.constantFrom('a', 'b', null),
  isShownNow: fc.boolean(),
})
type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never

function actOf(
  { name, at, category }: Change,
  inbox: ModelInbox,
): Exclude<Act, { type: 'undo' }> | undefined {
  const items = [...inbox.items.values()]
  const one = items[Math.floor(at * items.length)]
  if (name === 'deliver' || name === 'mute' || name === 'raise' || !one) return undefined
  if (name === 'archive-read') return { type: name }
  if (name === 'seen') return { type: name, throughSeq: one.seq }
  if (name === 'read-all')
    return { type: name, throughSeq: one.seq, categories: category ? [category] : [] }
  if (name === 'snooze') return { type: name, id: one.id, until: '2026-02-01T00:00:00.000Z' }
  return { type: name, id: one.id }
}

function make(one: Change, inbox: ModelInbox): StreamEvent | undefined {
  const act = actOf(one, inbox)
  if (act) return inbox.act(act)
  const items = [...inbox.items.values()]
  const old = items[Math.floor(one.at * items.length)]
  return one.name === 'raise' && old
    ? inbox.raise(old)
    : inbox.deliver(one.category, one.name === 'mute')
}

test('after any changes of an inbox, by event alone or with the requests that are due, each list is that of the inbox', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
      const client = new Client(filters)
      client.receive([])
      const events: StreamEvent[] = []
      for (const one of changes) {
        const event = make(one, client.inbox)
        if (event) events.push(event)
        // Several events of a batch have the counters of its end.
        if (!one.isShownNow) continue
        client.receive(events.splice(0))
        client.checkAll(changes.map(({ name }) => name).join())
      }
    }),
    { numRuns: 300 },
  )
})

test('an act displays at once what its event brings, in every list that is loaded, and is idle then', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 40 }), change, (changes, last) => {
      const client = new Client(filters.filter(({ limit }) => limit === 100))
      client.receive([])
      client.receive(changes.flatMap((one) => make(one, client.inbox) ?? []))
      const act = actOf(last, client.inbox)
      if (!act) return
      client.show([act])
      const shown = client.withoutTimes(act)
      const event = client.inbox.act(act)
      client.receive(event ? [event] : [])
      assert.deepEqual(shown, client.withoutTimes(act))
      assert.deepEqual(withActs(client.state, [act], '').idle, [act])
    }),
    { numRuns: 300 },
  )
})
