// How much of a notification's content its row leaves out.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contentJson } from '../notification-json.ts'
import { toColumns } from './content.ts'

const createdAt = '2026-01-01T00:00:00.000Z'
const given = {
  title: 'Hi "you"',
  body: 'There',
  url: '/x',
  category: 'orders',
  data: { a: [1, 2] },
  key: null,
  createdAt,
}

function columnsOf(change: Partial<typeof given> | { key: string }) {
  const all = { ...given, ...change }
  return toColumns({ content: contentJson(all), category: all.category })
}

test('a row has neither the names nor the nulls that are the same in every notification, and the category once', () => {
  const content = String.raw`Hi \"you\"","body":"There","url":"/x"`
  assert.deepEqual(columnsOf({}), { content, data: '{"a":[1,2]}', createdAt })
  assert.deepEqual(columnsOf({ category: null as never, data: null as never }), { content, data: 'null', createdAt })
})

test('a row has all members of a content with a key, or with a category that JSON escapes', () => {
  const content = String.raw`Hi \"you\"","body":"There","url":"/x","category":"orders","data":{"a":[1,2]},"key":"k"`
  assert.deepEqual(columnsOf({ key: 'k' }), { content, data: null, createdAt })
  assert.equal(columnsOf({ category: '"' }).data, null)
})
