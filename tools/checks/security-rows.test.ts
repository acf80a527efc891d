// Checks that each row id which code, tests and docs name, such as (S5), has its row in SECURITY.md.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

const rows = readFileSync('SECURITY.md', 'utf8').split('\n')
const ids = new Set(rows.flatMap((row) => /^\| ((?:[A-Z]\d+ ?)+)\|/.exec(row)?.[1]?.match(/[A-Z]\d+/g) ?? []))
/** One of the letters that rows have; not a part of '%A9' or '-O1'. */
const rowId = /(?<![\w%-])[ABCEIKLNPRSTUWZ][1-9]\d?(?!\w)/g

test('SECURITY.md has a row for each row id that is named', () => {
  assert.ok(ids.size > 70, 'No rows were found: SECURITY.md has another form now.')
  const files = globSync(['*.md', '{bench,client,docs,element,server,tests,tools}/**/*.{md,sql,ts}'], {
    exclude: (name) => name === 'node_modules',
  })
  const unknown = files.flatMap((file) =>
    (readFileSync(file, 'utf8').match(rowId) ?? []).filter((id) => !ids.has(id)).map((id) => `${file} names ${id}`),
  )
  assert.deepEqual(unknown, [])
})
