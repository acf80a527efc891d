// Checks that docs/operations.md explains the event of every line of the log. The compiler checks that each line has one.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { isTest } from './product-files.ts'

test('docs/operations.md explains every event of the log (A16)', () => {
  const files = globSync('server/**/*.ts').filter((path) => !isTest(path))
  const events = files.flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(/\bevent: '([a-z-]+)'/g)].map(([, event = '']) => event),
  )
  const page = readFileSync('docs/operations.md', 'utf8')
  const unexplained = events.filter((event) => !page.includes(`| \`${event}\``) && !page.includes(`, \`${event}\``))
  assert.ok(events.length > 15, 'No events were found: this test looks in the wrong place.')
  assert.deepEqual([...new Set(unexplained)], [])
})
