// The caller's session and tokens work on, and no other sign-in survives (S20).
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { decodeJwt } from 'jose'
import { endOtherSignIns } from '../../../server/sessions/sign-ins.store.ts'
import { type Proof, startTestService, type TestUser } from '../../support/service.ts'

const app = await startTestService()
after(() => app.stop())

const bearer = (token: string): Proof => ({ authorization: `Bearer ${token}` })
const claimsOf = ({ authorization = '' }: Proof) => decodeJwt(authorization.slice('Bearer '.length))
const isAccepted = async (proof: Proof) => (await app.get('/routeRestreinte', proof)).status === 200
const renew = (proof: Proof) => app.post('/token/renew', undefined, proof)
const renewed = async (proof: Proof) => bearer((await renew(proof)).json().token)
const tokenOf = async (session: Proof) =>
  bearer((await app.post('/api/me/token', undefined, session)).json().data.token)

/** A node has a clock `aheadMs` ahead. */
const endOthers = ({ id: userId }: TestUser, token: Proof, aheadMs = 0) => {
  const at = app.now() + aheadMs
  const { sid, gen } = claimsOf(token)
  const proof = {
    userId,
    signInId: sid as string,
    token: { generation: gen as number, signInGeneration: 0 },
  }
  return app.store.write(endOtherSignIns, { userId, proof, at })
}

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
  for (const token of owns) assert.equal(await isAccepted(token), true)
  const fresh = await renewed(own)
  assert.deepEqual([claimsOf(fresh).gen, claimsOf(fresh).sid], [1, claimsOf(own).sid])
  await app.restart()
  for (const ended of others) assert.equal(await isAccepted(ended), false)
  for (const token of [...owns, fresh]) assert.equal(await isAccepted(token), true)
})

test('the spared sign-in of the change before is revoked by the next one, renewed or not (S20)', async () => {
  const user = await app.user()
  const first = await app.signIn(user, 'stateless')
  assert.equal(await endOthers(user, first), 'done')
  const fresh = await renewed(first)
  const second = await app.signIn(user, 'stateless')
  assert.equal(await endOthers(user, second), 'done')
  for (const ended of [first, fresh]) await app.refused(ended)
  assert.equal(await isAccepted(second), true)
  // A request that the service accepted before its sign-in ended cannot bring it back.
  for (const ended of [first, fresh]) assert.equal(await endOthers(user, ended), 'outdated')
  assert.equal(await isAccepted(second), true)
})

test('a session and its tokens are spared together, and end together later', async () => {
  const user = await app.user()
  const own = await app.signIn(user, 'stateful')
  const other = await app.signIn(user, 'stateful')
  const ownToken = await tokenOf(own)
  const otherToken = await tokenOf(other)
  assert.equal(await endOthers(user, ownToken), 'done')
  for (const ended of [other, otherToken]) await app.refused(ended)
  for (const alive of [own, ownToken, await tokenOf(own)])
    assert.equal(await isAccepted(alive), true)
  await app.post('/logout', undefined, own)
  for (const ended of [own, ownToken]) await app.refused(ended)
})

test('a sign-out ends the spared sign-in, with its tokens from before and after the change', async () => {
  const user = await app.user()
  const own = await app.signIn(user, 'stateless')
  await endOthers(user, own)
  const fresh = await renewed(own)
  await app.post('/logout', undefined, fresh)
  for (const ended of [own, fresh]) await app.refused(ended)
  assert.equal(await endOthers(user, own), 'outdated')
})
