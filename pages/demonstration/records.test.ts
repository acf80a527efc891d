import assert from 'node:assert/strict'
import { test } from 'node:test'
import { arrowsOf } from './arrows.ts'
import { jsonLines } from './json-lines.ts'
import { changesOf } from './kept-rows.ts'
import { cookieSetBy, tokenParts } from './proof-parts.ts'
import type { Exchange, Row, Sent } from './world.ts'

const session = (secret: string, seen = 1): Row => ({
  table: 'session',
  columns: { user_id: 'u', secret_hash: secret, last_seen_at: seen },
})
const inbox = (unread: number, user = 'u'): Row => ({ table: 'inbox', columns: { user_id: user, unread } })

test('changes are rows that are new, changed or gone; rows that stayed are none', () => {
  const before = [session('a'), session('b'), inbox(3), inbox(1, 'other')]
  const after = [session('a'), session('c'), inbox(2), inbox(1, 'other')]
  assert.deepEqual(
    changesOf({ rows: { before, after } }).map(({ kind, columns, changed }) => [kind, columns.secret_hash, changed]),
    [
      ['new', 'c', ['user_id', 'secret_hash', 'last_seen_at']],
      ['changed', undefined, ['unread']],
      ['gone', 'b', []],
    ],
  )
})

test('lines of JSON, joined, are the text that travelled; other text has no lines', () => {
  for (const text of [
    '{"success":true,"data":{"items":[{"id":"a","title":"\\"{,}\\""},{"id":"b"}],"total":2,"next":null,"none":[],"empty":{}}}',
    '[]',
    '"text"',
    '[1,[2,3],{"a":1}]',
  ])
    assert.equal(
      jsonLines(text)
        ?.map((line) => line.text)
        .join(''),
      text,
    )
  for (const text of ['', '{ "a": 1 }', '<html>', '{"a":1.0}', '{"a":1,"a":2}'])
    assert.equal(jsonLines(text), undefined, text)
})

test('a cookie is taken apart into name, user, secret and attributes; the cookie of the device is another one', () => {
  const fields = [
    ['Set-Cookie', 'demo-device=x; Path=/'],
    ['set-cookie', 'demo=user.secret; Path=/demonstration; Max-Age=10; HttpOnly; SameSite=Lax'],
  ] as const
  const { parts } = cookieSetBy({ response: { line: '', body: '', fields } }, 'demo') ?? assert.fail()
  assert.deepEqual(
    parts.map(({ name, value }) => `${name}=${value}`),
    ['name=demo', 'user=user', 'secret=secret', 'Path=/demonstration', 'Max-Age=10', 'HttpOnly=', 'SameSite=Lax'],
  )
  assert.equal(cookieSetBy({ response: { line: '', body: '', fields: [] } }, 'demo'), undefined)
})

test('a token is taken apart into header, claims and signature; times are in milliseconds', () => {
  const piece = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
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

test('arrows: the request with its proof, what the database was asked and the calls that are shown, the response', () => {
  const exchange: Exchange = {
    n: 1,
    request: {
      line: 'PATCH /demonstration/service/api/notifications/019b76da-a800-72b5-92a9-e707699a9abe/read?x=1 HTTP/1.1',
      fields: [['cookie', 'demo-device=1; demo=a.b']],
      body: '',
    },
    response: { line: 'HTTP/1.1 204 No Content', fields: [], body: '' },
    trace: [
      { name: 'sessions.verify', detail: 'found', ms: 1 },
      { name: 'store.findSession', detail: 'found', ms: 1 },
      { name: 'passwords.verify', detail: 'found', ms: 1 },
    ],
    rows: { before: [], after: [] },
  }
  const sent: Sent = { lane: 'session', status: 204, data: undefined, exchange }
  const isShown = ({ name }: { name: string }) => name === 'passwords.verify'
  assert.deepEqual(
    arrowsOf(sent, { cookieName: 'demo', isShown }).map((arrow) => Object.values(arrow).slice(0, 3)),
    [
      ['request', 'PATCH /api/notifications/:id/read', 'cookie'],
      ['store', 'store.findSession', 'found'],
      ['server', 'passwords.verify', 'found'],
      ['response', '204 No Content', true],
    ],
  )
  assert.equal(arrowsOf({ ...sent, exchange: { ...exchange, trace: null } }, { cookieName: 'demo', isShown }).length, 2)
})
