// When does the timer of mails, pushes and events look again?
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { usualHours } from '../../inbox/mail-rules.ts'
import { maxRead, split } from './decision.store.ts'

const waiting = Array.from({ length: maxRead }, (_, n) => {
  return {
    seq: n + 1,
    id: `${n}`,
    category: null,
    producer: null,
    isNotice: 0,
    sent_at: '2026-01-01T00:00:00.000Z',
  }
})

test('if what was read is never due, the timer looks at once at what is beyond', () => {
  const { due, next } = split(waiting, { dueAtOf: () => undefined, hours: usualHours }, 5)
  assert.deepEqual([due.length, next], [0, { dueAt: 5, from: maxRead + 1 }])
})

test('if all that was read waits, the timer looks when the first of it is due', () => {
  const { due, next } = split(waiting, { dueAtOf: () => 9, hours: usualHours }, 5)
  assert.deepEqual([due.length, next], [0, { dueAt: 9, from: 1 }])
})

test('if some of it is due, the timer looks at once at the rest', () => {
  const dueAtOf = ({ seq }: { seq: number }) => (seq === 1 ? 4 : 9)
  const { due, next } = split(waiting, { dueAtOf, hours: usualHours }, 5)
  assert.deepEqual([due.map(({ seq }) => seq), next], [[1], { dueAt: 5, from: 2 }])
})
