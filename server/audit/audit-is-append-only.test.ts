// Reads the SQL of both engines as text.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

const files = globSync('server/**/*.{ts,sql}', { exclude: (name) => name === 'bundle' }).filter(
  (file) => !/\.test\.ts$/.test(file),
)
const statements = files.flatMap((file) => {
  const text = readFileSync(file, 'utf8').replaceAll(/\s+/g, ' ')
  return [
    ...text.matchAll(
      /\b(insert (?:or \w+ )?into|update(?: or \w+)?|delete from|truncate(?: table)?) audit\b.{0,300}/gi,
    ),
  ].map(([found, verb = '']) => ({
    file: file.replace(/.*server\//, ''),
    verb: verb.toLowerCase(),
    found,
  }))
})
const of = (verb: string) => statements.filter((statement) => statement.verb.startsWith(verb))

test('no statement changes a row of the audit log (A16)', () => {
  assert.deepEqual([...of('update'), ...of('truncate'), ...of('insert or')], [])
  for (const { found } of of('insert'))
    assert.doesNotMatch(found.split(/;|`/)[0] ?? '', /on conflict/i)
})

test('one statement adds rows; rows are removed by the retention and by an erasure alone (A16)', () => {
  assert.deepEqual(
    of('insert')
      .map(({ file }) => file)
      .toSorted(),
    ['audit/audit.store.ts'],
  )
  assert.deepEqual(
    of('delete')
      .map(({ file }) => file)
      .toSorted(),
    ['audit/audit.store.ts', 'users/erasure/erasure.store.ts'],
  )
})
