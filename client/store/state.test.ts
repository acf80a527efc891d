import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Notification, NotificationPage, StreamEvent } from '../transport/types.ts'
import {
  type Act,
  type Extent,
  emptyState,
  isUnclear,
  itemsOf,
  withActs,
  withEvents,
  withLists,
  withPages,
} from './state.ts'

const all: Extent = { status: 'inbox', categories: [], end: 0, rest: 0 }
const now = '2026-01-01T00:00:00.000Z'

function notification(seq: number, more: Partial<Notification> = {}): Notification {
  const texts = {
    title: `Number ${seq}`,
    body: null,
    url: null,
    category: null,
    data: null,
    key: null,
  }
  const times = {
    createdAt: now,
    updatedAt: now,
    readAt: null,
    archivedAt: null,
    expiresAt: null,
    snoozedUntil: null,
  }
  const look = {
    actor: null,
    icon: null,
    actions: null,
    format: 'text',
    priority: 'normal',
  } as const
  return { id: `n${seq}`, seq, count: 1, read: false, ...texts, ...look, ...times, ...more }
}

function pageOf(items: Notification[], version: number): NotificationPage {
  const unread = items.filter(({ read }) => !read).length
  return { items, total: items.length, unread, version, hasMore: false, next: null }
}

type OneType = 'created' | 'read' | 'unread' | 'archived' | 'unarchived' | 'snoozed'

function event(type: OneType, one: Notification, version: number, unread = 0): StreamEvent {
  return {
    type,
    position: `${version}-5f3a9c1e`,
    version,
    unread,
    total: 9,
    unseen: 0,
    notification: one,
  }
}

test('a read-all does not mark what was marked as unread after it', () => {
  const state = withPages(emptyState, all, [pageOf([notification(2), notification(1)], 7)])
  const readAll = { type: 'read-all', through: null, throughSeq: 2, readAt: now } as const
  const counters = { position: '6-5f3a9c1e', unread: 0, total: 2, unseen: 0 }
  const unread = (version: number) =>
    itemsOf(withEvents(state, [{ ...readAll, ...counters, version }]).known, all).filter(
      ({ read }) => !read,
    ).length
  assert.deepEqual([unread(6), unread(8)], [2, 0])
})

test('what a page repeats without a change is the same object', () => {
  const first = withPages(emptyState, all, [pageOf([notification(2), notification(1)], 3)])
  const page = pageOf([notification(2, { title: 'other' }), notification(1)], 4)
  const second = withPages(emptyState, all, [page], first.known)
  assert.equal(second.known.get('n1'), first.known.get('n1'))
  assert.notEqual(second.known.get('n2'), first.known.get('n2'))
})

test('several acts on one notification have the effect of the last, and what an act displays is the same object each time', () => {
  const state = withPages(emptyState, all, [pageOf([notification(2), notification(1)], 3)])
  const read: Act = { type: 'read', id: 'n1' }
  const unread: Act = { type: 'unread', id: 'n1' }
  assert.equal(withActs(state, [read], now).unread, 1)
  assert.equal(withActs(state, [read, unread], now).unread, 2)
  assert.equal(
    withActs(state, [read], now).known.get('n1'),
    withActs(state, [read], now).known.get('n1'),
  )
})

test('an act on a notification that is gone changes nothing', () => {
  const { unread, idle } = withActs(emptyState, [{ type: 'read', id: 'n1' }], now)
  assert.deepEqual([unread, idle.length], [0, 1])
})

test('what no list contains is forgotten, so that a page can stay open for weeks', () => {
  const items = [
    notification(4, { read: true }),
    notification(3),
    notification(2),
    notification(1, { category: 'a' }),
  ]
  const state = withPages(emptyState, all, [pageOf(items, 5)])
  const unread: Extent = { status: 'unread', categories: [], end: 3, rest: 0 }
  const { known } = withLists(state, [unread, { ...all, categories: ['a'] }])
  assert.deepEqual([...known.keys()], ['n3', 'n1'])
})

test('taking back a read-all counts those that are not loaded, and what was read before stays read', () => {
  const items = [notification(3), notification(2, { read: true, readAt: now }), notification(1)]
  const state = { ...withPages(emptyState, all, [pageOf(items, 5)]), unread: 40 }
  const readAll: Act = { type: 'read-all', throughSeq: 3, isExact: true }
  assert.equal(withActs(state, [readAll], now).unread, 0)
  const undo: Act = { type: 'undo', of: 'read-all', ids: ['n3', 'n1'], made: 40 }
  const shown = withActs(state, [readAll, undo], now)
  assert.equal(shown.unread, 40)
  assert.deepEqual(
    itemsOf(shown.known, all).map(({ read }) => read),
    [false, true, false],
  )
})

test('a list with categories cannot tell from which place something has moved up that a newer page of another list has', () => {
  const one = notification(7, { category: 'a' })
  const { known } = withPages(emptyState, all, [pageOf([one], 12)])
  const partial: Extent = { status: 'inbox', categories: ['a'], end: 5, rest: 3 }
  assert.deepEqual(
    [11, 13].map((version) =>
      isUnclear(
        partial,
        { ...event('created', one, version), type: 'replaced' } as StreamEvent,
        known,
      ),
    ),
    [true, false],
  )
})

test('however pages and events arrive, the list is that of the newest versions', () => {
  const change = fc.record({
    seq: fc.integer({ min: 1, max: 6 }),
    read: fc.boolean(),
    pageAt: fc.integer({ max: 30 }),
  })
  fc.assert(
    fc.property(
      fc.array(change, { maxLength: 30 }),
      fc.integer({ min: 0, max: 30 }),
      (changes, pageAt) => {
        const truth = new Map<number, Notification>()
        let state = emptyState
        let page = pageOf([], 0)
        const late: StreamEvent[] = []
        for (const [index, { seq, read }] of changes.entries()) {
          const one = notification(seq, { read, title: `at ${index}`, readAt: read ? now : null })
          truth.set(seq, one)
          late.push(event('read', one, index + 1))
          const items = [...truth.values()].sort((a, b) => b.seq - a.seq)
          if (index + 1 === Math.min(pageAt, changes.length)) page = pageOf(items, index + 1)
        }
        // The page is newer than the first events, and older than the last ones.
        state = withEvents(withPages(state, all, [page]), late)
        const expected = [...truth.values()].sort((a, b) => b.seq - a.seq)
        assert.equal(JSON.stringify(itemsOf(state.known, all)), JSON.stringify(expected))
      },
    ),
  )
})
