// A position names a place in one inbox of one history, and nothing else is one (N3).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { inboxTagOf, isPosition, positionOf, versionIn } from './position.ts'

const anyVersion = fc.integer({ min: 0, max: 999_999_999_999_999 })
const anyMark = fc.tuple(fc.uuid(), fc.uuid()).map(([history, userId]) => inboxTagOf(history, userId))

test('N3: a position leads back to its version, for its own inbox alone', () => {
  fc.assert(
    fc.property(anyVersion, anyMark, anyMark, (version, mark, other) => {
      const position = positionOf(version, mark)
      assert.ok(isPosition(position))
      assert.equal(versionIn(position, mark), version)
      assert.equal(versionIn(position, other), mark === other ? version : null)
    }),
  )
})

test('N3: a bare version is taken at its word, by every inbox', () => {
  fc.assert(
    fc.property(anyVersion, anyMark, (version, mark) => {
      assert.ok(isPosition(String(version)))
      assert.equal(versionIn(String(version), mark), version)
    }),
  )
})

test('N3: whatever else is written is no position, and what is read from one is a whole number', () => {
  const mark = inboxTagOf('history', 'user')
  const nearly = fc.stringMatching(/^[-+ ]?[0-9a-fx.e]{0,20}[- ]?[0-9a-fA-F]{0,10}\n?$/)
  fc.assert(
    fc.property(fc.oneof(nearly, fc.string()), (text) => {
      const version = versionIn(text, mark)
      if (!isPosition(text)) assert.equal(version, null)
      else if (version !== null) assert.ok(text === String(version) || text === positionOf(version, mark), text)
    }),
    { numRuns: 2_000 },
  )
  for (const text of [
    '',
    ' ',
    '01',
    '-0',
    '1-',
    `1-${mark.toUpperCase()}x`,
    `1-${mark}\n`,
    '1\n',
    '٣',
    '1000000000000000',
  ])
    assert.deepEqual([isPosition(text), versionIn(text, mark)], [false, null], JSON.stringify(text))
})

test('N3: the mark tells users and histories apart, and says nothing of either', () => {
  const marks = new Set<string>()
  for (let n = 0; n < 500; n++) {
    marks.add(inboxTagOf('one history', `user ${n}`))
    marks.add(inboxTagOf(`history ${n}`, 'one user'))
  }
  assert.equal(marks.size, 1_000)
  for (const mark of marks) assert.match(mark, /^[0-9a-f]{8}$/)
})
