import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firstIdAt, isIdShaped, madeAt, newId, newOrderedId } from './ids.ts'

const at = Date.UTC(2026, 0, 1)
const v7 = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

test('an id is a UUIDv7 of its time, and no two are equal', () => {
  const ids = Array.from({ length: 10_000 }, () => newId(at))
  assert.equal(new Set(ids).size, ids.length)
  for (const id of [...ids, newOrderedId(at), newId(0)]) assert.match(id, v7)
  assert.deepEqual([madeAt(newId(at)), madeAt(newOrderedId(at)), madeAt(newId(0))], [at, at, 0])
})

test('the random part of an id has 74 bits, each of which is 0 and 1', () => {
  const bitsOf = (id: string) => BigInt(`0x${id.replaceAll('-', '')}`)
  const ids = Array.from({ length: 200 }, () => bitsOf(newId(at)))
  const any = ids.reduce((a, b) => a | b)
  const every = ids.reduce((a, b) => a & b)
  assert.equal((any ^ every).toString(2).replaceAll('0', '').length, 74)
})

test('ids of one millisecond sort in the order in which they were made, also more than 4,096 of them', () => {
  const ids = Array.from({ length: 10_000 }, () => newOrderedId(at + 1))
  assert.deepEqual(ids.toSorted(), ids)
})

test('the first id of a moment sorts after all earlier ids and before those of the moment', () => {
  assert.ok(newId(at - 1) < firstIdAt(at) && firstIdAt(at) < newId(at))
  assert.ok(firstIdAt(at) < newOrderedId(at))
})

test('a text that is no UUID is not the shape of an id', () => {
  assert.ok(isIdShaped(newId(at)) && isIdShaped(newId(at).toUpperCase()))
  for (const text of [
    '',
    'ann',
    newId(at).slice(1),
    `${newId(at)}0`,
    newId(at).replaceAll('-', ''),
  ])
    assert.equal(isIdShaped(text), false, text)
})
