import assert from 'node:assert/strict'
import { test } from 'node:test'
import { externalIdFault } from './profile.ts'

test('an application may use any text of 1 to 255 characters as an external id', () => {
  for (const id of [
    '1',
    'aB',
    'Ab',
    'a/tokens',
    'user|7',
    '...',
    ' ',
    'é',
    'e\u0301',
    '😀'.repeat(255),
    'x'.repeat(255),
  ])
    assert.equal(externalIdFault(id), undefined, id)
})

test('an external id that is empty, too long, not Unicode, a dot segment or has control characters is refused with the reason', () => {
  const refused: [string, RegExp][] = [
    ['', /at least 1 character/],
    ['x'.repeat(256), /at most 255 characters/],
    ['😀'.repeat(256), /at most 255 characters/],
    ['a\0b', /no control characters/],
    ['a\nb', /no control characters/],
    ['a\u007f', /no control characters/],
    ['a\u0085', /no control characters/],
    ['a\ud800', /half of a surrogate pair/],
    ['\udc00b', /half of a surrogate pair/],
    ['.', /URL parsers/],
    ['..', /URL parsers/],
  ]
  for (const [id, reason] of refused)
    assert.match(externalIdFault(id) ?? '', reason, JSON.stringify(id))
})
