// A token that our own key signs differs from a valid one only in what its name says. mutated-tokens.test.ts has every change of one
// member, of one part and of the signature; here are those of several members, and keys of others.
import assert from 'node:assert/strict'
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { exportJWK } from 'jose'
import { type Claims, encode, openForge } from '../../support/http/forge.ts'
import { startTestService } from '../../support/service.ts'

const app = await startTestService()
const forge = await openForge(app)
const { header } = forge
const ann = await app.user('ann')

/** Forged tokens name it as the source of their key; the service must never connect to it. */
const lure = createServer((_request, response) => response.end('{"keys":[]}'))
let visits = 0
lure.on('connection', () => visits++)
await new Promise<void>((resolve) => lure.listen(0, '127.0.0.1', resolve))
const lureUrl = `http://127.0.0.1:${(lure.address() as AddressInfo).port}/keys`

after(async () => {
  lure.close()
  await app.stop()
})

// The clock is frozen, so that every claim keeps its value in the whole file.
const claims = forge.claims(ann)
const now = claims.iat as number
const good = await forge.token(header, claims)
const [goodHeader = '', goodPayload = '', goodSignature = ''] = good.split('.')

type Corpus = Record<string, string | Promise<string>>
const withHeader = (changes: object) => forge.token({ ...header, ...changes }, claims)
const withClaims = (changes: object) => forge.token(header, { ...claims, ...changes })
function without(name: string, of: Claims): Claims {
  return Object.fromEntries(Object.entries(of).filter(([key]) => key !== name))
}

// Keys of other issuers

const foreign = generateKeyPairSync('ed25519')
const foreignJwk = await exportJWK(foreign.publicKey)
const ourJwk = forge.publicKeySet.keys[0] ?? {}

function signedBy(key: KeyObject, changes: object): string {
  const input = `${encode(JSON.stringify({ ...header, ...changes }))}.${goodPayload}`
  return `${input}.${encode(sign(null, Buffer.from(input), key))}`
}

const keys: Corpus = {
  'kid a path': withHeader({ kid: '../../../../../dev/null' }),
  'kid a URL': withHeader({ kid: lureUrl }),
  'kid of a foreign key': signedBy(foreign.privateKey, { kid: 'foreign' }),
  'jwk of a foreign key': signedBy(foreign.privateKey, { jwk: foreignJwk }),
  'jwk of a foreign key, without kid': signedBy(foreign.privateKey, {
    kid: undefined,
    jwk: foreignJwk,
  }),
  'jwk of ours': withHeader({ jwk: ourJwk }),
  'jku of a foreign key': signedBy(foreign.privateKey, { kid: 'foreign', jku: lureUrl }),
  'jku, signed by us': withHeader({ jku: lureUrl }),
  'x5u of a foreign key': signedBy(foreign.privateKey, { x5u: lureUrl }),
  'x5u, signed by us': withHeader({ x5u: lureUrl }),
  'x5c of a foreign key': signedBy(foreign.privateKey, { x5c: [encode('certificate')] }),
  'x5c, signed by us': withHeader({ x5c: [encode('certificate')] }),
  'x5t, signed by us': withHeader({ x5t: encode('thumbprint') }),
}

const times: Corpus = {
  'exp infinite': forge.token(
    header,
    JSON.stringify(claims).replace(`"exp":${claims.exp}`, '"exp":1e400'),
  ),
  'expired a second ago, with leeway': withClaims({ iat: now - 60, exp: now - 1 }),
  'nbf a text': withClaims({ nbf: String(now) }),
  'life of a year': withClaims({ exp: now + 365 * 86_400 }),
  'life of 15 min and 1 s, half over': withClaims({ iat: now - 450, exp: now + 451 }),
  'auth_time an hour after the sign-in, in an old token': withClaims({
    iat: now - 60,
    auth_time: now + 3600,
  }),
}

const inboxClaims = forge.inboxClaims(ann)
const withInboxClaims = (changes: object) => forge.token(header, { ...inboxClaims, ...changes })
const wrongScopes: Corpus = {
  'scope of two values': withInboxClaims({ scope: 'inbox send' }),
  'scope missing, with ign and a name': withClaims({ ign: 0 }),
  'scope with a name': withInboxClaims({ preferred_username: 'ann' }),
  'scope in a token of a session': withInboxClaims({ from: 'session' }),
  'scope spelled scp': forge.token(header, { ...without('scope', inboxClaims), scp: 'inbox' }),
  'from a session, without gen': forge.token(
    header,
    without('gen', { ...claims, from: 'session' }),
  ),
  'scope with a later auth_time': withInboxClaims({ auth_time: now + 1 }),
}

/** HTTP can carry these texts. */
const fields: Record<string, string> = {
  'a blank inside': `Bearer ${good.replace('.', '. ')}`,
  'a tab inside': `Bearer ${good.replace('.', '\t.')}`,
  'two tokens': `Bearer ${good} ${good}`,
  'two tokens with a comma': `Bearer ${good},${good}`,
  'a second scheme': `Bearer ${good}, Basic YTpi`,
  'the scheme twice': `Bearer Bearer ${good}`,
  quotes: `Bearer "${good}"`,
  'a parameter': `Bearer token="${good}"`,
  'JSON serialisation': `Bearer {"payload":"${goodPayload}","protected":"${goodHeader}","signature":"${goodSignature}"}`,
  'a quote of SQL': "Bearer ' or 1=1 --",
}

async function refusedEverywhere(authorization: string): Promise<string[]> {
  const withToken = { headers: { authorization } }
  const responses = [
    await app.request('/routeRestreinte', withToken),
    await app.request('/api/notifications', withToken),
    await app.request('/api/notifications', { ...withToken, method: 'POST' }),
    await app.request('/token/renew', { ...withToken, method: 'POST' }),
  ]
  return responses.map(
    (response) => `${response.status} ${response.headers.get('www-authenticate')}`,
  )
}
const refused = Array<string>(4).fill('401 Bearer error="invalid_token"')

function isRefused(title: string, corpus: Record<string, string | Promise<string>>): void {
  test(title, async () => {
    const version = await app.database.version()
    for (const [name, authorization] of Object.entries(corpus))
      assert.deepEqual(await refusedEverywhere(await authorization), refused, name)
    assert.equal(await app.database.version(), version, 'something was written')
    assert.equal(visits, 0, 'a key was fetched')
  })
}
const asBearer = (corpus: Corpus) =>
  Object.fromEntries(
    Object.entries(corpus).map(([name, token]) => [
      name,
      Promise.resolve(token).then((it) => `Bearer ${it}`),
    ]),
  )

test('the unforged token is valid, and so are tokens exactly at the limits', async () => {
  const edges = [
    good,
    await withClaims({ iat: now + 60, exp: now + 900 }),
    await withClaims({ iat: now - 899, exp: now + 1 }),
    await withClaims({ nbf: now }),
  ]
  for (const token of edges) {
    const { status } = await app.get('/routeRestreinte', { authorization: `Bearer ${token}` })
    assert.equal(status, 200, token)
  }
})

test('the unforged token of scope inbox is valid', async () => {
  const authorization = `Bearer ${await withInboxClaims({})}`
  assert.equal((await app.get('/api/notifications', { authorization })).status, 200)
})

isRefused('T3: a token cannot bring its own key or name its source', asBearer(keys))
isRefused(
  'T5: a scope has exactly the value and the claims that the service gives it',
  asBearer(wrongScopes),
)
isRefused(
  'T6: a token outside its time, or with a lifetime over 15 minutes, is refused',
  asBearer(times),
)
isRefused('T9: more or less than one token after Bearer is refused', fields)
