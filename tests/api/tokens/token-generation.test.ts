// A counter revokes tokens (T7), even if the clocks of two nodes differ, and spares the sign-in of its caller (S20).
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { decodeJwt } from 'jose'
import { madeAt } from '../../../server/basics/ids.ts'
import { Passwords } from '../../../server/passwords/passwords.ts'
import { endOtherSignIns } from '../../../server/sessions/sign-ins.store.ts'
import { replaceOperation } from '../../../server/store/testing/operations.ts'
import { revokeTokens } from '../../../server/tokens/tokens.store.ts'
import { setPassword } from '../../../server/users/access/access.ts'
import {
  disableUser,
  setPassword as setStoredPassword,
} from '../../../server/users/access/user-changes.store.ts'
import { findCredentials } from '../../../server/users/users.store.ts'
import { openForge } from '../../support/http/forge.ts'
import { type Proof, startTestService, type TestUser } from '../../support/service.ts'

const minute = 60_000
const another = 'another orchard gate 42'

const app = await startTestService()
const forge = await openForge(app)
after(() => app.stop())

const request = async (proof: Proof) => (await app.get('/routeRestreinte', proof)).status
const bearer = (token: string): Proof => ({ authorization: `Bearer ${token}` })
const claimsOf = ({ authorization = '' }: Proof) => decodeJwt(authorization.slice('Bearer '.length))
const renew = (proof: Proof) => app.post('/token/renew', undefined, proof)
const renewed = async (proof: Proof) => bearer((await renew(proof)).json().token)
/** A node's clock is `aheadMs` ahead (negative: behind). */
const changes = {
  'a password': ({ id }: TestUser, aheadMs: number) =>
    app.store.write(setStoredPassword, { userId: id, passwordHash: 'other', ...momentAt(aheadMs) }),
  'disabling the user': ({ id }: TestUser, aheadMs: number) =>
    app.store.write(disableUser, { userId: id, ...momentAt(aheadMs) }),
}
const momentAt = (aheadMs: number) => {
  const at = app.now() + aheadMs
  return { at }
}
const endOthers = ({ id: userId }: TestUser, token: Proof, aheadMs = 0) => {
  const { sid, gen } = claimsOf(token)
  const proof = {
    userId,
    signInId: sid as string,
    token: { generation: gen as number, signInGeneration: 0 },
  }
  return app.store.write(endOtherSignIns, { userId, proof, ...momentAt(aheadMs) })
}
const users = () => ({
  store: app.store,
  passwords: new Passwords({ threads: 4 }),
  passwordMinLength: 15,
  erased: async () => undefined,
  now: app.now,
})

for (const [name, change] of Object.entries(changes))
  for (const aheadMs of [-90_000, 1_500])
    test(`${name} on a node whose clock is ${aheadMs} ms ahead revokes every earlier token, also renewed ones (T7)`, async () => {
      const user = await app.user()
      const first = await app.signIn(user, 'stateless')
      const tokens = [first, await renewed(first), await app.signIn(user, 'stateless')]
      const bystander = await app.signIn(await app.user(), 'stateless')
      await change(user, aheadMs)
      for (const token of tokens) await app.refused(token)
      for (const token of tokens) assert.equal((await renew(token)).status, 401)
      assert.equal(await request(bystander), 200)
      await app.restart()
      for (const token of tokens) assert.equal(await request(token), 401)
    })

for (const aheadMs of [-1_500, 90_000])
  test(`a sign-in with a password that a node ${aheadMs} ms ahead has just set is valid (T7)`, async () => {
    const user = await app.user()
    const before = await app.signIn(user, 'stateless')
    const ahead = { ...users(), now: () => app.now() + aheadMs }
    await setPassword(ahead, { username: user.username, password: another })
    const token = await app.signIn({ ...user, password: another }, 'stateless')
    await app.refused(before)
    assert.equal(await request(token), 200)
    assert.equal(await request(await renewed(token)), 200)
  })

test('a sign-in whose password changes during its check yields no valid token (T7)', async () => {
  const user = await app.user()
  const read = Promise.withResolvers<void>()
  const changed = Promise.withResolvers<void>()
  const restore = replaceOperation(app.store, findCredentials, async (_, run) => {
    const found = await run()
    read.resolve()
    // For as long as it waits in the hash queue.
    await changed.promise
    return found
  })
  const { username, password } = user
  const waiting = [0, 1, 2].map(() =>
    app.post('/login', { username, password, variant: 'stateless' }),
  )
  await read.promise
  restore()
  app.pass(1_000)
  await setPassword(users(), { username, password: another })
  // By the clock, the sign-in is later than the change.
  app.pass(1_000)
  changed.resolve()
  for (const response of await Promise.all(waiting)) {
    if (response.status === 401) assert.equal(response.json().error.code, 'INVALID_CREDENTIALS')
    else await app.refused(bearer(response.json().token))
  }
  assert.equal(await request(await app.signIn({ username, password: another }, 'stateless')), 200)
})

test('a renewed token has the generation of its sign-in, not the current one (T7)', async () => {
  const user = await app.user()
  const token = await app.signIn(user, 'stateless')
  assert.equal(claimsOf(token).gen, 0)
  assert.equal(claimsOf(await renewed(token)).gen, 0)
  await setPassword(users(), { username: user.username, password: another })
  assert.equal(claimsOf(await app.signIn({ ...user, password: another }, 'stateless')).gen, 1)
})

test('a token is not renewed if the user’s row shows a change that this node has not received: new password, restore, disabled (T7)', async () => {
  const unheard = [
    'credential_generation = credential_generation + 1',
    'credential_generation = credential_generation - 1',
    `disabled_at = ${app.now()}`,
  ]
  for (const change of unheard) {
    const user = await app.user()
    await setPassword(users(), { username: user.username, password: user.password })
    const token = await app.signIn(user, 'stateless')
    await app.database.change(`update "user" set ${change} where id = '${user.id}'`)
    assert.equal(await request(token), 200)
    assert.equal((await renew(token)).status, 401, change)
  }
})

test('a sign-out revokes by the id of the sign-in, not by time: a token dated later is refused, another sign-in is not', async () => {
  const user = await app.user()
  const mine = await app.signIn(user, 'stateless')
  const other = await app.signIn(user, 'stateless')
  const { sid } = claimsOf(mine)
  const signedInAt = madeAt(String(sid))
  await app.store.write(revokeTokens, {
    userId: user.id,
    signInId: String(sid),
    at: signedInAt - 90_000,
    expiresAt: app.now() + 16 * minute,
  })
  await app.refused(mine)
  assert.equal(await request(other), 200)
})

test('a token without a generation, or with one that is not a whole number from 0, is refused', async () => {
  const user = await app.user()
  for (const gen of [0, 7]) {
    const token = await forge.token(forge.header, { ...forge.claims(user), gen })
    assert.equal(await request(bearer(token)), 200)
  }
  for (const gen of [undefined, -1, 1.5, '0', null, true, [0], 2 ** 53]) {
    const token = await forge.token(forge.header, { ...forge.claims(user), gen })
    assert.equal(await request(bearer(token)), 401, JSON.stringify(gen))
  }
})

test('the end of all others on a node whose clock is behind spares every token of the caller and no other (S20)', async () => {
  const user = await app.user()
  const own = await app.signIn(user, 'stateless')
  const owns = [own, await renewed(own)]
  const others = [await app.signIn(user, 'stateless'), await app.signIn(user, 'stateful')]
  const [other] = others as [Proof]
  others.push(await renewed(other))
  assert.equal(await endOthers(user, own, -90_000), 'done')
  for (const ended of others) await app.refused(ended)
  assert.equal((await renew(other)).status, 401)
  for (const token of owns) assert.equal(await request(token), 200)
  const fresh = await renewed(own)
  assert.deepEqual([claimsOf(fresh).gen, claimsOf(fresh).sid], [1, claimsOf(own).sid])
  await app.restart()
  for (const ended of others) assert.equal(await request(ended), 401)
  for (const token of [...owns, fresh]) assert.equal(await request(token), 200)
})

test('the spared sign-in of the change before is revoked by the next one, renewed or not (S20)', async () => {
  const user = await app.user()
  const first = await app.signIn(user, 'stateless')
  assert.equal(await endOthers(user, first), 'done')
  const fresh = await renewed(first)
  const second = await app.signIn(user, 'stateless')
  assert.equal(await endOthers(user, second), 'done')
  for (const ended of [first, fresh]) await app.refused(ended)
  assert.equal(await request(second), 200)
  // A request that the service accepted before its sign-in ended cannot bring it back.
  for (const ended of [first, fresh]) assert.equal(await endOthers(user, ended), 'outdated')
  assert.equal(await request(second), 200)
})
