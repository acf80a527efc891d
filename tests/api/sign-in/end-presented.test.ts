// A sign-out and a sign-in end every proof that the request presents (S3, S4). logout.test.ts and
// session.test.ts have single proofs.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, beforeEach, test } from 'node:test'
import { EventReader } from '../../support/event-source/event-source.ts'
import { refusalIn } from '../../support/http/envelope.ts'
import { openForge } from '../../support/http/forge.ts'
import {
  type HttpResponse,
  type Proof,
  startTestService,
  type TestUser,
  variants,
} from '../../support/service.ts'

const app = await startTestService()
const forge = await openForge(app)
after(() => app.stop())
// A user may sign in 60 times at once, and then once in ten seconds.
beforeEach(() => app.pass(600_000))
const ann = await app.user('ann')
const ben = await app.user('ben')

const cleared = 'carillon=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax'
const statusOf = async (proof: Proof) => (await app.get('/routeRestreinte', proof)).status
const statuses = (...proofs: Proof[]) => Promise.all(proofs.map(statusOf))
const session = (user: TestUser) => app.signIn(user, 'stateful')
const token = (user: TestUser) => app.signIn(user, 'stateless')
const renewed = async (proof: Proof): Promise<Proof> => ({
  authorization: `Bearer ${(await app.post('/token/renew', undefined, proof)).json().token}`,
})
const random = (size: number) => randomBytes(size).toString('base64url')
const madeUp = (user: TestUser): Proof => ({
  cookie: `carillon=${user.id}.${random(16)}.${random(32)}`,
})

function together(...proofs: Proof[]): Proof {
  const cookies = proofs.flatMap(({ cookie }) => cookie ?? [])
  const authorization = proofs.find((proof) => proof.authorization !== undefined)?.authorization
  return {
    ...(cookies.length > 0 && { cookie: cookies.join('; ') }),
    ...(authorization && { authorization }),
  }
}

const signOut = (proof: Proof, more: Proof = {}) =>
  app.post('/logout', undefined, { ...proof, ...more })
const signIn = (proof: Proof, variant: string, { username, password } = ann) =>
  app.post('/login', { username, password, variant }, proof)

function newProof(response: HttpResponse): Proof {
  assert.equal(response.status, 200, response.text)
  const { token: value } = response.json()
  return value
    ? { authorization: `Bearer ${value}` }
    : { cookie: response.headers.getSetCookie()[0]?.split(';')[0] ?? '' }
}

/** With the number of their sign-ins. */
const combinations: Record<string, () => Promise<Proof[]>> = {
  'two cookies that differ': async () => [await session(ann), await session(ann)],
  'three cookies, of two users': async () => [
    await session(ben),
    await session(ann),
    await session(ben),
  ],
  'a cookie beside a token': async () => [await session(ann), await token(ann)],
  'a cookie beside a token of another user': async () => [await session(ben), await token(ann)],
  'two cookies beside a token': async () => [
    await session(ann),
    await session(ben),
    await token(ann),
  ],
  'a cookie': async () => [await session(ann)],
  'a token': async () => [await token(ann)],
  'a cookie among made-up ones': async () => [
    madeUp(ann),
    await session(ann),
    madeUp(ben),
    { cookie: 'carillon=x' },
  ],
}

for (const [name, present] of Object.entries(combinations)) {
  test(`a sign-out ends every proof that it presents and clears the cookie: ${name} (S3, S4)`, async () => {
    const proofs = await present()
    const others = [await session(ann), await token(ann), await session(ben)]
    const response = await signOut(together(...proofs))
    assert.deepEqual([response.status, response.headers.getSetCookie()], [204, [cleared]])
    for (const status of await statuses(...proofs)) assert.equal(status, 401)
    assert.deepEqual(await statuses(...others), [200, 200, 200])
  })

  for (const variant of variants)
    test(`a sign-in (${variant}) ends every proof that it presents: ${name} (S3, S4)`, async () => {
      const proofs = await present()
      const others = [await session(ann), await token(ann), await session(ben)]
      const response = await signIn(together(...proofs), variant)
      const fresh = newProof(response)
      for (const status of await statuses(...proofs)) assert.equal(status, 401)
      assert.deepEqual(await statuses(fresh, ...others), [200, 200, 200, 200])
      const hadCookie = proofs.some(({ cookie }) => cookie !== undefined)
      const cookies = response.headers.getSetCookie()
      if (variant === 'stateless') assert.deepEqual(cookies, hadCookie ? [cleared] : [])
      else
        assert.deepEqual(
          [cookies.length, cookies[0]?.startsWith(fresh.cookie ?? 'none')],
          [2, true],
        )
    })
}

test('a presented token ends with every renewed token of its sign-in, also at a sign-in (S4, T7)', async () => {
  for (const act of [
    signOut,
    (proof: Proof) => signIn(proof, 'stateful'),
    (proof: Proof) => signIn(proof, 'stateless'),
  ]) {
    const first = await token(ann)
    const second = await renewed(first)
    const fresh = await act(together(await session(ann), first))
    assert.ok(fresh.status < 300)
    assert.deepEqual(await statuses(first, second), [401, 401])
    assert.equal((await app.post('/token/renew', undefined, second)).status, 401)
  }
})

test('a refused sign-in ends no session and no token (S3)', async () => {
  const cookie = await session(ann)
  const other = await session(ann)
  const bearer = await token(ann)
  const proof = together(cookie, other, bearer)
  for (const variant of variants) {
    const wrong = await signIn(proof, variant, { ...ann, password: 'not the orchard gate 41' })
    assert.deepEqual([wrong.status, wrong.headers.getSetCookie()], [401, []])
    const page = { ...proof, 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }
    const foreign = await signIn(page, variant)
    assert.deepEqual([foreign.status, foreign.headers.getSetCookie()], [403, []])
  }
  assert.deepEqual(await statuses(cookie, other, bearer), [200, 200, 200])
})

test('a made-up, foreign, renamed or expired proof ends nothing and writes nothing (S4, L2)', async () => {
  const running = [await session(ann), await token(ann), await session(ben)]
  const secret = running[0]?.cookie?.split('=')[1] ?? ''
  const halves = secret.slice(secret.indexOf('.') + 1)
  const expired = await forge.token(forge.header, {
    ...forge.claims(ann),
    exp: Math.floor(app.now() / 1000) - 1,
  })
  const nothings: Proof[] = [
    together(madeUp(ann), madeUp(ben), { authorization: `Bearer ${expired}` }),
    { cookie: `carillon=${ben.id}.${halves}` },
    {
      cookie: `carillon=${secret}x; Carillon=${secret}; __Host-carillon=${secret}; \u00a0carillon=${secret}`,
    },
    {
      cookie: Array.from({ length: 100 }, () => madeUp(ann).cookie).join('; '),
      authorization: 'Bearer a.b.c',
    },
    { authorization: `Basic ${secret}` },
    { authorization: `Bearer ${secret}` },
  ]
  const tables = await app.database.tables()
  for (const nothing of nothings) assert.equal((await signOut(nothing)).status, 204)
  assert.deepEqual(await app.database.tables(), tables)
  assert.deepEqual(await statuses(...running), [200, 200, 200])
})

test('two Authorization fields do not authenticate a request, but a sign-out ends both of their tokens (S4)', async () => {
  const one = await token(ann)
  const two = await token(ben)
  const fields: [string, string][] = [one, two].map((proof) => [
    'authorization',
    proof.authorization ?? '',
  ])
  assert.equal((await app.exchange('/routeRestreinte', { fields })).status, 401)
  assert.deepEqual(await statuses(one, two), [200, 200])
  fields.push(['content-length', '0'])
  assert.equal((await app.exchange('/logout', { method: 'POST', fields })).status, 204)
  assert.deepEqual(await statuses(one, two), [401, 401])
})

test('streams of the ended proofs end, and streams of other users stay open (Z5, S4)', async () => {
  for (const act of [
    signOut,
    (proof: Proof) => signIn(proof, 'stateful'),
    (proof: Proof) => signIn(proof, 'stateless'),
  ]) {
    const proofs = [await session(ann), await session(ben), await token(ann)]
    const other = await EventReader.of(app.url, await session(ann))
    const readers = await Promise.all(proofs.map((proof) => EventReader.of(app.url, proof)))
    assert.ok((await act(together(...proofs))).status < 300)
    for (const reader of readers) {
      await reader.next('session-ended', 30_000)
      await reader.ended()
    }
    await app.deliver({ to: ann, title: 'Still here' })
    await other.next('created')
    other[Symbol.dispose]()
  }
})

test('a form on another site signs no user out, not even with credentials in its URL (C1)', async () => {
  const running = await session(ann)
  const page = { 'sec-fetch-site': 'same-site', origin: 'https://evil.bell.example' }
  const basic = { authorization: `Basic ${Buffer.from('x:y').toString('base64')}` }
  assert.equal(refusalIn(await signOut(running, page)).status, 403)
  for (const proof of [together(running, basic), basic, {}]) {
    const response = await signOut(proof, page)
    // A cleared cookie would sign the user out in the browser.
    assert.deepEqual([response.status, response.headers.getSetCookie()], [204, []])
  }
  assert.equal(await statusOf(running), 200)
})

test('50 sign-outs and uses at once of the same two sessions leave none alive (S5)', async () => {
  const proofs = [await session(ann), await session(ann)]
  const both = together(...proofs)
  const acts = Array.from({ length: 50 }, (_, n) =>
    n % 2 === 0 ? signOut(both) : app.get('/api/me', proofs[n % 4 === 1 ? 0 : 1]),
  )
  for (const response of await Promise.all(acts))
    assert.ok([200, 204, 401].includes(response.status))
  assert.deepEqual(await statuses(...proofs), [401, 401])
})
