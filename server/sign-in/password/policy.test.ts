// Are good passwords let through as they are, and those that are tried first refused with a reason?

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { CarillonError } from '../../errors.ts'
import { checkPassword, maxPasswordLength, passwordLength, preparePassword } from './policy.ts'

const usual = { username: 'ann.smith', minLength: 15 }

function reasonOf(password: string, context = usual): string {
  try {
    checkPassword(preparePassword(password), context)
  } catch (error) {
    assert.ok(error instanceof CarillonError, String(error))
    assert.equal(error.code, 'INVALID_REQUEST')
    assert.equal(error.details?.[0]?.field, 'password')
    return error.details?.[0]?.reason ?? ''
  }
  return 'fine'
}

const good = [
  'correct horse rides a train',
  'violet-otter-lamp-saddle',
  'they never sang before noon',
  'eine kleine Nachtwanderung',
  'mqzrtwpvkxhbnjd',
  '739105284617305',
  'Übermut tut selten gut, sagt Oma',
  'わたしはまいあさパンをたべます',
  'a carillon rang while we had soup',
  'ann smith bakes violet cakes',
  '🦊🐻🐼🐨🐯🦁🐮🐷🐸🐵🐔🐧🐦🐤🦆',
]

test('A3: accepts long passwords of every kind, without a rule of composition', () => {
  for (const password of good) assert.equal(reasonOf(password), 'fine', password)
})

test('A3: accepts random ones, hexadecimal and base64', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 16, maxLength: 32 }).filter(isVaried), (bytes) => {
      const seeded = Buffer.from(bytes)
      assert.equal(reasonOf(seeded.toString('hex')), 'fine')
      assert.equal(reasonOf(seeded.toString('base64url')), 'fine')
    }),
  )
  for (let i = 0; i < 200; i++) assert.equal(reasonOf(randomBytes(12).toString('base64url')), 'fine')
})

/** fast-check likes small and equal numbers, which are patterns and rightly refused. */
function isVaried(bytes: Uint8Array): boolean {
  return new Set(bytes).size > 12 && bytes.every((byte) => byte > 0x11)
}

test('A3: counts code points, from the setting to 256', () => {
  assert.equal(reasonOf('mqzrtwpvkxhbnj'), 'write at least 15 characters')
  assert.equal(reasonOf('🦊🐻🐼🐨🐯🦁🐮🐷🐸🐵🐔🐧🐦🐤'), 'write at least 15 characters')
  assert.equal(reasonOf('mqzrtwpv', { username: 'ann', minLength: 8 }), 'fine')
  assert.equal(reasonOf('mqzrtwp', { username: 'ann', minLength: 8 }), 'write at least 8 characters')
  assert.equal(maxPasswordLength, 256)
  const long = randomBytes(400).toString('base64url')
  assert.equal(reasonOf(long.slice(0, 256)), 'fine')
  assert.equal(reasonOf(long.slice(0, 257)), 'write at most 256 characters')
  assert.equal(reasonOf('🦊🐻🐼🐨🐯🦁🐮🐷🐸🐵🐔🐧🐦🐤🦆🦉'.repeat(17)), 'write at most 256 characters')
})

test('A5: measures 1 MiB in less than 20 ms, prepared or not', () => {
  const texts = ['x'.repeat(1 << 20), 'é\u00a0'.repeat(1 << 19)] as const
  // The best of many: a busy machine takes its time.
  let bestMs = Infinity
  for (let round = 0; round < 50; round++) {
    const start = performance.now()
    assert.equal(passwordLength(texts[0]), 257)
    assert.equal(passwordLength(preparePassword(texts[1])), 257)
    bestMs = Math.min(bestMs, performance.now() - start)
  }
  assert.ok(bestMs < 20, `${bestMs} ms`)
})

test('A15: a password has one form, prep(prep(x)) = prep(x)', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const prepared = preparePassword(text)
      assert.equal(preparePassword(prepared), prepared)
      assert.equal(preparePassword(text.normalize('NFD')), prepared)
    }),
  )
  assert.equal(preparePassword('Cafe\u0301\u00a0au\u3000lait'), 'Café au lait')
  assert.equal(preparePassword('ﬁ Σ ς ß'), 'ﬁ Σ ς ß')
})

test('A7: refuses every line of the block list, made long enough in the usual ways', () => {
  const lines = readFileSync(new URL('./blocked-passwords.txt', import.meta.url), 'utf8').split('\n')
  const entries = lines.filter((line) => line !== '' && !line.startsWith('#'))
  assert.ok(entries.length > 500)
  assert.equal(new Set(entries).size, entries.length, 'an entry is there twice')
  for (const entry of entries) {
    const leet = /\d/.test(entry)
      ? entry
      : entry.replace(/[oeas]/g, (letter) => ({ o: '0', e: '3', a: '@', s: '$' })[letter] ?? letter)
    for (const variant of [entry, `${entry}2024!`, `!!${entry.toUpperCase()}123`, `${entry}-${entry}`, `${leet}1`]) {
      assert.notEqual(reasonOf(variant, { username: 'ann', minLength: 4 }), 'fine', variant)
    }
  }
})

test('A7: sees through case, digits, punctuation, look-alikes and a second entry', () => {
  const listed = /among the first that are tried/
  for (const password of [
    'Password!!!!!!!!',
    'password12345678',
    '2024-Password-2024',
    'P@$$w0rd P@$$w0rd',
    'qwerty_letmein_1',
    'iLoveYouForever',
    'Sunshine and 2024'.replace(' and ', '-princess-'),
    'thequickbrownfoxjumps',
    'ＰＡＳＳＷＯＲＤ12345678',
  ]) {
    assert.match(reasonOf(password), listed, password)
  }
})

test('A7: refuses product words and the username with little beside them', () => {
  const names = /little more than a name|among the first/
  for (const password of [
    'carillon1234567',
    'Carillon!Carillon!',
    'mycarillon-2024!',
    'c4rillon-server',
    'notification-inbox',
    'AnnSmith19851985',
    'ann.smith.ann.smith',
    'smith-ann-smith1',
    'password-annsmith',
    '@nn.$mith-000000',
  ]) {
    assert.match(reasonOf(password), names, password)
  }
  assert.match(reasonOf('Дарья1234567890', { username: 'дарья', minLength: 15 }), names)
})

test('A7: refuses repetition, few characters and walks over the keys', () => {
  const repeated = /again and again/
  const pattern = /follows a pattern/
  for (const password of [
    'aaaaaaaaaaaaaaa',
    'abzabzabzabzabz',
    'xkvtxkvtxkvtxkv',
    'Mqz7!vMqz7!vMqz7!v',
    '🦊🐻🦊🐻🦊🐻🦊🐻🦊🐻🦊🐻🦊🐻🦊🐻',
  ])
    assert.match(reasonOf(password), repeated, password)
  for (const password of [
    'aaaabbbbccccdddd',
    'abababcdcdcdabab',
    '123456789012345',
    '987654321098765',
    'abcdefgh12345678',
    'ghjklqwertyuiop',
    '1qaz2wsx3edc4rfv',
    '1q2w3e4r5t6y7u8i',
    'zyxwvutsrqponmlk',
    '!@#$%^&*()!@#$%',
    '112233445566778',
  ])
    assert.match(reasonOf(password), /pattern|again|first/, password)
  assert.match(reasonOf('abcdefghzyxwvuts'), pattern)
  assert.match(reasonOf('mzkmmkzzmkzkmzmkmz'), pattern)
  assert.equal(reasonOf('violet-otter-lampviolet-otter-lamp'), 'fine')
})

test('refuses line breaks, controls and what is no character, and accepts emoji', () => {
  for (const character of ['\n', '\r', '\0', '\u007f', '\u0085', '\ud800', '\uffff', '\u0378']) {
    assert.match(reasonOf(`mqzrtwpvkxhbnjd${character}`), /without line breaks/)
  }
  assert.equal(reasonOf('violet otter ❤️ lamp 👩‍🚀'), 'fine')
})

test('judges 256 characters in less than 5 ms', () => {
  checkPassword('violet-otter-lamp-saddle', usual)
  const password = `!@$1carillon${randomBytes(180).toString('base64url')}1$@!`
  const start = performance.now()
  for (let i = 0; i < 10; i++) checkPassword(password, usual)
  assert.ok((performance.now() - start) / 10 < 5)
})
