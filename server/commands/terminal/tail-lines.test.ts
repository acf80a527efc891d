import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Notification } from 'carillon-client'
import { jsonLine } from '../../basics/control-characters.ts'
import { linesOf } from './tail-lines.ts'

process.env.TZ = 'UTC'
const time = '2026-01-01T12:34:56.789Z'
const now = new Date('2026-01-01T23:00:00Z')
const tea: Notification = {
  id: '019b76da-a800-777f-b193-19e90aae4137',
  title: 'Tea is ready',
  body: null,
  url: null,
  category: null,
  data: null,
  key: null,
  createdAt: time,
  updatedAt: time,
  seq: 1,
  count: 1,
  read: false,
  readAt: null,
  actor: null,
  icon: null,
  actions: null,
  format: 'text',
  priority: 'normal',
  expiresAt: null,
  archivedAt: null,
  snoozedUntil: null,
}
const state = { version: 7, unread: 2, total: 9, unseen: 1, position: '7-00000000' }

test('shows each event on a line, with the body below', () => {
  const full = { ...tea, body: 'with milk\nand sugar', url: '/kitchen', category: 'house' }
  assert.deepEqual(linesOf({ type: 'created', ...state, notification: full }, now), [
    '12:34:56    new     Tea is ready [house] /kitchen',
    '            with milk',
    '            and sugar',
  ])
  assert.deepEqual(linesOf({ type: 'listed', notification: tea }, now), [
    '12:34:56    unread  Tea is ready',
  ])
  const read = { ...tea, read: true, readAt: '2026-01-01T13:00:00.000Z' }
  assert.deepEqual(linesOf({ type: 'listed', notification: read }, now), [
    '12:34:56    read    Tea is ready',
  ])
  assert.deepEqual(linesOf({ type: 'read', ...state, notification: read }, now), [
    '13:00:00    read    Tea is ready',
  ])
  assert.deepEqual(
    linesOf({ type: 'read-all', ...state, through: tea.id, throughSeq: 9, readAt: time }, now),
    ['12:34:56    read    everything; 2 unread of 9'],
  )
  assert.deepEqual(linesOf({ type: 'replaced', ...state, notification: tea }, now), [
    '12:34:56    changed Tea is ready',
  ])
  const archived = { ...read, archivedAt: time }
  assert.deepEqual(linesOf({ type: 'archived', ...state, notification: archived }, now), [
    '            archived Tea is ready',
  ])
  assert.deepEqual(linesOf({ type: 'unarchived', ...state, notification: read }, now), [
    '            unarchived Tea is ready',
  ])
  assert.deepEqual(
    linesOf({ type: 'archive-read', ...state, throughSeq: 9, archivedAt: time }, now),
    ['12:34:56    archived everything that was read; 9 left'],
  )
  assert.deepEqual(linesOf({ type: 'seen', ...state }, now), ['            seen    1 unseen'])
  assert.deepEqual(linesOf({ type: 'removed', ...state, id: tea.id, reason: 'expired' }, now), [
    `            removed ${tea.id} (expired)`,
  ])
  assert.deepEqual(linesOf({ type: 'hello', ...state }, now), ['-- live: 2 unread of 9 --'])
  const later = new Date('2026-01-02T00:00:00Z')
  assert.deepEqual(linesOf({ type: 'listed', notification: tea }, later), [
    '2026-01-01  unread  Tea is ready',
  ])
  assert.match(linesOf({ type: 'resync', ...state }, now).join(), /2 unread of 9/)
})

test('C9: no text of a notification controls the terminal', () => {
  const hostile = '\u001b[2J\u0007\u009b31m\u0000\u202e\u2066\u2028\rnew'
  const evil = {
    ...tea,
    title: hostile,
    body: `${hostile}\n${hostile}`,
    url: `/${hostile}`,
    category: hostile,
  }
  for (const type of ['created', 'replaced', 'read'] as const) {
    const event = { type, ...state, notification: evil }
    for (const line of [...linesOf(event, now), jsonLine(event)])
      assert.doesNotMatch(line, /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u)
    assert.deepEqual(JSON.parse(jsonLine(event)), event)
  }
})
