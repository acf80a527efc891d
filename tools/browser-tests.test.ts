import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { startsBrowser } from './browser-tests.ts'

test('finds the tests that start Chromium, by their own imports and by those of other files, and no others', () => {
  assert.equal(startsBrowser('tests/e2e/browser/browser.test.ts'), true)
  assert.equal(startsBrowser('tests/e2e/pages/account/account.test.ts'), true)
  assert.equal(startsBrowser('tests/e2e/packages/packages.test.ts'), false)
  const api = globSync('{server,tests/api}/**/*.test.ts')
  assert.ok(api.length > 100)
  assert.deepEqual(api.filter(startsBrowser), [])
})

test('finds every test that handles a page of playwright-core', () => {
  const tests = globSync('{client,tests}/**/*.test.ts', {
    exclude: (name) => name === 'node_modules',
  })
  const driving = tests.filter((file) => / from 'playwright-core'/.test(readFileSync(file, 'utf8')))
  assert.ok(driving.length > 5)
  assert.deepEqual(
    driving.filter((file) => !startsBrowser(file)),
    [],
  )
})
