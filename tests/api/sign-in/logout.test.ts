import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openForge } from '../../support/http/forge.ts'
import { type HttpResponse, type Proof, startTestService, variants } from '../../support/service.ts'

const minute = 60_000

const app = await startTestService()
const forge = await openForge(app)
after(() => app.stop())
const ann = await app.user('ann')

const request = async (proof: Proof) => (await app.get('/routeRestreinte', proof)).status
const logout = (proof: Proof = {}) => app.post('/logout', undefined, proof)
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

for (const variant of variants)
  test(`S4, T7: /logout answers 204, clears the cookie and ends the proof at once, for ever and no other; a second one writes nothing (${variant})`, async () => {
    const proof = await app.signIn(ann, variant)
    const others = [await app.signIn(ann, 'stateful'), await app.signIn(ann, 'stateless')]
    isSignedOut(await logout(proof))
    const statuses = () => Promise.all([proof, ...others].map(request))
    assert.deepEqual(await statuses(), [401, 200, 200])
    const tables = await app.database.tables()
    isSignedOut(await logout(proof))
    assert.deepEqual(await app.database.tables(), tables)
    await app.restart()
    assert.deepEqual(await statuses(), [401, 200, 200])
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

test('T7: a renewal during the revocation of its sign-in yields no valid token: 20 of 20 races', async () => {
  let gained = 0
  for (let round = 0; round < 20; round++) {
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
