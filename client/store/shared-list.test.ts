// What a list knows after pages and events that overlap, without a network.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NotificationPage } from '../transport/types.ts'
import { SharedList } from './shared-list.ts'

test('a page that is older than the events does not make a list certain that those events made unclear', () => {
  const page: NotificationPage = { items: [], total: 0, unread: 3, version: 4, hasMore: false, next: null }
  const list = new SharedList({ status: 'read' })
  list.isUnclear = true
  list.extendTo(page, new Map(), 5)
  assert.equal(list.isUnclear, true)
  list.extendTo({ ...page, version: 5 }, new Map(), 5)
  assert.equal(list.isUnclear, false)
})
