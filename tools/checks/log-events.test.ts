// Checks that every line of the log has an event name that docs/operations.md explains. It reads the source as text.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { productFiles } from './product-files.ts'

const calls = productFiles.flatMap((path) => {
  const code = readFileSync(path, 'utf8')
  return [...code.matchAll(/\blog\.(?:fatal|error|warn|info|debug|trace)\(\s*(\{[^}]*)/g)].map(([, fields = '']) => ({
    path,
    fields,
  }))
})
const events = calls.flatMap(({ fields }) => /\bevent: '([a-z-]+)'/.exec(fields)?.[1] ?? [])

test('every line of the log has an event name (A16)', () => {
  assert.ok(calls.length > 15, 'No calls of the log were found: this test looks in the wrong place.')
  const nameless = calls
    .filter(({ fields }) => !/\bevent\b/.test(fields))
    .map(({ path, fields }) => `${path}: ${fields}`)
  assert.deepEqual(nameless, [])
})

test('docs/operations.md explains every event', () => {
  const page = readFileSync('docs/operations.md', 'utf8')
  const unexplained = events.filter((event) => !page.includes(`| \`${event}\``) && !page.includes(`, \`${event}\``))
  assert.deepEqual(unexplained, [])
})
