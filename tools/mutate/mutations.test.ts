// Each text of the table of mutations is in its file once, and each test file exists. `npm run
// mutate` runs them.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { mutated, readMutations } from './mutate.ts'

test('every mutation changes one place of its file, and its tests exist', () => {
  const mutations = readMutations()
  assert.ok(mutations.length > 0)
  assert.equal(new Set(mutations.map(({ name }) => name)).size, mutations.length)
  for (const mutation of mutations) {
    const source = readFileSync(mutation.file, 'utf8')
    assert.notEqual(mutated(source, mutation), source)
    for (const file of mutation.tests) assert.ok(existsSync(file), file)
  }
})
