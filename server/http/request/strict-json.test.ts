// Does the JSON door say what JSON.parse says, and refuse all that JSON.parse should have?

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { CarillonError } from '../../errors.ts'
import { maxDepth, maxFormFields, maxKeys, parseForm, parseJson } from './strict-json.ts'

const read = (text: string) => parseJson(Buffer.from(text))

function reasonOf(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    assert.ok(error instanceof CarillonError, String(error))
    assert.equal(error.code, 'INVALID_REQUEST')
    assert.equal(error.details?.length, 1)
    assert.equal(error.details?.[0]?.field, 'body')
    return error.details?.[0]?.reason ?? ''
  }
  return assert.fail('was accepted')
}

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

/** Values without what the door refuses: NUL, `__proto__`, `constructor.prototype`, half pairs. */
const key = fc
  .string({ unit: 'binary' })
  .filter((text) => !text.includes('\0') && text !== '__proto__' && text !== 'constructor')
const { value: ordinaryValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    fc.oneof(key, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer(), fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(key, tie('value'), { maxKeys: 5 }),
  ),
}))

/** The same value written another way: spaces between the tokens, every string in escapes. */
function writtenStrangely(value: unknown): string {
  if (typeof value === 'string') return `"${escaped(value)}"`
  if (Array.isArray(value)) return `[ ${value.map(writtenStrangely).join(' ,\n')}\t]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return `{\r${Object.entries(value)
    .map(([name, field]) => `"${escaped(name)}" \n: ${writtenStrangely(field)}`)
    .join(', ')} }`
}

const escaped = (text: string) =>
  text.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** An object with `broken` somewhere inside it. */
const around = fc.constantFrom(
  (broken: string) => broken,
  (broken: string) => `[1, ${broken}]`,
  (broken: string) => `{"a": {"b": ${broken}}, "c": "d:{"}`,
  (broken: string) => `[[{"a": []}], {"\\"": ${broken}}]`,
)

test('agrees with JSON.parse on every ordinary value, however it is written', () => {
  fc.assert(
    fc.property(ordinaryValue, (value) => {
      const plain = JSON.stringify(value)
      assert.deepEqual(read(plain), JSON.parse(plain))
      assert.deepEqual(read(JSON.stringify(value, null, 3)), JSON.parse(plain))
      assert.deepEqual(read(writtenStrangely(value)), JSON.parse(plain))
    }),
  )
})

test('refuses whatever JSON.parse refuses, and fails with nothing else', () => {
  const almostJson = fc
    .array(fc.constantFrom(...'{}[]:,"\\u0d8e1 -.', '"a":', 'null', '\\ud83d', '\\u0000', '{"a":1}'))
    .map((parts) => parts.join(''))
  fc.assert(
    fc.property(almostJson, (text) => {
      let expected: unknown
      try {
        expected = JSON.parse(text)
      } catch {
        reasonOf(() => read(text))
        return
      }
      try {
        assert.deepEqual(read(text), expected)
      } catch (error) {
        assert.ok(error instanceof CarillonError)
      }
    }),
    { numRuns: 5000 },
  )
})

test('I2: accepts 32 levels and refuses 33, wherever they are', () => {
  assert.deepEqual(read(nested(maxDepth)), JSON.parse(nested(maxDepth)))
  assert.equal(
    reasonOf(() => read(nested(33))),
    'is nested deeper than 32 levels, at position 32',
  )
  assert.match(
    reasonOf(() => read(`${'{"a":'.repeat(33)}1${'}'.repeat(33)}`)),
    /deeper/,
  )
  assert.deepEqual(read(`[${nested(31)},${nested(31)}]`), JSON.parse(`[${nested(31)},${nested(31)}]`))
  assert.equal(read(JSON.stringify('['.repeat(100))), '['.repeat(100))
})

test('I2: answers 1 MiB of opening brackets, of keys and of one string within 30 ms each', () => {
  const bodies = [
    '['.repeat(1 << 20),
    `{${Array.from({ length: 100_000 }, (_, i) => `"${i}x":1`)}}`,
    `"${'x'.repeat(1 << 20)}"`,
  ]
  for (const body of bodies.map((text) => Buffer.from(text))) {
    const times = Array.from({ length: 10 }, () => {
      // The time of this thread alone, whatever else the processor does meanwhile.
      const start = process.threadCpuUsage()
      try {
        parseJson(body)
      } catch {}
      const { user, system } = process.threadCpuUsage(start)
      return (user + system) / 1_000
    })
    assert.ok(Math.min(...times) < 30, `took ${times}`)
  }
})

test('refuses more keys than any request has', () => {
  const keys = (count: number) => `[${Array.from({ length: count }, () => '{"a":1}')}]`
  assert.equal((read(keys(maxKeys)) as unknown[]).length, maxKeys)
  assert.equal(
    reasonOf(() => read(keys(maxKeys + 1))),
    'contains more than 10000 keys',
  )
})

test('I3: refuses bytes that are not UTF-8, and a byte order mark', () => {
  for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0x80], [0xf4, 0x90, 0x80, 0x80]]) {
    const body = Buffer.concat([Buffer.from('{"a":"'), Buffer.from(bytes), Buffer.from('"}')])
    assert.equal(
      reasonOf(() => parseJson(body)),
      'is not UTF-8',
    )
  }
  assert.match(
    reasonOf(() => read('\ufeff{}')),
    /byte order mark/,
  )
})

test('I3: refuses NUL and half surrogate pairs in every string and key, at any place', () => {
  const bad = fc.constantFrom(
    '\\u0000',
    '\\ud800',
    '\\uDBFF',
    '\\udc00',
    '\\uDFFF',
    '\\ud83d\\ud83d\\ude00',
    '\\ude00\\ud83d',
    '\\ude00\\ude00',
    '\\ud83dx\\ude00',
    '\\ud83d\\\\ude00',
  )
  const plain = fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text.replaceAll('\0', '')).slice(1, -1))
  fc.assert(
    fc.property(bad, plain, plain, around, fc.boolean(), (broken, before, after, wrap, asKey) => {
      const text = `"${before}${broken}${after}"`
      const reason = reasonOf(() => read(wrap(asKey ? `{${text}: 1}` : text)))
      assert.match(reason, /^contains (NUL|half a surrogate pair), at position \d+$/)
    }),
  )
  assert.match(
    reasonOf(() => read('"\0"')),
    /^is not JSON/,
  )
})

test('I3: accepts an escaped pair, and a backslash before what only looks like an escape', () => {
  assert.equal(read('"\\ud83d\\ude00"'), '😀')
  assert.equal(read('"\\\\u0000 \\\\ud800"'), '\\u0000 \\ud800')
})

test('I5: refuses keys that reach for a prototype, however they are written', () => {
  for (const name of ['__proto__', '\\u005f_proto__', '__pr\\u006fto__']) {
    assert.equal(
      reasonOf(() => read(`[{"a":{"${name}":{"admin":true}}}]`)),
      'contains the key "__proto__"',
    )
  }
  assert.match(
    reasonOf(() => read('{"constructor":{"prototype":{"admin":true}}}')),
    /"constructor" with "prototype"/,
  )
  assert.match(
    reasonOf(() => read('{"c\\u006fnstructor":{"a":1,"prototype":1}}')),
    /"constructor" with "prototype"/,
  )
  assert.deepEqual(read('{"constructor":"Gustave","prototype":1}'), { constructor: 'Gustave', prototype: 1 })
  assert.equal(({} as { admin?: boolean }).admin, undefined)
})

test('refuses a key that its object has twice, compared as the key that it means', () => {
  const pair = fc.tuple(key, fc.constantFrom('', '{"x": 1}', '["x:", {"x": {}}]'), around)
  fc.assert(
    fc.property(pair, ([name, between, wrap]) => {
      const twice = `{${JSON.stringify(name)}: ${between || 1}, "${escaped(name)}" : 2}`
      assert.match(
        reasonOf(() => read(wrap(twice))),
        /^contains the key .* twice, at position \d+$/,
      )
    }),
  )
  assert.equal(
    reasonOf(() => read('{"a": 1, "b": {"a": 2}, "a": 3}')),
    'contains the key "a" twice, at position 24',
  )
  assert.deepEqual(read('[{"a":1},{"a":{"a":2}}]'), [{ a: 1 }, { a: { a: 2 } }])
})

test('refuses a number that would become Infinity', () => {
  for (const text of ['1e999', '[-1e999]', '{"a":1e400}']) {
    assert.equal(
      reasonOf(() => read(text)),
      'contains a number that is out of range',
    )
  }
})

test('says where the JSON breaks, and never repeats the body', () => {
  assert.equal(
    reasonOf(() => read('')),
    'is empty',
  )
  assert.equal(
    reasonOf(() => read('{"a" 1}')),
    'is not JSON, at position 5',
  )
  assert.equal(
    reasonOf(() => read('{"a":[1')),
    'is not JSON, at position 7',
  )
  assert.equal(
    reasonOf(() => read('[1,]')),
    'is not JSON: unexpected "]"',
  )
  assert.doesNotMatch(
    reasonOf(() => read('{"password":hunter2}')),
    /hunter2|password/,
  )
})

const form = (text: string) => parseForm(Buffer.from(text))

test('reads every form that URLSearchParams writes', () => {
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

test('gives a form no prototype, and a name without a value the empty one', () => {
  const fields = form('username=ann+lee&password=a%2Bb%20c&flag')
  assert.equal(Object.getPrototypeOf(fields), null)
  assert.deepEqual({ ...fields }, { username: 'ann lee', password: 'a+b c', flag: '' })
  assert.deepEqual({ ...form('') }, {})
  assert.deepEqual({ ...form('constructor=x&toString=y') }, { constructor: 'x', toString: 'y' })
})

test('I3 I5: refuses a form with a name twice or missing, NUL, broken encoding or a prototype', () => {
  const broken: [string, RegExp][] = [
    ['a=1&a=2', /field "a" twice/],
    ['a=1&%61=2', /field "a" twice/],
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
