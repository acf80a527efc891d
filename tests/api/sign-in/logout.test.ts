import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { reserveGuess } from '../../../server/guessing/guesses.store.ts'
import { Passwords } from '../../../server/passwords/passwords.ts'
import { noteDevice } from '../../../server/sessions/sign-ins.store.ts'
import { replaceOperation } from '../../../server/store/testing/operations.ts'
import { setPassword } from '../../../server/users/access/access.ts'
import {
  disableUser,
  setPassword as setStoredPassword,
} from '../../../server/users/access/user-changes.store.ts'
import { findCredentials } from '../../../server/users/users.store.ts'
import { openForge } from '../../support/http/forge.ts'
import { type HttpResponse, type Proof, startTestService, variants } from '../../support/service.ts'

const minute = 60_000

const app = await startTestService()
const forge = await openForge(app)
after(() => app.stop())
const ann = await app.user('ann')

const request = async (proof: Proof) => (await app.get('/routeRestreinte', proof)).status
const logout = (proof: Proof = {}) => app.post('/logout', undefined, proof)
const disable = (userId: string) => app.store.write(disableUser, { userId, at: app.now() })

async function renewed(proof: Proof): Promise<Proof> {
  const response = await app.post('/token/renew', undefined, proof)
  assert.equal(response.status, 200)
  return { authorization: `Bearer ${response.json().token}` }
}

function isSignedOut(response: HttpResponse): void {
  assert.deepEqual([response.status, response.text], [204, ''])
  assert.deepEqual(response.headers.getSetCookie(), [
    'carillon=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax',
  ])
}

for (const variant of variants) {
  test(`S4, T7: /logout answers 204, clears the cookie and ends the proof at once (${variant})`, async () => {
    const proof = await app.signIn(ann, variant)
    assert.equal(await request(proof), 200)
    isSignedOut(await logout(proof))
    assert.equal(await request(proof), 401)
    for (const path of ['/api/me', '/api/notifications', '/api/notifications/counts'])
      assert.equal((await app.get(path, proof)).status, 401)
  })

  test(`/logout ends this sign-in and no other sign-in of the user (${variant})`, async () => {
    const mine = await app.signIn(ann, variant)
    const sameUser = await app.signIn(ann, variant)
    const otherKind = await app.signIn(ann, variant === 'stateful' ? 'stateless' : 'stateful')
    const bob = await app.signIn(await app.user(), variant)
    await logout(mine)
    assert.deepEqual(
      await Promise.all([mine, sameUser, otherKind, bob].map(request)),
      [401, 200, 200, 200],
    )
  })

  test(`a second /logout also answers 204 and writes nothing (${variant})`, async () => {
    const proof = await app.signIn(ann, variant)
    isSignedOut(await logout(proof))
    const tables = await app.database.tables()
    isSignedOut(await logout(proof))
    assert.deepEqual(await app.database.tables(), tables)
  })

  test(`S4, T7: an ended proof is still refused after a restart (${variant})`, async () => {
    const ended = await app.signIn(ann, variant)
    const other = await app.signIn(ann, variant)
    await logout(ended)
    await app.restart()
    assert.deepEqual(await Promise.all([ended, other].map(request)), [401, 200])
  })

  test(`S7: a disabled user is signed out, sessions at once and tokens soon, also after a restart (${variant})`, async () => {
    const eve = await app.user()
    const bob = await app.user()
    const proof = await app.signIn(eve, variant)
    const bobs = await app.signIn(bob, variant)
    await disable(eve.id)
    if (variant === 'stateless') await app.refused(proof)
    assert.deepEqual(await Promise.all([proof, bobs].map(request)), [401, 200])
    await app.restart()
    assert.deepEqual(await Promise.all([proof, bobs].map(request)), [401, 200])
  })
}

test('/logout without a valid proof answers 204 and writes nothing', async () => {
  const session = await app.signIn(ann, 'stateful')
  const version = await app.database.version()
  const nothings: Proof[] = [
    {},
    { cookie: 'carillon=' },
    { cookie: `carillon=${randomUUID()}.${'A'.repeat(22)}.${'A'.repeat(43)}` },
    { cookie: 'carillon=one; carillon=two' },
    { authorization: 'Bearer a.b.c' },
    { authorization: 'Basic YTpi' },
    { authorization: '' },
  ]
  for (const nothing of nothings) isSignedOut(await logout(nothing))
  assert.equal(await request(session), 200)
  assert.equal(await app.database.version(), version)
})

test('T7: /logout with one token revokes every token of its sign-in: older, renewed, and renewed again', async () => {
  const first = await app.signIn(ann, 'stateless')
  app.pass(minute)
  const second = await renewed(first)
  app.pass(minute)
  const third = await renewed(second)
  const other = await app.signIn(ann, 'stateless')
  assert.deepEqual(
    await Promise.all([first, second, third, other].map(request)),
    [200, 200, 200, 200],
  )
  await logout(second)
  assert.deepEqual(
    await Promise.all([first, second, third, other].map(request)),
    [401, 401, 401, 200],
  )
  assert.equal((await app.post('/token/renew', undefined, third)).status, 401)
  assert.equal(await request(await renewed(other)), 200)
})

test('T7: a renewal during the revocation of its sign-in yields no valid token: 100 of 100 races', async () => {
  let gained = 0
  for (let round = 0; round < 100; round++) {
    const proof = { authorization: `Bearer ${await forge.token(forge.header, forge.claims(ann))}` }
    const renew = () => app.post('/token/renew', undefined, proof)
    const [one, signedOut, another] = await Promise.all([
      renew(),
      logout(proof),
      renew(),
      request(proof),
    ])
    assert.equal(signedOut.status, 204)
    for (const response of [one, another].filter(({ status }) => status === 200)) {
      gained++
      assert.equal(
        await request({ authorization: `Bearer ${response.json().token}` }),
        401,
        `round ${round}`,
      )
    }
    assert.equal(await request(proof), 401, `round ${round}`)
  }
  assert.ok(gained > 0, 'no renewal succeeded before its revocation, so nothing was raced')
})

test('T7: a revocation lasts as long as the longest-lived token of its sign-in, also after restarts', async () => {
  const first = await app.signIn(ann, 'stateless')
  app.pass(14 * minute)
  const last = await renewed(first)
  await logout(last)
  await app.restart()
  app.pass(15 * minute - 1)
  assert.equal(await request(last), 401)
  await app.restart()
  assert.equal(await request(last), 401)
  app.pass(-15 * minute)
  assert.equal(await request(last), 401)
})

test('S7: a user who is enabled again can sign in, and the revoked tokens stay revoked', async () => {
  const eve = await app.user()
  const session = await app.signIn(eve, 'stateful')
  const token = await app.signIn(eve, 'stateless')
  app.pass(1_000)
  await disable(eve.id)
  await app.refused(token)
  app.pass(1_000)
  const { passwordHash } = (await app.store.read(findCredentials, eve.username)) ?? {
    passwordHash: '',
  }
  await app.store.write(setStoredPassword, {
    userId: eve.id,
    passwordHash,
    at: app.now(),
  })
  app.pass(1_000)
  const fresh = [await app.signIn(eve, 'stateful'), await app.signIn(eve, 'stateless')]
  assert.deepEqual(await Promise.all([session, token, ...fresh].map(request)), [401, 401, 200, 200])
})

test('/logout refuses GET, and a page of another site cannot sign a user out', async () => {
  const proof = await app.signIn(ann, 'stateful')
  assert.equal((await app.get('/logout', proof)).status, 405)
  assert.equal((await logout({ ...proof, 'sec-fetch-site': 'cross-site' })).status, 403)
  assert.equal(await request(proof), 200)
})

test('S7: a sign-in with the old password while the new one is being stored is ended once it is stored', async () => {
  const eve = await app.user('eve')
  const { store } = app
  const { promise: isHashed, resolve: hashed } = Promise.withResolvers<void>()
  const restoreKeep = replaceOperation(store, setStoredPassword, (_, run) => {
    hashed()
    return run()
  })
  let release = async () => {}
  let changed = Promise.resolve()
  const restoreReserve = replaceOperation(store, reserveGuess, async ({ limits }, run) => {
    const refusals = await run()
    if (!limits.some(({ key }) => key.includes(' sign-in password '))) return refusals
    // The old password was right. Before its token is issued, the change of the password begins, and waits for the lock.
    release = await app.database.holdWrites()
    const users = {
      store,
      passwords: new Passwords({ threads: 4 }),
      passwordMinLength: 15,
      erased: async () => undefined,
      now: app.now,
    }
    changed = setPassword(users, { username: 'eve', password: 'quite another orchard 42' })
    await isHashed
    app.pass(5)
    return refusals
  })
  const { promise: isIssued, resolve: issued } = Promise.withResolvers<void>()
  const restoreNote = replaceOperation(store, noteDevice, (_, run) => {
    issued()
    return run()
  })
  const signedIn = app.signIn(eve, 'stateless')
  await isIssued
  // Now its token exists, and its entry in the audit log waits, too.
  for (const restore of [restoreNote, restoreReserve, restoreKeep]) restore()
  app.pass(5)
  await release()
  await changed
  const late = await signedIn
  await app.refused(late)
  assert.equal((await app.post('/token/renew', undefined, late)).status, 401)
})
