// Checks that docs/operations/log-events.md explains the event of every line of the log, or docs/operations/audit-events.md if the audit log has it.
// The compiler checks that each line has one.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { isTest } from './product-files.ts'

test('docs/operations/log-events.md and docs/operations/audit-events.md explain every event of the log (A16)', () => {
  const files = globSync('server/**/*.ts').filter((path) => !isTest(path))
  const events = files.flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(/\bevent: '([a-z-]+)'/g)].map(
      ([, event = '']) => event,
    ),
  )
  const pages = ['log', 'audit']
    .map((name) => readFileSync(`docs/operations/${name}-events.md`, 'utf8'))
    .join('\n')
  // A row of the list has its events, a colon, and what they mean.
  const rows = [...pages.matchAll(/^- ((?:`[a-z-]+`, )*`[a-z-]+`): \S/gm)]
  const explained = rows.flatMap(([, names = '']) => names.replaceAll('`', '').split(', '))
  assert.ok(events.length > 15, 'No events were found: this test looks in the wrong place.')
  assert.deepEqual([...new Set(events.filter((event) => !explained.includes(event)))], [])
})
