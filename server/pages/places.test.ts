import assert from 'node:assert/strict'
import { test } from 'node:test'
import { evil, tricks } from '../../tests/support/http/return-to-tricks.ts'
import { returnTo } from './places.ts'

const places = {
  publicUrl: () => 'https://example.org/bell',
  allowedOrigins: ['https://app.example', 'http://localhost:3000'],
}
const leads = (text: string) => returnTo(text, places)

test('a path here is kept, with its query and fragment', () => {
  const paths = [
    '/',
    '/account',
    '/a/b?c=d&e=%2Ff#g',
    '/?next=https://evil.example',
    '/a//b',
    '/@evil.example',
    '/a:b@c',
  ]
  for (const path of paths) assert.equal(leads(path), path)
  assert.equal(leads('/küche'), '/k%C3%BCche')
})

test('a URL of an allowed origin, or of this service, is kept', () => {
  for (const url of [
    'https://app.example/x?y#z',
    'http://localhost:3000/',
    'https://example.org/bell/account',
  ])
    assert.equal(leads(url), url)
  assert.equal(leads('https://app.example'), 'https://app.example/')
  assert.equal(leads('https://app.example?a'), 'https://app.example/?a')
})

test('none of many tricks leads to another place (P1)', () => {
  assert.ok(tricks.length >= 60)
  for (const trick of tricks) assert.equal(leads(trick), undefined, JSON.stringify(trick))
})

test('whatever is returned, a browser on any page here goes to an allowed origin with it (P1)', () => {
  const parts = [
    '/',
    '\\',
    '//',
    '.',
    '..',
    '%2e',
    '%2f',
    '@',
    ':',
    '?',
    '#',
    'a',
    evil,
    'https:',
    'app.example',
    '\t',
    '\n',
    ' ',
    '；',
  ]
  let seed = 1
  const next = () => (seed = (seed * 48_271) % 2_147_483_647)
  let kept = 0
  for (let round = 0; round < 20_000; round++) {
    const text = Array.from({ length: 1 + (next() % 7) }, () => parts[next() % parts.length]).join(
      '',
    )
    const forms = [`https://app.example${text}`, `/${text}`, text]
    const location = leads(forms[next() % 3] ?? '')
    if (location === undefined) continue
    kept++
    const { origin } = new URL(location, 'https://example.org/bell/login/with/staff/callback')
    assert.ok(
      ['https://example.org', ...places.allowedOrigins].includes(origin),
      JSON.stringify([text, location]),
    )
  }
  assert.ok(kept > 500, `${kept}`)
})
