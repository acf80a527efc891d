// The page for operators lists every event of the audit log, in the words of events.ts.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { events } from './events.ts'

test('docs/operations.md lists every event of the audit log with its sentence, and no other (A16)', () => {
  const page = readFileSync('docs/operations.md', 'utf8')
  const section = page.split('\n## The audit log\n')[1]?.split('\n## ')[0] ?? ''
  const rows = [...section.matchAll(/^\| `([a-z-]+)` \| (.+) \|$/gm)].map(([, name, meaning]) => [name, meaning])
  assert.deepEqual(rows, Object.entries(events))
})
