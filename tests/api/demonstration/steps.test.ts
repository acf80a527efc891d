// The spec's three exchanges in both lanes, what is stored, and what the controls do.
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { demonstrationHere } from '../../support/demonstration/demonstration-here.ts'
import type { HttpResponse } from '../../support/service.ts'

const demonstration = await demonstrationHere()
after(() => demonstration.stop())
const visitor = await demonstration.from('192.0.2.1').again()
beforeEach(() => visitor.again())

const restricted = 'service/routeRestreinte'
const atOther = 'other-server/me'

async function namesOf(response: HttpResponse): Promise<string[]> {
  return (await visitor.exchange(response)).steps.map(({ name }) => name)
}

test('both lanes have the three exchanges of the spec, and only the session is a row', async () => {
  assert.equal((await visitor.session('routeRestreinte')).status, 401)
  assert.equal((await visitor.token('routeRestreinte', undefined)).status, 401)
  const tables = async (response: HttpResponse) =>
    (await visitor.exchange(response)).rows.map(({ table }) => table)
  assert.deepEqual(await tables(await visitor.session('routeRestreinte')), [])
  const body = { ...visitor.user, variant: 'stateful' }
  assert.deepEqual(await tables(await visitor.session('login', { method: 'POST', body })), [
    'session',
  ])
  const login = await visitor.token('login', undefined, {
    method: 'POST',
    body: { ...visitor.user, variant: 'stateless' },
  })
  assert.deepEqual(await tables(login), ['session'])
  assert.equal((await visitor.session('routeRestreinte')).json().data.proof, 'session')
  assert.equal(
    (await visitor.token('routeRestreinte', login.json().token)).json().data.proof,
    'access-token',
  )
})

test('the other server has only the public key: it accepts a token without a look-up, and no session', async () => {
  const token = await visitor.signIn()
  const accepted = await visitor.without(atOther, token)
  assert.equal(accepted.status, 200, accepted.text)
  assert.deepEqual(
    await namesOf(accepted),
    ['signatures.check', 'keys.fetch'],
    'it reads the key set once',
  )
  const again = await visitor.without(atOther, token)
  assert.deepEqual(await namesOf(again), ['signatures.check'])
  assert.equal((await visitor.send(atOther)).status, 401)
  const none = `${Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url')}.${token.split('.')[1]}.`
  for (const forged of [none, token.replace(/.{9}$/, 'AAAAAAAAA')]) {
    assert.equal((await visitor.without(atOther, forged)).status, 401)
    assert.equal((await visitor.without(restricted, forged)).status, 401)
  }
})

test('after the sign-out a copied session and a copied token are refused here, and the other server accepts the token until it expires', async () => {
  const token = await visitor.signIn()
  await visitor.done('steal', { token })
  assert.equal((await visitor.session('logout', { method: 'POST' })).status, 204)
  assert.equal((await visitor.token('logout', token, { method: 'POST' })).status, 204)
  const statusOfThief = async (proof: 'session' | 'token', path: string) => {
    const { n, status } = await visitor.done<{ n: number; status: number }>('thief', {
      proof,
      method: 'GET',
      path,
    })
    const { by, request, response } = await visitor.exchangeOf(n)
    assert.equal(by, 'thief')
    assert.match(new Map(request.fields).get('User-Agent') ?? '', /Firefox/)
    assert.match(response.line, new RegExp(` ${status} `))
    return status
  }
  assert.equal(await statusOfThief('session', restricted), 401)
  assert.equal(await statusOfThief('token', restricted), 401)
  assert.equal(await statusOfThief('session', atOther), 401)
  assert.equal(await statusOfThief('token', atOther), 200)
  const { rows } = await visitor.exchange(await visitor.session('routeRestreinte'))
  const [revoked] = rows.filter(({ table }) => table === 'revocation')
  assert.ok(
    Number(revoked?.columns.expires_at) > Date.UTC(2026, 0, 1),
    'the page says when the entry ends',
  )
  await visitor.done('advance', { seconds: 15 * 60 })
  assert.equal(await statusOfThief('token', atOther), 401)
})

test('a thief at another address is seen as such, and has nothing without a copy', async () => {
  assert.equal(
    (await visitor.control('thief', { proof: 'session', method: 'GET', path: restricted })).status,
    409,
  )
  const token = await visitor.signIn()
  await visitor.done('steal')
  assert.equal(
    (await visitor.control('thief', { proof: 'token', method: 'GET', path: restricted })).status,
    409,
  )
  await visitor.done('thief', { proof: 'session', method: 'POST', path: 'service/logout' })
  const { items } = (await visitor.token('api/me/activity', token)).json().data
  const signOut = items.find(({ event }: { event: string }) => event === 'sign-out')
  assert.equal(signOut.address, '203.0.113.66')
  for (const path of [
    'controls',
    'visit',
    '../api/me',
    'service/../visit',
    'service/%2e%2e',
    'service/a?visit=b',
  ])
    assert.equal(
      (await visitor.control('thief', { proof: 'session', method: 'GET', path })).status,
      400,
      path,
    )
})

test('during an outage of the database the session lane gets 503, the token lane and the other server 200; it ends on request', async () => {
  const token = await visitor.signIn()
  await visitor.done('outage', { seconds: 10 })
  assert.equal((await visitor.session('routeRestreinte')).status, 503)
  assert.equal((await visitor.token('routeRestreinte', token)).status, 200)
  assert.equal((await visitor.without(atOther, token)).status, 200)
  assert.equal((await visitor.token('api/notifications', token)).status, 503)
  await visitor.done('outage', { seconds: 0 })
  assert.equal((await visitor.session('routeRestreinte')).status, 200)
  await visitor.done('outage', { seconds: 1 })
  assert.equal((await visitor.session('routeRestreinte')).status, 503)
  demonstration.pass(1_000)
  assert.equal((await visitor.session('routeRestreinte')).status, 200)
})

test('the clock of the world alone goes forward, and another start gives it back with a fresh state', async () => {
  const token = await visitor.signIn()
  const statuses = async () => [
    (await visitor.session('routeRestreinte')).status,
    (await visitor.token('routeRestreinte', token)).status,
  ]
  const before = await visitor.exchange(await visitor.session('routeRestreinte'))
  await visitor.done('advance', { seconds: 16 * 60 })
  assert.deepEqual(await statuses(), [200, 401])
  await visitor.done('advance', { seconds: 31 * 24 * 3_600 })
  assert.deepEqual(await statuses(), [401, 401])
  await visitor.again()
  const signIn = await visitor.session('login', { method: 'POST', body: visitor.user })
  assert.equal(signIn.status, 200)
  const { at, rows } = await visitor.exchange(signIn)
  assert.equal(at, before.at)
  assert.equal(rows.length, 1)
})

test('a control with a wrong value says what would be right', async () => {
  for (const [action, more, reason] of [
    ['outage', { seconds: 11 }, 'at most 10'],
    ['advance', { seconds: 0 }, 'at least 1'],
    ['advance', { seconds: 3_024_001 }, 'at most 3024000'],
    ['advance', {}, 'is missing'],
    ['deliver', {}, 'is missing'],
    ['deliver', { title: 'a'.repeat(201) }, 'at most 200'],
    ['steal', { token: 'a\r\nHost: b' }, 'pattern'],
  ] as const) {
    const response = await visitor.control(action, more)
    assert.equal(response.status, 400, action)
    assert.match(response.text, new RegExp(reason))
  }
  for (const unknown of ['explode', 'constructor', 'reset'])
    assert.equal(
      (await visitor.send(`controls/${unknown}`, { method: 'POST', body: {} })).status,
      404,
    )
  assert.equal(
    (await visitor.send('controls/steal', { method: 'POST', body: 'a'.repeat(9_000) })).status,
    413,
  )
})
