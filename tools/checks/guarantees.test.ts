// Checks that each id which code, tests and docs name, such as (S5), is one guarantee, that each
// guarantee names its code and tests, and that SECURITY.md stays a page of a minute.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'

const pages = globSync('docs/guarantees/*.md')
/** The first and last line of a table have no cells. */
const rows = pages.flatMap((page) =>
  readFileSync(page, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| ') && line.split(' | ').length === 4)
    .filter((line) => !line.startsWith('| id |'))
    .map((line) => ({
      page,
      id: /^\| ((?:[A-Z]\d+ ?)*)\|/.exec(line)?.[1] ?? '',
      cells: line.split(' | '),
    })),
)
const ids = new Set(rows.flatMap(({ id }) => id.match(/[A-Z]\d+/g) ?? []))
/** An id has one of the letters that rows have, and is no part of '%A9' or '-O1'. */
const rowId = /(?<![\w%-])[A-FIKLNPRSTUWZ][1-9]\d?(?!\w)/g

test('docs/guarantees has a row for each id that is named', () => {
  assert.ok(ids.size > 70, 'No rows were found: docs/guarantees has another form now.')
  const files = globSync(
    ['*.md', '{bench,client,docs,element,server,tests,tools}/**/*.{md,sql,ts}'],
    {
      exclude: (name) => name === 'node_modules',
    },
  )
  const unknown = files.flatMap((file) =>
    (readFileSync(file, 'utf8').match(rowId) ?? [])
      .filter((id) => !ids.has(id))
      .map((id) => `${file} names ${id}`),
  )
  assert.deepEqual(unknown, [])
})

test('each guarantee has an id, and no id is in two rows', () => {
  const all = rows.flatMap(
    ({ page, id, cells }) => id.match(/[A-Z]\d+/g) ?? [`none, ${page}: ${cells[1]}`],
  )
  assert.deepEqual(
    all.filter((id, index) => id.startsWith('none') || all.indexOf(id) !== index),
    [],
  )
})

test('the tests of each guarantee name its id', () => {
  const unnamed = rows.flatMap(({ page, id, cells: [, , , proof = ''] }) => {
    const files = [...proof.matchAll(/\]\((\S+?\.ts)\)/g)].map(([, path = '']) =>
      readFileSync(join(dirname(page), path), 'utf8'),
    )
    const isNamed = (one: string) => files.some((text) => new RegExp(`\\b${one}\\b`).test(text))
    return (id.match(/[A-Z]\d+/g) ?? [])
      .filter((one) => !isNamed(one))
      .map((one) => `${page}: ${one}`)
  })
  assert.deepEqual(unnamed, [])
})

test('each guarantee names its code and a test', () => {
  const unproved = rows.filter(
    ({ cells: [, , code = '', proof = ''] }) =>
      !/\]\(\S+\)/.test(code) || !/\.(test|contract)\.ts\)|\.grit\)/.test(proof),
  )
  assert.deepEqual(
    unproved.map(({ page, id, cells }) => `${page}: ${id}${cells[1]}`),
    [],
  )
})

test('docs/guarantees.md leads to each of its pages', () => {
  const overview = readFileSync('docs/guarantees.md', 'utf8')
  assert.deepEqual(
    pages.filter((page) => !overview.includes(`](guarantees/${basename(page)})`)),
    [],
  )
})

test('docs/asvs.md counts its results', () => {
  const text = readFileSync('docs/asvs.md', 'utf8')
  const results = [...text.matchAll(/^\| \d+\.\d+\.\d+ \| [12] \| ([^|]+) \|/gm)].map(
    ([, result]) => result,
  )
  const totals = [...text.matchAll(/^\| ([^|]+) \| (\d+) \| [^|]+ \|$/gm)]
  assert.equal(totals.length, 4)
  for (const [, result = '', total] of totals)
    assert.equal(results.filter((one) => one === result).length, Number(total), result)
})

test('SECURITY.md has at most 60 lines and 500 words', () => {
  const text = readFileSync('SECURITY.md', 'utf8')
  assert.ok(text.split('\n').length <= 61)
  assert.ok(text.split(/\s+/).length <= 500)
})
