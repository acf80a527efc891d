import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyCharacter } from '../../tests/support/any-character.ts'
import { isSoak } from '../../tests/support/soak.ts'
import { CarillonError } from './errors.ts'
import { maxDepth, maxKeys, parseJson } from './strict-json.ts'
import { reasonOf } from './testing/refused-body.ts'

const read = (text: string) => parseJson(Buffer.from(text))

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

/** Without what is refused: NUL, `__proto__`, `constructor.prototype`, lone surrogates. */
const key = fc
  .string({ unit: anyCharacter })
  .filter((text) => !text.includes('\0') && text !== '__proto__' && text !== 'constructor')
const { value: ordinaryValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    fc.oneof(
      key,
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
    ),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(key, tie('value'), { maxKeys: 5 }),
  ),
}))

/** Spaces between the tokens, every string in escapes. */
function inAnotherSpelling(value: unknown): string {
  if (typeof value === 'string') return `"${escaped(value)}"`
  if (Array.isArray(value)) return `[ ${value.map(inAnotherSpelling).join(' ,\n')}\t]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return `{\r${Object.entries(value)
    .map(([name, field]) => `"${escaped(name)}" \n: ${inAnotherSpelling(field)}`)
    .join(', ')} }`
}

const escaped = (text: string) =>
  text.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** With `broken` somewhere inside. */
const around = fc.constantFrom(
  (broken: string) => broken,
  (broken: string) => `[1, ${broken}]`,
  (broken: string) => `{"a": {"b": ${broken}}, "c": "d:{"}`,
  (broken: string) => `[[{"a": []}], {"\\"": ${broken}}]`,
)

test('parses every valid value as JSON.parse does, in any spelling', () => {
  fc.assert(
    fc.property(ordinaryValue, (value) => {
      const plain = JSON.stringify(value)
      assert.deepEqual(read(plain), JSON.parse(plain))
      assert.deepEqual(read(JSON.stringify(value, null, 3)), JSON.parse(plain))
      assert.deepEqual(read(inAnotherSpelling(value)), JSON.parse(plain))
    }),
  )
})

test('refuses every text that JSON.parse refuses, and throws only CarillonError', () => {
  const almostJson = fc
    .array(
      fc.constantFrom(...'{}[]:,"\\u0d8e1 -.', '"a":', 'null', '\\ud83d', '\\u0000', '{"a":1}'),
    )
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
    { numRuns: isSoak ? 5_000 : 300 },
  )
})

test('accepts 32 levels of nesting and refuses 33, at any place of the body (I2)', () => {
  assert.deepEqual(read(nested(maxDepth)), JSON.parse(nested(maxDepth)))
  assert.equal(
    reasonOf(() => read(nested(33))),
    'is nested deeper than 32 levels',
  )
  assert.match(
    reasonOf(() => read(`${'{"a":'.repeat(33)}1${'}'.repeat(33)}`)),
    /deeper/,
  )
  assert.deepEqual(
    read(`[${nested(31)},${nested(31)}]`),
    JSON.parse(`[${nested(31)},${nested(31)}]`),
  )
  assert.equal(read(JSON.stringify('['.repeat(100))), '['.repeat(100))
})

test('parses or refuses 1 MiB of opening brackets, of keys and of one string within 30 ms each (I2)', () => {
  const bodies = [
    '['.repeat(1 << 20),
    `{${Array.from({ length: 100_000 }, (_, i) => `"${i}x":1`)}}`,
    `"${'x'.repeat(1 << 20)}"`,
  ]
  for (const body of bodies.map((text) => Buffer.from(text))) {
    const times = Array.from({ length: 10 }, () => {
      // Other load on the machine does not count.
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

test('refuses more than 10,000 keys', () => {
  const keys = (count: number) => `[${Array.from({ length: count }, () => '{"a":1}')}]`
  assert.equal((read(keys(maxKeys)) as unknown[]).length, maxKeys)
  assert.equal(
    reasonOf(() => read(keys(maxKeys + 1))),
    'contains more than 10000 keys',
  )
})

test('refuses bytes that are not UTF-8, and a byte order mark (I3)', () => {
  for (const bytes of [
    [0xff],
    [0xc3],
    [0xed, 0xa0, 0x80],
    [0xc0, 0x80],
    [0xf4, 0x90, 0x80, 0x80],
  ]) {
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

test('refuses NUL and lone surrogates in every string and key, at any place (I3)', () => {
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
  const plain = fc
    .string({ unit: anyCharacter })
    .map((text) => JSON.stringify(text.replaceAll('\0', '')).slice(1, -1))
  fc.assert(
    fc.property(bad, plain, plain, around, fc.boolean(), (broken, before, after, wrap, asKey) => {
      const text = `"${before}${broken}${after}"`
      const reason = reasonOf(() => read(wrap(asKey ? `{${text}: 1}` : text)))
      assert.match(reason, /^contains (NUL|half a surrogate pair)$/)
    }),
  )
  assert.match(
    reasonOf(() => read('"\0"')),
    /^is not JSON/,
  )
})

test('accepts an escaped surrogate pair, and an escaped backslash before text that looks like an escape (I3)', () => {
  assert.equal(read('"\\ud83d\\ude00"'), '😀')
  assert.equal(read('"\\\\u0000 \\\\ud800"'), '\\u0000 \\ud800')
})

test('refuses keys that set a prototype, in any spelling (I5)', () => {
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
  assert.deepEqual(read('{"constructor":"Gustave","prototype":1}'), {
    constructor: 'Gustave',
    prototype: 1,
  })
  assert.equal(({} as { admin?: boolean }).admin, undefined)
})

test('refuses a key that its object has twice, compared after decoding its escapes', () => {
  const pair = fc.tuple(key, fc.constantFrom('', '{"x": 1}', '["x:", {"x": {}}]'), around)
  fc.assert(
    fc.property(pair, ([name, between, wrap]) => {
      const twice = `{${JSON.stringify(name)}: ${between || 1}, "${escaped(name)}" : 2}`
      assert.equal(
        reasonOf(() => read(wrap(twice))),
        'contains a key twice in one object',
      )
    }),
  )
  assert.equal(
    reasonOf(() => read('{"a": 1, "b": {"a": 2}, "a": 3}')),
    'contains a key twice in one object',
  )
  assert.deepEqual(read('[{"a":1},{"a":{"a":2}}]'), [{ a: 1 }, { a: { a: 2 } }])
})

test('refuses a number that JSON.parse turns into Infinity', () => {
  for (const text of ['1e999', '[-1e999]', '{"a":1e400}']) {
    assert.equal(
      reasonOf(() => read(text)),
      'contains a number that is out of range',
    )
  }
})

test('refuses text that is not JSON, and never repeats the body', () => {
  assert.equal(
    reasonOf(() => read('')),
    'is empty',
  )
  assert.equal(
    reasonOf(() => read('{"a" 1}')),
    'is not JSON',
  )
  assert.equal(
    reasonOf(() => read('{"a":[1')),
    'is not JSON',
  )
  assert.equal(
    reasonOf(() => read('[1,]')),
    'is not JSON',
  )
  assert.doesNotMatch(
    reasonOf(() => read('{"password":hunter2}')),
    /hunter2|password/,
  )
})
