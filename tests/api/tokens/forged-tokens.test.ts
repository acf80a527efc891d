// A token that our own key signs differs from a valid one only in what its name says. mutated-tokens.test.ts has every change of one
// member, of one part and of the signature; here are those of several members, keys of others, and spellings.
import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { CompactEncrypt, exportJWK } from 'jose'
import { type Claims, encode, openForge } from '../../support/http/forge.ts'
import { startTestService } from '../../support/service.ts'
import { isSoak } from '../../support/soak.ts'

const app = await startTestService()
const forge = await openForge(app)
const { header, kid } = forge
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
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const foreignJwk = await exportJWK(foreign.publicKey)
const ourJwk = forge.publicKeySet.keys[0] ?? {}

function signedBy(key: KeyObject, changes: object, hash: string | null = null): string {
  const input = `${encode(JSON.stringify({ ...header, ...changes }))}.${goodPayload}`
  return `${input}.${encode(sign(hash, Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }))}`
}

function hmac(secret: string | Buffer, changes: object = {}, hash = 'sha256'): string {
  const input = `${encode(JSON.stringify({ ...header, alg: 'HS256', ...changes }))}.${goodPayload}`
  return `${input}.${createHmac(hash, secret).update(input).digest('base64url')}`
}

const algorithms: Corpus = {
  'alg Ed448': withHeader({ alg: 'Ed448' }),
  'HS256 with an empty secret': hmac(''),
  'RS256 of a foreign key': signedBy(rsa.privateKey, { alg: 'RS256' }, 'sha256'),
  'RS256 that says EdDSA': signedBy(rsa.privateKey, {}, 'sha256'),
  'ES256 of a foreign key': signedBy(curve.privateKey, { alg: 'ES256' }, 'sha256'),
  'ES256 that says EdDSA': signedBy(curve.privateKey, {}, 'sha256'),
}

const keys: Corpus = {
  'kid a path': withHeader({ kid: '../../../../../dev/null' }),
  'kid a path, signed with an empty secret': hmac('', { kid: '/dev/null' }),
  'kid a URL': withHeader({ kid: lureUrl }),
  'kid SQL': withHeader({ kid: "' or 1=1 --" }),
  'kid a command': withHeader({ kid: '|/bin/sleep 1' }),
  'kid of a prototype': withHeader({ kid: '__proto__' }),
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

const headers: Corpus = {
  'crit of something unknown': withHeader({ crit: ['exp'], exp: 1 }),
  'crit empty': withHeader({ crit: [] }),
  'b64 false': forge.signed(
    encode(JSON.stringify({ ...header, b64: false, crit: ['b64'] })),
    goodPayload,
  ),
  'typ as a media type': withHeader({ typ: 'application/at+jwt' }),
  'typ of an ID token': withHeader({ typ: 'id+jwt' }),
  nonce: withHeader({ nonce: 'x' }),
  'header empty': forge.signed('', goodPayload),
  'header no JSON': forge.token('{', claims),
  'nested: a good token as the payload': forge.token({ ...header, cty: 'JWT' }, good),
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

const wrongClaims: Corpus = {
  'sub no id': withClaims({ sub: 'ann' }),
  'sid no id': withClaims({ sid: 'zzzzzzzz-zzzz' }),
  'jti no id': withClaims({ jti: '../1' }),
  'payload a text': forge.token(header, '"ann"'),
  'payload empty': forge.signed(goodHeader, ''),
  'payload not UTF-8': forge.token(
    header,
    Buffer.from(JSON.stringify(claims).replace('"ann"', '"\xff"'), 'latin1'),
  ),
}

/** Unused bits after the last byte are set, which a lenient decoder ignores. */
function otherSpelling(segment: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const last = alphabet[alphabet.indexOf(segment.at(-1) ?? '') + 1] ?? ''
  const other = segment.slice(0, -1) + last
  assert.deepEqual(Buffer.from(other, 'base64url'), Buffer.from(segment, 'base64url'))
  return other
}

/** The last character has unused bits, so that there is another spelling. */
const loose = (text: string) =>
  encode(text.length % 3 === 0 ? text.replace(/"ann"|"at\+jwt"/, '$& ') : text)
const looseHeader = loose(JSON.stringify(header))
const loosePayload = loose(JSON.stringify(claims))
const input = `${goodHeader}.${goodPayload}`

const spellings: Corpus = {
  'signature in another spelling': `${input}.${otherSpelling(goodSignature)}`,
  'header in another spelling': forge.signed(otherSpelling(looseHeader), goodPayload),
  'payload in another spelling': forge.signed(goodHeader, otherSpelling(loosePayload)),
  'signature padded': `${good}==`,
  'payload padded': forge.signed(goodHeader, `${goodPayload}=`),
  'header padded': forge.signed(`${goodHeader}==`, goodPayload),
  'signature in plain base64': `${input}.${Buffer.from(goodSignature, 'base64url').toString('base64')}`,
  'a slash in the signature': `${input}./${goodSignature.slice(1)}`,
  'a plus in the payload': `${goodHeader}.+${goodPayload.slice(1)}.${goodSignature}`,
  'a tilde at the end': `${good}~`,
  'signature without its last character': good.slice(0, -1),
  'signature one letter longer': `${good}A`,
  'signature one byte longer': `${input}.${encode(Buffer.concat([Buffer.from(goodSignature, 'base64url'), Buffer.of(0)]))}`,
  'signature of zeros': `${input}.${encode(Buffer.alloc(64))}`,
  'signature missing': input,
  'signature empty': `${input}.`,
  'signature of another token': `${input}.${(await withClaims({ sub: 'x' })).split('.')[2]}`,
  'payload truncated': `${goodHeader}.${goodPayload.slice(0, -4)}.${goodSignature}`,
  'payload of another user': `${goodHeader}.${encode(JSON.stringify({ ...claims, sub: claims.jti }))}.${goodSignature}`,
  'payload empty, unsigned': `${goodHeader}..${goodSignature}`,
  'header only': goodHeader,
  'dots only': '..',
  'a dot': '.',
  'a dot before': `.${good}`,
  'a dot after': `${good}.`,
  'a fourth segment': `${good}.${goodSignature}`,
  'the signature twice': `${input}.${goodSignature}${goodSignature}`,
  'the token twice': `${good}${good}`,
  'percent-encoded': good.replaceAll('.', '%2e'),
  'JWE of five segments': `${goodHeader}.${goodPayload}.${goodSignature}.${goodPayload}.${goodSignature}`,
  'JWE under our public key': new CompactEncrypt(Buffer.from(JSON.stringify(claims)))
    .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid })
    .encrypt(Buffer.from(String(ourJwk.x), 'base64url')),
  'JSON serialisation, flattened': encode(
    JSON.stringify({ protected: goodHeader, payload: goodPayload, signature: goodSignature }),
  ),
  'an id': ann.id,
  'a word': 'null',
  huge: `${goodHeader}.${'A'.repeat(12_000)}.${goodSignature}`,
  'huge, one segment': 'a'.repeat(12_000),
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

let size = 0
function isRefused(title: string, corpus: Record<string, string | Promise<string>>): void {
  size += Object.keys(corpus).length
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

isRefused(
  'T1: a token cannot choose another algorithm, also with a key of that algorithm',
  asBearer(algorithms),
)
isRefused('T3: a token cannot bring its own key or name its source', asBearer(keys))
isRefused(
  'T4: crit, b64, types other than at+jwt and headers that we do not write are refused',
  asBearer(headers),
)
isRefused('T5: ids have their form, and the payload is an object in UTF-8', asBearer(wrongClaims))
isRefused(
  'T5: a scope has exactly the value and the claims that the service gives it',
  asBearer(wrongScopes),
)
isRefused(
  'T6: a token outside its time, or with a lifetime over 15 minutes, is refused',
  asBearer(times),
)
isRefused('T10: a token has one spelling; others are refused', asBearer(spellings))
isRefused('T9: more or less than one token after Bearer is refused', fields)

test('the corpus holds 60 forged tokens and more', (t) => {
  t.diagnostic(`${size} forged tokens`)
  assert.ok(size >= 60)
})

test('T1: a token with any one bit changed is refused', async () => {
  const segments = [goodHeader, goodPayload, goodSignature].map((part) =>
    Buffer.from(part, 'base64url'),
  )
  const bit = fc.nat({ max: 2 }).chain((segment) => {
    const bits = (segments[segment]?.length ?? 0) * 8
    return fc.record({ segment: fc.constant(segment), at: fc.nat({ max: bits - 1 }) })
  })
  await fc.assert(
    fc.asyncProperty(bit, async ({ segment, at }) => {
      const flipped = segments.map((bytes) => Buffer.from(bytes))
      const target = flipped[segment] as Buffer
      target.writeUInt8(target.readUInt8(at >> 3) ^ (1 << (at & 7)), at >> 3)
      const token = flipped.map(encode).join('.')
      const response = await app.get('/routeRestreinte', { authorization: `Bearer ${token}` })
      assert.equal(response.status, 401)
      assert.equal(response.headers.get('www-authenticate'), 'Bearer error="invalid_token"')
    }),
    { numRuns: isSoak ? 300 : 100 },
  )
})

test('T10: a token that is too long for the header fields is refused with them', async () => {
  const response = await app.raw(
    `GET /routeRestreinte HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${'a'.repeat(20_000)}\r\n\r\n`,
  )
  assert.match(response, /^HTTP\/1\.1 431 /)
})

test('T10: a control character in the header field makes the request malformed HTTP', async () => {
  for (const control of ['\0', '\x01', '\x7f', '\n']) {
    const response = await app.raw(
      `GET /routeRestreinte HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${good}${control}x\r\n\r\n`,
    )
    assert.match(response, /^HTTP\/1\.1 40[01] /, JSON.stringify(control))
  }
})

test('the foreign keys of the corpus make valid signatures, so no such token is refused for a broken signature', () => {
  const signers = [
    [foreign, null],
    [rsa, 'sha256'],
    [curve, 'sha256'],
  ] as const
  for (const [{ privateKey, publicKey }, hash] of signers) {
    const [head, payload, signature = ''] = signedBy(privateKey, {}, hash).split('.')
    const key = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const
    assert.ok(
      verify(hash, Buffer.from(`${head}.${payload}`), key, Buffer.from(signature, 'base64url')),
    )
  }
})
