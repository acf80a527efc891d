import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newTotp, stepOfCode } from './factors.ts'

/** RFC 6238, appendix B, with SHA-1: seconds since 1970 and eight digits, of which we use six. */
const vectors: [seconds: number, digits: string][] = [
  [59, '94287082'],
  [1_111_111_109, '07081804'],
  [1_111_111_111, '14050471'],
  [1_234_567_890, '89005924'],
  [2_000_000_000, '69279037'],
  [20_000_000_000, '65353130'],
]
/** The bytes "12345678901234567890" as base32. */
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
const codeOf = (digits: string) => digits.slice(-6)

test('accepts the codes of RFC 6238 at their times', async () => {
  for (const [seconds, digits] of vectors)
    assert.equal(
      await stepOfCode(secret, codeOf(digits), seconds * 1_000),
      Math.floor(seconds / 30),
    )
})

test('accepts a code one step early and one step late, and no further', async () => {
  const seconds = 1_234_567_890
  const digits = '89005924'
  const step = Math.floor(seconds / 30)
  const at = (offset: number) =>
    stepOfCode(secret, codeOf(digits), (step + offset) * 30_000 + 15_000)
  assert.deepEqual(
    [await at(-2), await at(-1), await at(0), await at(1), await at(2)],
    [undefined, step, step, step, undefined],
  )
  assert.equal(await stepOfCode(secret, codeOf(digits), (step - 1) * 30_000), step)
  assert.equal(await stepOfCode(secret, codeOf(digits), (step + 2) * 30_000 - 1), step)
})

test('accepts a code with blanks, as apps display it, and no other text', async () => {
  const at = 59_000
  assert.equal(await stepOfCode(secret, '287 082', at), 1)
  for (const text of [
    '',
    '28708',
    '2870822',
    '94287082',
    '-87082',
    '２８７０８２',
    '287082\n',
    'abcdef',
  ])
    assert.equal(await stepOfCode(secret, text, at), undefined, text)
})

test('a new secret has 160 bits and never repeats; its address names service and account', async () => {
  const made = await Promise.all(
    Array.from({ length: 50 }, () => newTotp({ issuer: 'bell.example.org', account: 'ann & co' })),
  )
  assert.equal(new Set(made.map((one) => one.secret)).size, 50)
  for (const { secret: base32, uri, qr } of made) {
    assert.match(base32, /^[A-Z2-7]{32}$/)
    const { protocol, pathname, searchParams } = new URL(uri)
    assert.deepEqual(
      [protocol, decodeURIComponent(pathname)],
      ['otpauth:', '/bell.example.org:ann & co'],
    )
    assert.deepEqual(Object.fromEntries(searchParams), {
      issuer: 'bell.example.org',
      secret: base32,
      algorithm: 'SHA1',
      digits: '6',
      period: '30',
    })
    assert.match(qr, /^<svg [^>]*viewBox[^>]*><rect .*<\/svg>$/s)
  }
})
