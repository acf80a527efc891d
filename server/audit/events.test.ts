import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { events } from './events.ts'

test('docs/operations/audit-events.md lists every event of the audit log with its sentence, and no other (A16)', () => {
  const page = readFileSync('docs/operations/audit-events.md', 'utf8')
  const rows = [...page.matchAll(/^- `([a-z-]+)`: (.+)$/gm)].map(([, name, meaning]) => [
    name,
    meaning,
  ])
  assert.deepEqual(rows, Object.entries(events))
})
