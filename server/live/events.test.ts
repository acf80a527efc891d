// A position names a version of one inbox in one history (N3).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isSoak } from '../../tests/support/soak.ts'
import { inboxTagOf, isPosition, positionOf, versionIn } from './events.ts'

const anyVersion = fc.integer({ min: 0, max: 999_999_999_999_999 })
const anyTag = fc
  .tuple(fc.uuid(), fc.uuid())
  .map(([history, userId]) => inboxTagOf(history, userId))

test('a position gives its version back, for its own inbox only (N3)', () => {
  fc.assert(
    fc.property(anyVersion, anyTag, anyTag, (version, tag, other) => {
      const position = positionOf(version, tag)
      assert.ok(isPosition(position))
      assert.equal(versionIn(position, tag), version)
      assert.equal(versionIn(position, other), tag === other ? version : null)
    }),
  )
})

test('a bare version is accepted for every inbox (N3)', () => {
  fc.assert(
    fc.property(anyVersion, anyTag, (version, tag) => {
      assert.ok(isPosition(String(version)))
      assert.equal(versionIn(String(version), tag), version)
    }),
  )
})

test('other text is not a position, and the version of a position is always a whole number (N3)', () => {
  const tag = inboxTagOf('history', 'user')
  const nearly = fc.stringMatching(/^[-+ ]?[0-9a-fx.e]{0,20}[- ]?[0-9a-fA-F]{0,10}\n?$/)
  fc.assert(
    fc.property(fc.oneof(nearly, fc.string()), (text) => {
      const version = versionIn(text, tag)
      if (!isPosition(text)) assert.equal(version, null)
      else if (version !== null)
        assert.ok(text === String(version) || text === positionOf(version, tag), text)
    }),
    { numRuns: isSoak ? 2_000 : 300 },
  )
  for (const text of [
    '',
    ' ',
    '01',
    '-0',
    '1-',
    `1-${tag.toUpperCase()}x`,
    `1-${tag}\n`,
    '1\n',
    '٣',
    '1000000000000000',
  ])
    assert.deepEqual([isPosition(text), versionIn(text, tag)], [false, null], JSON.stringify(text))
})

test('the inbox tag differs between users and between histories, and reveals neither (N3)', () => {
  const tags = new Set<string>()
  for (let n = 0; n < 500; n++) {
    tags.add(inboxTagOf('one history', `user ${n}`))
    tags.add(inboxTagOf(`history ${n}`, 'one user'))
  }
  assert.equal(tags.size, 1_000)
  for (const tag of tags) assert.match(tag, /^[0-9a-f]{8}$/)
})
