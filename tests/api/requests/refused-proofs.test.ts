import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { pino } from 'pino'
import { counts } from '../../../server/basics/counts.ts'
import { type Proof, startTestService, variants } from '../../support/service.ts'

const app = await startTestService()
after(() => app.stop())
const ann = await app.user('ann')
const cookie = await app.signIn(ann, 'stateful')
const token = await app.signIn(ann, 'stateless')
const { key } = await app.producerKey(['send', 'users'])
const bearer = token.authorization?.slice('Bearer '.length) ?? ''
const madeUp = `crl_0123456789abcdef_${'A'.repeat(43)}`

/** The message is that of the spec. */
async function faultOf(path: string, headers: Proof, method = 'GET'): Promise<string> {
  const response = await app.request(path, { method, headers })
  const { error } = response.json()
  const what = `${method} ${path} ${JSON.stringify(headers)}`
  assert.deepEqual(
    [response.status, error.code, error.message],
    [401, 'UNAUTHORIZED', 'Not authenticated'],
    what,
  )
  assert.equal(error.details.length, 1, what)
  for (const value of [
    ...Object.values(headers).flatMap((text) => text.split(/[ =]/)),
    key,
    bearer,
  ])
    assert.ok(value.length < 10 || !response.text.includes(value), `${what} repeats a value`)
  const [{ field, reason }] = error.details
  return `${field} ${reason}`
}

const ofUser = [
  '/api/me',
  '/api/notifications',
  '/api/notifications/stream',
  '/api/notifications/changes?since=0',
]
const ofProducer = ['/api/users', '/api/categories/orders']

const takesUser =
  /: this route takes the token of a user as `Authorization: Bearer \.\.\.`, or the session cookie$/
const takesKey =
  /: this route takes a producer key \(carillon key add\) as `Authorization: Bearer crl_\.\.\.`$/

const mistakes: [what: string, user: Proof, says: RegExp, producer: Proof, says: RegExp][] = [
  ['no proof', {}, /^Authorization is missing:/, {}, /^Authorization is missing:/],
  [
    'the proof of the other kind of route',
    { authorization: `Bearer ${key}` },
    /^Authorization has a producer key:/,
    token,
    /^Authorization has a token:/,
  ],
  ['a session on a route of producers', {}, /is missing/, cookie, /^Cookie has a session:/],
  [
    'a secret without Bearer',
    { authorization: bearer },
    /^Authorization is not `Bearer`, a blank and one token or key:/,
    { authorization: key },
    /^Authorization is not `Bearer`, a blank and one token or key:/,
  ],
  [
    'the wrong field',
    { 'x-auth-token': bearer },
    /^x-auth-token is not read and has a token or key:/,
    { 'x-api-key': key },
    /^x-api-key is not read and has a token or key:/,
  ],
  [
    'a key in a cookie',
    { cookie: `k=${key}` },
    /^Cookie has a producer key:/,
    { cookie: `k=${key}` },
    /^Cookie has a/,
  ],
]
for (const [what, user, userSays, producer, producerSays] of mistakes)
  test(`a 401 names the mistake: ${what}`, async () => {
    for (const path of ofUser) {
      const fault = await faultOf(path, user)
      assert.match(fault, userSays)
      assert.match(fault, takesUser)
    }
    for (const path of ofProducer) {
      const fault = await faultOf(path, producer)
      assert.match(fault, producerSays)
      assert.match(fault, takesKey)
    }
    assert.match(await faultOf('/api/notifications', producer, 'POST'), producerSays)
  })

test('a 401 names a token or key in the URL, under whatever name', async () => {
  for (const query of [
    `access_token=${bearer}`,
    `auth=${bearer}`,
    `k=${key}`,
    'token=x',
    'api_key=x',
    `k=${madeUp}`,
  ])
    for (const path of ['/api/notifications/stream', '/api/users'])
      assert.match(
        await faultOf(`${path}?${query}`, {}),
        /^query has a token or key, which no URL may have because/,
      )
})

test('a valid, an expired, a revoked and a made-up proof of one form have one text', async () => {
  const { key: expired } = await app.producerKey(['users'], app.now() - 1)
  const revoked = await app.signIn(ann, 'stateless')
  await app.post('/logout', undefined, revoked)
  const ofForm = (secrets: string[], path: string) =>
    Promise.all(secrets.map((secret) => faultOf(path, { authorization: `Bearer ${secret}` })))
  const tokens = [
    revoked.authorization?.slice(7) ?? '',
    `${bearer.slice(0, -9)}AAAAAAAAA`,
    'made-up',
  ]
  const keys = [expired, madeUp, 'crl_', 'crl_a_b']
  const texts = [
    await ofForm([...keys, key], '/api/me'),
    await ofForm([...tokens, bearer], '/api/users'),
    await ofForm(tokens, '/api/me'),
    await ofForm(keys, '/api/users'),
    await Promise.all(
      [cookie, { cookie: 'carillon=made-up' }].map((proof) => faultOf('/api/users', proof)),
    ),
  ]
  assert.deepEqual(
    texts.map((same) => new Set(same).size),
    texts.map(() => 1),
  )
  assert.match(
    texts[2]?.[0] ?? '',
    /^Authorization has a token that is unknown, expired or revoked:/,
  )
  assert.match(
    texts[3]?.[0] ?? '',
    /^Authorization has a producer key that is unknown, expired or revoked:/,
  )
})

for (const variant of variants)
  test(`a sign-in that has ended is named by the field that carried it (${variant})`, async () => {
    const ended = await app.signIn(ann, variant)
    await app.post('/logout', undefined, ended)
    const [field] = (await faultOf('/api/me', ended)).split(' ')
    assert.equal(field, variant === 'stateful' ? 'Cookie' : 'Authorization')
  })

test('the log and the metrics count refused proofs and missing scopes by reason, on every kind of route; the log no request without a proof (L1)', async () => {
  const written: string[] = []
  const log = pino({ base: null, level: 'warn' }, { write: (line: string) => written.push(line) })
  const other = await startTestService({ log })
  const user = await other.user()
  const session = await other.signIn(user, 'stateful')
  const issued = await other.issueToken(user)
  const sender = { authorization: `Bearer ${(await other.producerKey(['send'])).key}` }
  const bad = { authorization: 'Bearer a.b.c' }
  const requests: [path: string, headers: Proof][] = [
    ['/api/me', {}],
    ['/api/users', {}],
    ['/api/me', session],
    ['/api/me', bad],
    ['/api/notifications', bad],
    ['/api/users', { authorization: `Bearer ${madeUp}` }],
    ['/api/users', bad],
    ['/api/me', { authorization: 'Basic abc' }],
    [`/api/users?token=${madeUp}`, {}],
    ['/api/me', { 'x-api-key': madeUp }],
    ['/api/me', { cookie: 'carillon=x' }],
    ['/api/me/activity', issued],
    ['/api/users', sender],
    ['/routeRestreinte', bad],
    ['/verify', bad],
    ['/verify', {}],
    ['/api/operator/now', bad],
    ['/api/operator/now', session],
    ['/api/operator/now', { cookie: 'carillon=x' }],
  ]
  const before = { ...counts.refusedProofs }
  for (const [path, headers] of requests) await other.get(path, headers)
  await other.stop()
  const lines = written
    .map((line) => JSON.parse(line))
    .filter(({ event }) => event === 'proof-refused')
  const [{ count, reasons }] = lines
  assert.equal(lines.length, 1)
  const risen = Object.entries(counts.refusedProofs).map(([reason, number]) => [
    reason,
    number - before[reason as keyof typeof before],
  ])
  assert.deepEqual(Object.fromEntries(risen), { ...reasons, missing: 3 })
  assert.deepEqual(reasons, {
    'token-not-valid': 4,
    'key-not-valid': 1,
    'other-kind': 2,
    'not-well-formed': 1,
    'in-query': 1,
    'in-another-field': 1,
    'session-ended': 2,
    'scope-missing': 2,
  })
  assert.equal(count, 14)
  assert.ok(!written.join('').includes(madeUp))
})
