// The issuers are our own; openid-provider.test.ts has a real one, forged-foreign-tokens.test.ts
// what is refused.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { replaceOperation } from '../../../server/store/testing/operations.ts'
import { revocationKeptForMs } from '../../../server/tokens/read-token.ts'
import { disableUser } from '../../../server/users/access/user-changes.store.ts'
import { deleteUser } from '../../../server/users/erasure/erasure.store.ts'
import { putUsers } from '../../../server/users/put-users.store.ts'
import { enableUser, findUser, findUserByExternalId } from '../../../server/users/users.store.ts'
import { EventReader } from '../../support/event-source/event-source.ts'
import { refusalIn } from '../../support/http/envelope.ts'
import {
  type IssuerKey,
  newKey,
  startIssuer,
  type TestIssuer,
} from '../../support/network/issuer.ts'
import { type Proof, startTestService, type TestService } from '../../support/service.ts'

const now = () => app.now()
/** Its users have plain ids and are created; those of `second` have their own and are not. */
const first = await startIssuer(now)
const second = await startIssuer(now)
const entryOf = (issuer: TestIssuer, more: object) => ({
  issuer: issuer.url,
  audience: 'bell',
  algorithms: ['RS256', 'ES256', 'EdDSA'],
  ...more,
})
const app: TestService = await startTestService({
  env: {
    CARILLON_ISSUERS: JSON.stringify([
      entryOf(first, { ids: 'plain', createUsers: true }),
      entryOf(second, { jwks: second.jwks }),
    ]),
  },
})
after(() => Promise.all([app.stop(), first.stop(), second.stop()]))

const bearer = (token: string): Proof => ({ authorization: `Bearer ${token}` })
const proofOf = async (...of: Parameters<TestIssuer['token']>) => bearer(await first.token(...of))
const statusOf = async (proof: Proof, path = '/api/notifications') =>
  (await app.get(path, proof)).status
async function userOf(proof: Proof) {
  const response = await app.get('/api/me', proof)
  assert.equal(response.status, 200, response.text)
  return response.json().data.user as { id: string; username: string | null }
}
async function sendTo(userId: string): Promise<string> {
  const { key } = await app.producerKey()
  const response = await app.post(
    '/api/notifications',
    { recipients: [{ userId }], title: 'x' },
    bearer(key),
  )
  assert.equal(response.status, 201, response.text)
  return response.json().data.results[0].id
}

test('a foreign token opens the inbox of its user, who is created if the setting says so', async () => {
  const proof = await proofOf({ sub: 'created' })
  const user = await userOf(proof)
  assert.equal(user.username, null)
  assert.equal(
    (await app.store.read(findUserByExternalId, { issuer: '', externalId: 'created' }))?.id,
    user.id,
  )
  const id = await sendTo(user.id)
  const { items, unread } = await app.list(proof)
  assert.deepEqual([items.map((one) => one.id), unread], [[id], 1])
  assert.equal((await app.patch(`/api/notifications/${id}/read`, proof)).status, 204)
  const paths = [
    '/api/notifications/counts',
    '/api/notifications/changes?since=0',
    `/api/notifications/${id}`,
    '/api/session',
  ]
  for (const path of paths) assert.equal(await statusOf(proof, path), 200, path)
})

test('a token of each algorithm is accepted, with `at+jwt`, `JWT` or no type, and with several audiences', async () => {
  for (const key of first.keys)
    assert.equal(await statusOf(await proofOf({}, { key })), 200, key.alg)
  for (const typ of ['at+jwt', 'application/at+jwt', 'jwt', undefined])
    assert.equal(await statusOf(await proofOf({}, { header: { typ } })), 200, String(typ))
  assert.equal(await statusOf(await proofOf({ aud: ['account', 'bell'] })), 200)
  const day = 86_400
  const seconds = now() / 1000
  const edges: Parameters<TestIssuer['token']>[0][] = [
    { exp: seconds + day },
    { iat: seconds + 60 },
    { nbf: seconds + 60 },
    { exp: seconds + 0.5 },
  ]
  for (const claims of edges)
    assert.equal(await statusOf(await proofOf(claims)), 200, JSON.stringify(claims))
})

test('outside the inbox a foreign token is refused for its scope', async () => {
  const proof = await proofOf()
  const responses = [
    await app.get('/routeRestreinte', proof),
    await app.post('/token/renew', undefined, proof),
  ]
  for (const response of responses) {
    assert.equal(refusalIn(response).code, 'FORBIDDEN')
    assert.match(
      response.headers.get('www-authenticate') ?? '',
      /^Bearer error="insufficient_scope"/,
    )
  }
})

test('ids that belong to an issuer are users of their own; plain ids are shared with the application', async () => {
  const [mine] = await app.store.write(putUsers, {
    issuer: second.url,
    at: now(),
    users: [{ newId: newIdLike(1), externalId: 'aB' }],
  })
  const [shared] = await app.store.write(putUsers, {
    issuer: '',
    at: now(),
    users: [{ newId: newIdLike(2), externalId: 'aB' }],
  })
  assert.equal((await userOf(bearer(await second.token({ sub: 'aB' })))).id, mine?.user.id)
  assert.equal((await userOf(await proofOf({ sub: 'aB' }))).id, shared?.user.id)
  assert.notEqual((await userOf(await proofOf({ sub: 'Ab' }))).id, shared?.user.id)
})

test('an unknown user is refused until an application creates the user, if the setting creates none', async () => {
  const proof = bearer(await second.token({ sub: 'later' }))
  assert.equal(await statusOf(proof), 401)
  await app.store.write(putUsers, {
    issuer: second.url,
    at: now(),
    users: [{ newId: newIdLike(3), externalId: 'later' }],
  })
  assert.equal(await statusOf(proof), 200)
})

test('a delivery creates no user of an issuer that is not set up; an issuer with plain ids may be named or left out', async () => {
  const { key } = await app.producerKey(['send', 'users'])
  const send = (recipients: object[]) =>
    app.post('/api/notifications', { recipients, title: 'x' }, bearer(key))
  const misspelt = { externalId: 'named', issuer: `${second.url}/` }
  const refused = await send([misspelt])
  assert.equal(refused.status, 422)
  assert.deepEqual(refused.json().error.details, [
    { field: 'recipients.0', reason: 'names no user, and its issuer is not in CARILLON_ISSUERS' },
  ])
  assert.doesNotMatch(refused.json().error.message, /scope/)
  assert.equal(await app.store.read(findUserByExternalId, misspelt), undefined)
  const sent = await send([
    { externalId: 'named', issuer: first.url },
    { externalId: 'named' },
    misspelt,
  ])
  const [one, other, unknown] = sent.json().data.results
  assert.deepEqual([one, unknown.status], [other, 'unknown_recipient'])
  assert.equal((await app.list(await proofOf({ sub: 'named' }))).unread, 1)
})

test('a disabled user is refused at once, also with a cached token, and after enabling the same token is valid again (T19)', async () => {
  const proof = await proofOf({ sub: 'disabled' })
  const { id: userId } = await userOf(proof)
  using stream = await EventReader.of(app.url, proof)
  await app.store.write(disableUser, { userId, at: now() })
  assert.deepEqual((await stream.next('session-ended')).data, { reason: 'revoked' })
  assert.equal(await statusOf(proof), 401)
  assert.equal(await statusOf(await proofOf({ sub: 'disabled', jti: 'another' })), 401)
  await app.store.write(enableUser, { userId })
  assert.equal(await statusOf(proof), 200)
})

test('a disabled user stays refused after the revocation is gone', async () => {
  const proof = await proofOf({ sub: 'disabled for long', exp: now() / 1000 + 7200 })
  const { id: userId } = await userOf(proof)
  await app.store.write(disableUser, { userId, at: now() })
  app.pass(revocationKeptForMs + 1)
  assert.equal(await statusOf(proof), 401)
})

test('a deleted user is refused at once, the stream ends, and the same token does not bring the user back', async () => {
  const proof = await proofOf({ sub: 'deleted', exp: now() / 1000 + 7200 })
  const { id: userId } = await userOf(proof)
  using stream = await EventReader.of(app.url, proof)
  await app.store.write(deleteUser, { userId, at: now() })
  assert.deepEqual((await stream.next('session-ended')).data, { reason: 'revoked' })
  for (const passMs of [0, 6 * 60_000, revocationKeptForMs]) {
    app.pass(passMs)
    assert.equal(await statusOf(proof), 401)
  }
  assert.equal(
    await app.store.read(findUserByExternalId, { issuer: '', externalId: 'deleted' }),
    undefined,
  )
})

test('a cached token costs no read of users', async () => {
  const proof = await proofOf({ sub: 'cached' })
  await app.list(proof)
  const reads = await countingReads(async () => {
    for (let n = 0; n < 5; n++) await app.list(proof)
  })
  assert.deepEqual(reads, [])
})

test('a stream ends with the reason when the token expires', async () => {
  const proof = await proofOf({ sub: 'ending', exp: now() / 1000 + 30 })
  using stream = await EventReader.of(app.url, proof)
  app.pass(30_000)
  assert.deepEqual((await stream.next('session-ended')).data, { reason: 'expired' })
  await stream.ended()
  assert.equal(await statusOf(proof), 401)
})

test('a sign-out ends no foreign token: only its issuer can', async () => {
  const proof = await proofOf({ sub: 'signing out' })
  await app.list(proof)
  const version = await app.database.version()
  assert.equal((await app.post('/logout', undefined, proof)).status, 204)
  assert.equal(await app.database.version(), version)
  assert.equal(await statusOf(proof), 200)
})

test('an unknown key id reads the keys again, a limited number of times', async () => {
  const rotated: IssuerKey = await newKey('ES256', 'e2')
  first.keys.push(rotated)
  app.pass(60_000)
  const before = first.requested.length
  assert.equal(await statusOf(await proofOf({ sub: 'rotated' }, { key: rotated })), 200)
  assert.deepEqual(first.requested.slice(before), [first.discoveryPath, first.jwksPath])
  const unknown = await newKey('ES256', 'unknown')
  const tokens = await Promise.all(
    Array.from({ length: 50 }, (_, n) => proofOf({}, { key: { ...unknown, kid: `unknown ${n}` } })),
  )
  for (const proof of tokens) assert.equal(await statusOf(proof), 401)
  // Two further attempts, with two requests each.
  assert.equal(first.requested.length, before + 6)
  app.pass(10_000)
  for (const proof of tokens) assert.equal(await statusOf(proof), 401)
  assert.equal(first.requested.length, before + 8)
})

test('a key that the issuer withdraws is refused after 15 minutes at the latest', async () => {
  const proof = await proofOf(
    { sub: 'withdrawn', exp: now() / 1000 + 7200 },
    { key: first.keys[1] as IssuerKey },
  )
  assert.equal(await statusOf(proof), 200)
  const [withdrawn] = first.keys.splice(1, 1)
  app.pass(15 * 60_000)
  assert.equal(await statusOf(proof), 401)
  first.keys.push(withdrawn as IssuerKey)
})

test('a token without a key id is accepted while one key fits, also after that key was replaced, and refused while two do', async () => {
  const another = await newKey('EdDSA', 'd2')
  const published = first.keys.find(({ alg }) => alg === another.alg) ?? assert.fail()
  const without = (key: IssuerKey) =>
    proofOf({ jti: `without ${key.kid}` }, { key, header: { kid: undefined } })
  const at = first.keys.indexOf(published)
  assert.equal(await statusOf(await without(published)), 200)
  const tooEarly = await without(another)
  assert.equal(await statusOf(tooEarly), 401)
  first.keys[at] = another
  app.pass(10 * 60_000)
  assert.equal(await statusOf(await without(another)), 200)
  first.keys[at] = published
  first.keys.push(another)
  app.pass(10 * 60_000)
  assert.equal(await statusOf(await without(published)), 401)
  first.keys.splice(first.keys.indexOf(another), 1)
  app.pass(10 * 60_000)
})

test('forged tokens of one issuer do not delay a token of another', async () => {
  const wrong = { ...(await newKey('EdDSA', 'd1')) }
  const forged = await Promise.all(
    Array.from({ length: 600 }, (_, n) => proofOf({ sub: `forged ${n}` }, { key: wrong })),
  )
  const valid = bearer(await second.token({ sub: 'aB', jti: 'beside a flood' }))
  let refused = 0
  const flood = forged.map(async (proof) => {
    assert.equal(await statusOf(proof), 401)
    refused++
  })
  assert.equal(await statusOf(valid), 200)
  assert.ok(refused < forged.length, 'the valid token waited for all forged ones')
  await Promise.all(flood)
})

test('no request went to any other address than the key set and the discovery document', () => {
  assert.deepEqual(new Set(first.requested), new Set([first.discoveryPath, first.jwksPath]))
  assert.deepEqual(new Set(second.requested), new Set([second.jwksPath]))
})

/** Names of operations on users. */
async function countingReads(work: () => Promise<void>): Promise<string[]> {
  const called: string[] = []
  const counting = (operation: typeof findUser | typeof findUserByExternalId | typeof putUsers) =>
    replaceOperation<never, unknown>(app.store, operation, (_, run) => {
      called.push(operation.name)
      return run()
    })
  const restores = [findUser, findUserByExternalId, putUsers].map(counting)
  await work()
  for (const restore of restores.toReversed()) restore()
  return called
}

function newIdLike(n: number): string {
  return `019b7000-0000-7000-8000-00000000000${n}`
}
