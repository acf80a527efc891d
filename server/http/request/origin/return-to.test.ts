// A sign-in sends a browser to a path here or to a page of an allowed origin, and to no other place, however the text is written.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { returnTo } from './return-to.ts'

const places = {
  publicUrl: 'https://example.org/bell',
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
  for (const url of ['https://app.example/x?y#z', 'http://localhost:3000/', 'https://example.org/bell/account'])
    assert.equal(leads(url), url)
  assert.equal(leads('https://app.example'), 'https://app.example/')
  assert.equal(leads('https://app.example?a'), 'https://app.example/?a')
})

const evil = 'evil.example'
const tricks = [
  '',
  ' ',
  'account',
  '?a',
  '#a',
  '.',
  '..',
  './account',
  evil,
  `//${evil}`,
  `///${evil}`,
  `////${evil}`,
  `/\\${evil}`,
  `\\/${evil}`,
  `\\\\${evil}`,
  `/\\/${evil}`,
  `/\t/${evil}`,
  `/\n/${evil}`,
  `/\r/${evil}`,
  `\t//${evil}`,
  ` //${evil}`,
  `/ /${evil}`,
  `/\u00a0/${evil}`,
  `/\u2028/${evil}`,
  `/\u0000/${evil}`,
  `/\u200b/${evil}`,
  `/\u{e0001}/${evil}`,
  `/.//${evil}`,
  `/..//${evil}`,
  `/a/..//${evil}`,
  `/%2e//${evil}`,
  `/%2e%2e//${evil}`,
  `/a/%2E%2e//${evil}`,
  `/x\r\nLocation: https://${evil}`,
  `https://${evil}`,
  `HTTPS://${evil}`,
  `https:${evil}`,
  `https:/${evil}`,
  `https:///${evil}`,
  `https:\\\\${evil}`,
  `http://${evil}`,
  `ftp://${evil}`,
  `ws://${evil}`,
  `javascript:alert(1)`,
  `JavaScript:alert(1)//https://app.example`,
  'java\nscript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'blob:https://app.example/x',
  'view-source:https://app.example/',
  `https://app.example@${evil}`,
  `https://app.example:443@${evil}/`,
  `https://user@app.example/`,
  `https://app.example.${evil}/`,
  `https://app.example:8443/`,
  `https://app.example%2f@${evil}/`,
  `https://app.example\\@${evil}/`,
  `https://app.example\t.${evil}/`,
  'http://app.example/',
  'HTTPS://app.example/',
  'https://APP.example/',
  'https://sub.app.example/',
  'https://xapp.example/',
  'https://app.example./',
  'https://аpp.example/',
  'https://app。example/',
  'https:app.example/',
  'http://localhost:30000/',
  'http://127.0.0.1:3000/',
  'null',
  'undefined',
  `/${'a'.repeat(1_024)}`,
]

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
    const text = Array.from({ length: 1 + (next() % 7) }, () => parts[next() % parts.length]).join('')
    const location = leads(next() % 3 === 0 ? `https://app.example${text}` : next() % 2 === 0 ? `/${text}` : text)
    if (location === undefined) continue
    kept++
    const { origin } = new URL(location, 'https://example.org/bell/login/with/staff/callback')
    assert.ok(['https://example.org', ...places.allowedOrigins].includes(origin), JSON.stringify([text, location]))
  }
  assert.ok(kept > 500, `${kept}`)
})
