import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { pino } from 'pino'
import { AuditLines } from './audit-lines.ts'
import { auditEntry } from './entry.ts'
import type { EventName } from './events.ts'

function place() {
  const written: { event: string; actor: string; count?: number; userId?: string }[] = []
  const log = pino({ base: null }, { write: (line: string) => written.push(JSON.parse(line)) })
  return { lines: new AuditLines(log), written }
}
const entry = (event: EventName, actor: string, n = 0) =>
  auditEntry(
    { actor, address: null, userAgent: null, requestId: null },
    { event, at: 1, userId: `u${n}` },
  )

test('an import of 50,000 users writes 12 lines and then one a second with the count (L1)', (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.after(() => mock.timers.reset())
  const { lines, written } = place()
  for (let second = 0; second < 10; second++) {
    for (let n = 0; n < 5_000; n++) lines.write(entry('user-created', 'operator', n))
    mock.timers.tick(1_000)
  }
  assert.equal(written.length, 12 + 10)
  assert.deepEqual(
    written.slice(12).map(({ event, actor, count }) => [event, actor, count]),
    [4_988, ...Array<number>(9).fill(5_000)].map((count) => ['user-created', 'operator', count]),
  )
  mock.timers.tick(1_000)
  lines.write(entry('user-created', 'operator', 7))
  assert.equal(written.at(-1)?.userId, 'u7', 'a line of its own again')
})

test('changes by users, sign-ins and revocations keep a line each, and a stop loses no count (A16)', () => {
  const { lines, written } = place()
  for (let n = 0; n < 20; n++) lines.write(entry('user-created', 'producer:k', n))
  for (let n = 0; n < 20; n++) lines.write(entry('password-changed', 'user', n))
  for (let n = 0; n < 20; n++) lines.write(entry('user-erased', 'producer:k', n))
  assert.equal(written.length, 12 + 20 + 20)
  lines.end()
  assert.equal(written.at(-1)?.count, 8)
})
