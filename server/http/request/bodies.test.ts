import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { reasonOf } from '../../basics/testing/refused-body.ts'
import { maxFormFields, parseForm } from './bodies.ts'

const form = (text: string) => parseForm(Buffer.from(text))

test('parses every form that URLSearchParams writes', () => {
  const name = fc
    .string({ unit: 'grapheme', minLength: 1 })
    .filter((text) => !text.includes('\0') && text !== '__proto__')
  const value = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\0', ''))
  fc.assert(
    fc.property(fc.dictionary(name, value, { maxKeys: maxFormFields }), (fields) => {
      assert.deepEqual({ ...form(new URLSearchParams(fields).toString()) }, { ...fields })
    }),
  )
})

test('returns the fields of a form in an object without a prototype, and a name without a value as empty text', () => {
  const fields = form('username=ann+lee&password=a%2Bb%20c&flag')
  assert.equal(Object.getPrototypeOf(fields), null)
  assert.deepEqual({ ...fields }, { username: 'ann lee', password: 'a+b c', flag: '' })
  assert.deepEqual({ ...form('') }, {})
  assert.deepEqual({ ...form('constructor=x&toString=y') }, { constructor: 'x', toString: 'y' })
})

test('refuses a form with a repeated or missing name, NUL, broken encoding, or the name __proto__ (I3, I5)', () => {
  const broken: [string, RegExp][] = [
    ['a=1&a=2', /field twice/],
    ['a=1&%61=2', /field twice/],
    ['toString=1&toString=2', /twice/],
    ['=1', /without a name/],
    ['a=1&', /without a name/],
    ['a=1&&b=2', /without a name/],
    ['a=%00', /NUL/],
    ['a\0=1', /NUL/],
    ['a=%', /percent-encoding/],
    ['a=%f', /percent-encoding/],
    ['a=%zz', /percent-encoding/],
    ['a=%ff', /percent-encoding/],
    ['a=%ed%a0%80', /percent-encoding/],
    ['a=%c0%80', /percent-encoding/],
    ['__proto__=1', /__proto__/],
  ]
  for (const [text, reason] of broken)
    assert.match(
      reasonOf(() => form(text)),
      reason,
      text,
    )
  assert.equal(
    reasonOf(() => parseForm(Buffer.from([0x61, 0x3d, 0xff]))),
    'is not UTF-8',
  )
})
