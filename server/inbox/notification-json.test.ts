import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newestIdIn, noItems } from './notification-json.ts'

test('names the newest notification of a page by its id, and none for an empty page', () => {
  const newest = '01900000-0000-7000-8000-000000000002'
  assert.equal(newestIdIn(`[{"id":"${newest}","title":"a"},{"id":"01900000-0000-7000-8000-000000000001"}]`), newest)
  assert.equal(newestIdIn(noItems), undefined)
})
