import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Exchange } from '../server/api.ts'
import { bareExchange } from '../testing/bare-exchange.ts'
import { demonstrationTexts } from '../texts/texts.ts'
import { sceneOf, thingsAt } from './picture/picture.ts'
import { hashOf, placeOf, places } from './places.ts'
import { cookieSetBy, tokenParts, withName, withoutSignature } from './proof/proof-parts.ts'

test('a cookie is taken apart into name, user, secret and attributes; the cookie of the device is another one', () => {
  const fields = [
    ['Set-Cookie', 'demo-device=x; Path=/'],
    [
      'set-cookie',
      'demo=user.family.secret; Path=/demonstration; Max-Age=10; HttpOnly; SameSite=Lax',
    ],
  ] as const
  const parts = cookieSetBy({ ...bareExchange, response: { line: '', body: '', fields } }, 'demo')
  assert.deepEqual(
    parts.map(({ name, value }) => `${name}=${value}`),
    [
      'name=demo',
      'user=user',
      'family=family',
      'secret=secret',
      'Path=/demonstration',
      'Max-Age=10',
      'HttpOnly=',
      'SameSite=Lax',
    ],
  )
  assert.deepEqual(cookieSetBy(bareExchange, 'demo'), [])
})

const piece = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

test('a token is taken apart into header, claims and signature; times are in milliseconds', () => {
  const token = `${piece({ alg: 'EdDSA' })}.${piece({ sub: 'Zoë', exp: 5, gen: 0 })}.sig`
  const parts = tokenParts(token) ?? assert.fail()
  assert.deepEqual(parts.header, [{ name: 'alg', value: 'EdDSA' }])
  assert.deepEqual(parts.claims, [
    { name: 'sub', value: 'Zoë' },
    { name: 'exp', value: '5', time: 5_000 },
    { name: 'gen', value: '0' },
  ])
  for (const wrong of ['', 'a.b', 'a.b.c']) assert.equal(tokenParts(wrong), undefined, wrong)
})

test('a forged token has another name and the same signature, or says that it has none', () => {
  const token = `${piece({ alg: 'EdDSA' })}.${piece({ preferred_username: 'visitor', exp: 5 })}.sig`
  const forged = tokenParts(withName(token, 'admin'))
  assert.deepEqual(
    [forged?.claims[0]?.value, forged?.claims[1]?.value, forged?.signature[0]?.value],
    ['admin', '5', 'sig'],
  )
  const unsigned = tokenParts(withoutSignature(token))
  assert.deepEqual([unsigned?.header[0]?.value, unsigned?.signature[0]?.value], ['none', ''])
})

test('a picture has the request with its proof, the calls that have words, and the response', () => {
  const exchange: Exchange = {
    ...bareExchange,
    request: {
      line: 'PATCH /demonstration/service/api/notifications/019b76da-a800-72b5-92a9-e707699a9abe/read?x=1 HTTP/1.1',
      fields: [['cookie', 'demo-device=1; demo=a.b']],
      body: '',
    },
    response: { line: 'HTTP/1.1 204 No Content', fields: [], body: '' },
    steps: [
      { name: 'sessions.verify', detail: 'found' },
      { name: 'store.findSession', detail: 'found' },
    ],
  }
  const words = { texts: demonstrationTexts('en'), language: 'en', cookieName: 'demo' }
  const scene = sceneOf('session', { exchanges: [exchange], by: 'browser' }, words)
  const { hops } = scene
  assert.deepEqual(
    hops.map(({ from, to, sentence }) => `${from} ${to} ${sentence}`),
    [
      'browser server PATCH /api/notifications/:id/read, the cookie',
      'server store look up session',
      'server browser 204 No Content',
    ],
  )
  assert.deepEqual(
    thingsAt(scene, 3).map(({ at, text }) => `${at} ${text}`),
    ['browser cookie', 'other public key', 'store no session row'],
  )
})

test('each place has an address of its own', () => {
  for (const place of places) assert.equal(placeOf(hashOf(place)), place)
  assert.equal(placeOf('#main'), undefined)
})
