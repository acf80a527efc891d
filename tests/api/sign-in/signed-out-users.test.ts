// Every proof is refused at once, streams and steps that wait included.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Sealing } from '../../../server/basics/secrets.ts'
import { signOutEveryone } from '../../../server/sessions/everyone.ts'
import { findUser } from '../../../server/users/users.store.ts'
import { EventReader } from '../../support/event-source/event-source.ts'
import { type Proof, startTestService } from '../../support/service.ts'

const app = await startTestService()
after(() => app.stop())
const keeper: Proof = { authorization: `Bearer ${(await app.producerKey(['users'])).key}` }
const soonMs = 30_000

const signOut = (path: string, headers = keeper) =>
  app.request(`${path}/sessions`, { method: 'DELETE', headers })
const opensInbox = async (proof: Proof) =>
  (await app.get('/api/notifications', proof)).status === 200

async function everyProofOf(user: Awaited<ReturnType<typeof app.user>>): Promise<Proof[]> {
  const session = await app.signIn(user, 'stateful')
  const { token } = (await app.post('/api/me/token', undefined, session)).json().data
  const ofSession = { authorization: `Bearer ${token}` }
  return [session, ofSession, await app.signIn(user, 'stateless'), await app.issueToken(user)]
}

test('DELETE /api/users/:id/sessions ends every session and token of the user at once, and the user signs in again (S22)', async () => {
  const ann = await app.user()
  const ben = await app.user()
  const own = await everyProofOf(ann)
  const others = await everyProofOf(ben)
  using stream = await EventReader.of(app.url, own[0] ?? {})
  for (let round = 0; round < 2; round++)
    assert.equal((await signOut(`/api/users/${ann.id}`)).status, 204)
  for (const proof of own) assert.equal(await opensInbox(proof), false)
  for (const proof of own.slice(2))
    assert.equal((await app.post('/token/renew', undefined, proof)).status, 401)
  for (const proof of others) assert.ok(await opensInbox(proof))
  await stream.ended(soonMs)
  assert.ok(await opensInbox(await app.signIn(ann, 'stateful')))
  assert.ok(await opensInbox(await app.signIn(ann, 'stateless')))
})

test('the end of every sign-in spares the sessions of one user, and no token, renewed or not (S22)', async () => {
  const ann = await app.user()
  const ben = await app.user()
  const [annSession = {}, ...annTokens] = await everyProofOf(ann)
  const bens = await everyProofOf(ben)
  using stream = await EventReader.of(app.url, bens[2] ?? {})
  const spared = await app.store.read(findUser, ann.id)
  const source = { actor: 'operator', address: null, userAgent: null, requestId: null }
  const sealing = new Sealing({ current: app.sealingSecret })
  await signOutEveryone({ store: app.store, sealing, now: app.now, source }, spared)
  await stream.ended(soonMs)
  for (const proof of [...bens, ...annTokens]) assert.equal(await opensInbox(proof), false)
  assert.ok(await opensInbox(annSession))
  const { token } = (await app.post('/api/me/token', undefined, annSession)).json().data
  assert.ok(await opensInbox({ authorization: `Bearer ${token}` }))
  for (const variant of ['stateful', 'stateless'] as const)
    assert.ok(await opensInbox(await app.signIn(ben, variant)))
})
