import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readProfile } from './profile.ts'

const reasonFor = (field: 'displayName' | 'email', text: string) =>
  readProfile({ [field]: text }).faults[0]?.reason

test('a display name with a character that draws nothing, breaks the line or changes the direction of text is refused', () => {
  const refused = [
    '\u202e',
    '\u2066',
    '\u200e',
    '\u200f',
    '\u061c',
    '\u2028',
    '\u2029',
    '\u200b',
    '\u2060',
    '\ufeff',
  ]
  for (const character of [
    ...refused,
    '\u00ad',
    '\u180e',
    '\u3164',
    '\u{e0041}',
    '\u2800',
    '\u{1d159}',
    '\u0085',
    '\u0007',
  ])
    assert.ok(
      reasonFor('displayName', `Ann${character}Lee`),
      `U+${character.codePointAt(0)?.toString(16)}`,
    )
  for (const name of [' ', '\u200d', '\u00a0\ufe0f'])
    assert.ok(reasonFor('displayName', name), JSON.stringify(name))
})

test('names of every script and emoji are accepted, with the joiners and variation selectors that they need', () => {
  const persian = 'علی\u200cرضا'
  const sinhala = 'ශ්\u200dරී'
  const japanese = '葛\u{e0100}城'
  const emoji = '👩\u200d💻 ❤\ufe0f 🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}'
  for (const name of [
    "Ann O'Neil-Lee",
    'Ålesund Café',
    'محمد',
    'שרה',
    persian,
    sinhala,
    japanese,
    `Ann ${emoji}`,
  ])
    assert.equal(reasonFor('displayName', name), undefined, name)
})

test('a text around an address, or with a character that an address has only between quotes, is not an e-mail address', () => {
  const refused = [
    '<a@example.org>',
    '(x)a@example.org',
    'a@example.org(x)',
    'a,b@example.org',
    'a@example.org,b',
  ]
  for (const text of [
    ...refused,
    'a;b@example.org',
    'a:b@example.org',
    '"a"@example.org',
    'a\\b@example.org',
  ])
    assert.ok(reasonFor('email', text), text)
  for (const text of [
    'a@[127.0.0.1]',
    'a\u202e@example.org',
    'a\u200b@example.org',
    'a@b@c',
    'a b@example.org',
    '@a',
    'a@',
  ])
    assert.ok(reasonFor('email', text), text)
  for (const text of [
    "o'neil+x=y@mail.example.org",
    'a.b_c-d!#$%&*/?^`{|}~@example.org',
    'jörg@müller.example',
    'a@localhost',
  ])
    assert.equal(reasonFor('email', text), undefined, text)
})
