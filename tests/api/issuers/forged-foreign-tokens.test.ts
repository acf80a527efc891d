// A token that the issuer's own key signs differs from a valid one only in what its name says. The
// service connects to the configured key sets only.
import assert from 'node:assert/strict'
import { createHmac, createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { after, test } from 'node:test'
import { UnsecuredJWT } from 'jose'
import { encode } from '../../support/http/forge.ts'
import { type IssuerKey, newKey, startIssuer } from '../../support/network/issuer.ts'
import { startTestService, type TestService } from '../../support/service.ts'

const now = () => app.now()
const issuer = await startIssuer(now)
const other = await startIssuer(now)
/** Forged tokens name it as the source of their key. */
const lure = await startIssuer(now)
const app: TestService = await startTestService({
  env: {
    CARILLON_ISSUERS: JSON.stringify([
      {
        issuer: issuer.url,
        audience: 'bell',
        algorithms: ['RS256', 'ES256'],
        jwks: issuer.jwks,
        createUsers: true,
        ids: 'plain',
      },
      {
        issuer: other.url,
        audience: 'bell',
        algorithms: ['ES256'],
        jwks: other.jwks,
        createUsers: true,
        ids: 'plain',
      },
    ]),
  },
})
after(() => Promise.all([app.stop(), issuer.stop(), other.stop(), lure.stop()]))

type Corpus = Record<string, string | Promise<string>>
const [rsa, curve, edwards] = issuer.keys as [IssuerKey, IssuerKey, IssuerKey]
const claims = issuer.claims()
const seconds = claims.iat as number
const stranger = await newKey('RS256', 'r1')
const withClaims = (changes: object) => issuer.token({ ...changes })
const withHeader = (header: object) =>
  signed(rsa.privateKey, { alg: 'RS256', kid: 'r1', typ: 'JWT', ...header })

/** Texts, valid JSON or not; an object is written as JSON. */
async function signed(
  key: CryptoKey,
  header: object | string,
  payload: object | string | Buffer = claims,
): Promise<string> {
  const text = (part: object | string | Buffer) =>
    typeof part === 'string' || part instanceof Buffer ? part : JSON.stringify(part)
  const input = `${encode(text(header))}.${encode(text(payload))}`
  const signature = await crypto.subtle.sign('RSASSA-PKCS1-v1_5', key, Buffer.from(input))
  return `${input}.${encode(Buffer.from(signature))}`
}
const withPayload = (payload: object | string | Buffer) =>
  signed(rsa.privateKey, { alg: 'RS256', kid: 'r1' }, payload)
const json = JSON.stringify(claims)

const publicKey = createPublicKey({ key: rsa.jwk as never, format: 'jwk' })
function hmac(secret: string | Buffer, header: object = {}): string {
  const input = `${encode(JSON.stringify({ alg: 'HS256', kid: 'r1', ...header }))}.${encode(json)}`
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`
}

function rsaOf1024Bits(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
  const input = `${encode(JSON.stringify({ alg: 'RS256', kid: 'r1' }))}.${encode(json)}`
  return `${input}.${encode(sign('sha256', Buffer.from(input), privateKey))}`
}

const good = await issuer.token()
const [goodHeader = '', goodPayload = '', goodSignature = ''] = good.split('.')

const algorithms: Corpus = {
  'alg none, without signature': new UnsecuredJWT(claims).encode(),
  'alg none, with a good signature': withHeader({ alg: 'none' }),
  'alg missing': withHeader({ alg: undefined }),
  'HS256 with the public key as the secret, PEM': hmac(
    publicKey.export({ type: 'spki', format: 'pem' }),
  ),
  'HS256 that says RS256': hmac(publicKey.export({ type: 'spki', format: 'pem' }), {
    alg: 'RS256',
  }),
  'PS256, which is not in the list': withHeader({ alg: 'PS256' }),
  'EdDSA, which this issuer does not use, with its own key': issuer.token({}, { key: edwards }),
  'RS256 of another issuer that uses ES256 only': other.token(
    {},
    { key: other.keys[0] as IssuerKey },
  ),
  'ES256 under the key id of an RSA key': issuer.token({}, { key: { ...curve, kid: 'r1' } }),
}

const keys: Corpus = {
  'another key under a known key id': issuer.token({}, { key: stranger }),
  'a key of 1024 bits under a known key id': rsaOf1024Bits(),
  'the key of another issuer': issuer.token({}, { key: other.keys[1] as IssuerKey }),
  'a token of another issuer that names this one': other.token(
    { iss: issuer.url },
    { key: other.keys[1] as IssuerKey },
  ),
  'a token of this issuer that names another one': issuer.token({ iss: other.url }, { key: curve }),
  'a token of an issuer that is not configured': lure.token(),
  'kid unknown': withHeader({ kid: 'unknown' }),
  'kid a path, signed with an empty secret': hmac('', { kid: '/dev/null' }),
  'kid a URL': withHeader({ kid: lure.jwks }),
  'kid of 300 characters': withHeader({ kid: 'r'.repeat(300) }),
  'jwk of a stranger, signed by the stranger': signed(stranger.privateKey, {
    alg: 'RS256',
    jwk: stranger.jwk,
  }),
  'jwk of the issuer, signed by the issuer': withHeader({ jwk: rsa.jwk }),
  'jku, signed by the issuer': withHeader({ jku: lure.jwks }),
  'jku of a stranger': signed(stranger.privateKey, {
    alg: 'RS256',
    kid: 'stranger',
    jku: lure.jwks,
  }),
  'x5u, signed by the issuer': withHeader({ x5u: lure.jwks }),
  'x5c, signed by the issuer': withHeader({ x5c: [encode('certificate')] }),
}

const headers: Corpus = {
  'crit of something unknown': withHeader({ crit: ['exp'], exp: 1 }),
  'b64 false': withHeader({ b64: false, crit: ['b64'] }),
  'typ of a logout token': withHeader({ typ: 'logout+jwt' }),
  'typ a list': withHeader({ typ: ['JWT'] }),
  'alg twice, the good one last': signed(rsa.privateKey, '{"alg":"none","alg":"RS256","kid":"r1"}'),
  'alg twice, one of them escaped': signed(
    rsa.privateKey,
    '{"\\u0061lg":"none","kid":"r1","alg":"RS256"}',
  ),
  'header a list': signed(rsa.privateKey, '[{"alg":"RS256","kid":"r1"}]'),
}

const times: Corpus = {
  'exp missing': withPayload({ ...claims, exp: undefined }),
  'exp a text': withClaims({ exp: String(seconds + 60) }),
  'exp infinite': withPayload(json.replace(/"exp":\d+/, '"exp":1e999')),
  'expired this moment': withClaims({ exp: seconds }),
  'a life of a day and a second': withClaims({ exp: seconds + 86_401 }),
  'a life of a year, without iat': withPayload({
    ...claims,
    iat: undefined,
    exp: seconds + 365 * 86_400,
  }),
  'nbf 61 s ahead': withClaims({ nbf: seconds + 61 }),
  'iat 61 s ahead': withClaims({ iat: seconds + 61 }),
}

const wrongClaims: Corpus = {
  'iss missing': withPayload({ ...claims, iss: undefined }),
  'iss with a slash': withClaims({ iss: `${issuer.url}/` }),
  'iss of the service itself': withClaims({ iss: app.url }),
  'aud missing': withPayload({ ...claims, aud: undefined }),
  'aud of another application': withClaims({ aud: 'shop' }),
  'aud a list without this service': withClaims({ aud: ['shop', 'account'] }),
  'aud a list with something else than texts': withClaims({ aud: ['bell', { bell: true }] }),
  'sub missing': withPayload({ ...claims, sub: undefined }),
  'sub a number': withClaims({ sub: 42 }),
  'sub with a control character': withClaims({ sub: 'ann\u0000' }),
  'sub two dots': withClaims({ sub: '..' }),
  'sub of 256 characters': withClaims({ sub: 'a'.repeat(256) }),
  'sub with half a surrogate pair': withPayload(json.replace('"ann"', '"\\ud800"')),
  'events of a logout token': withClaims({
    events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
  }),
  'cnf: bound to a key that the request does not prove': withClaims({ cnf: { jkt: 'x' } }),
  'sub twice, the valid one last': withPayload(json.replace('{', '{"sub":"eve",')),
  'sub twice, one of them escaped': withPayload(json.replace('{', '{"\\u0073ub":"eve",')),
  'a name twice in an inner object': withPayload(json.replace('{', '{"more":[{"a":1,"a":2}],')),
  'payload a list': withPayload([claims]),
  'payload with a byte order mark': withPayload(`\ufeff${json}`),
  'payload not UTF-8': withPayload(Buffer.from(json.replace('"ann"', '"\xff"'), 'latin1')),
}

const spellings: Corpus = {
  'signature missing': `${goodHeader}.${goodPayload}.`,
  'signature of another token': `${goodHeader}.${goodPayload}.${(await withClaims({ sub: 'eve' })).split('.')[2]}`,
  'payload of another user': `${goodHeader}.${encode(json.replace('"ann"', '"eve"'))}.${goodSignature}`,
  // The last character has four bits that no byte has.
  'signature in another spelling':
    good.slice(0, -1) + String.fromCharCode(good.charCodeAt(good.length - 1) + 1),
  'JSON serialisation': encode(
    JSON.stringify({ protected: goodHeader, payload: goodPayload, signature: goodSignature }),
  ),
  'JWE of five segments': `${good}.${goodPayload}.${goodSignature}`,
  'longer than 8,192 characters': withClaims({ more: 'a'.repeat(8_192) }),
}

function isRefused(title: string, corpus: Corpus): void {
  test(title, async () => {
    const version = await app.database.version()
    for (const [name, token] of Object.entries(corpus)) {
      const authorization = `Bearer ${await token}`
      for (const path of ['/api/notifications', '/api/me', '/api/notifications/stream']) {
        const response = await app.get(path, { authorization })
        const seen = [response.status, response.headers.get('www-authenticate')]
        assert.deepEqual(seen, [401, 'Bearer error="invalid_token"'], `${name}: ${response.text}`)
      }
    }
    assert.equal(await app.database.version(), version, 'something was written')
  })
}

test('the unforged token is valid, and so is one with blanks, escapes and claims that are not read', async () => {
  const spaced = withPayload(
    JSON.stringify({ ...claims, name: 'ann', roles: ['a', { a: 'a' }] }, null, 1).replace(
      '"ann"',
      '"\\u0061nn"',
    ),
  )
  for (const token of [good, await spaced, await withHeader({ x5t: 'thumbprint', nonce: 'x' })])
    assert.equal(
      (await app.get('/api/notifications', { authorization: `Bearer ${token}` })).status,
      200,
      token,
    )
})

isRefused(
  'a foreign token cannot choose an algorithm that its issuer does not use (T15)',
  algorithms,
)
isRefused('a foreign token is accepted with a published key of its own issuer only (T15)', keys)
isRefused('extensions, other kinds of tokens and repeated names in the header are refused', headers)
isRefused('a foreign token outside its time, or with a lifetime over a day, is refused', times)
isRefused('issuer, audience and user have to be exactly those of the setting (T15)', wrongClaims)
isRefused('other spellings, other forms and other signatures are refused', spellings)

test('no forged token causes a request to another address than the key sets, and only a few to those (T15)', () => {
  assert.deepEqual(lure.requested, [])
  for (const { requested, jwksPath } of [issuer, other]) {
    assert.deepEqual([...new Set(requested)], [jwksPath])
    assert.ok(requested.length <= 3, `${requested.length} requests while the clock stood still`)
  }
})
