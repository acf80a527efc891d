// An issuer is away, or lies about its keys: 503 for its own tokens, and one line of the log a
// minute.
import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { after, test } from 'node:test'
import { pino } from 'pino'
import { readKeySet } from '../../../server/issuers/key-set.ts'
import { findUserByExternalId } from '../../../server/users/users.store.ts'
import { refusalIn } from '../../support/http/envelope.ts'
import { newKey, startIssuer, type TestIssuer } from '../../support/network/issuer.ts'
import { type Proof, startTestService, type TestService } from '../../support/service.ts'

const now = () => app.now()
const good = await startIssuer(now)
const bad = await startIssuer(now)
const lines: { event: string; issuer: string; reason: string }[] = []
const app: TestService = await startTestService({
  log: pino({ base: null }, { write: (line: string) => lines.push(JSON.parse(line)) }),
  env: {
    CARILLON_ISSUERS: JSON.stringify(
      [good, bad].map(({ url }, at) => ({
        issuer: url,
        origins: at === 1 ? [good.url] : [],
        audience: 'bell',
        algorithms: ['RS256', 'EdDSA'],
        createUsers: true,
      })),
    ),
  },
})
after(() => Promise.all([app.stop(), good.stop(), bad.stop()]))

const proofOf = async (issuer: TestIssuer, sub: string): Promise<Proof> => ({
  authorization: `Bearer ${await issuer.token({ sub, exp: now() / 1000 + 7200 })}`,
})
const statusOf = async (proof: Proof) => (await app.get('/api/notifications', proof)).status
const failures = () => lines.filter(({ event }) => event === 'issuer-failed')

const unavailable: RequestListener = (_, response) => response.writeHead(500).end()

test('an unreachable issuer is 503 for its own tokens alone, and tokens whose keys are cached stay valid (T16)', async () => {
  const known = await proofOf(bad, 'ann')
  const cached = await proofOf(good, 'ann')
  assert.deepEqual([await statusOf(known), await statusOf(cached)], [200, 200])
  bad.responses.set(bad.discoveryPath, unavailable)
  app.pass(11 * 60_000)
  const unknownKey = await bad.token({}, { key: await newKey('RS256', 'after the failure') })
  const refused = await app.get('/api/notifications', { authorization: `Bearer ${unknownKey}` })
  const { code, message } = refusalIn(refused)
  assert.equal(code, 'UNAVAILABLE')
  assert.match(
    message,
    /^The keys of the issuer of this token cannot be read now\. Try again in a moment/,
  )
  assert.equal(refused.headers.get('retry-after'), '10')
  const others = [known, cached, await proofOf(bad, 'another'), await proofOf(good, 'another')]
  for (const proof of others) assert.equal(await statusOf(proof), 200)
  const session = await app.signIn(await app.user(), 'stateful')
  assert.equal(await statusOf(session), 200)
})

test('without cached keys every token of that issuer is 503, with a limited number of requests, until it is back', async () => {
  await app.restart()
  const requested = () => bad.requested.length
  const from = requested()
  for (let n = 0; n < 20; n++) assert.equal(await statusOf(await proofOf(bad, `${n}`)), 503)
  assert.ok(requested() - from <= 3, `${requested() - from} requests`)
  assert.equal(await statusOf(await proofOf(good, 'ann')), 200)
  bad.responses.clear()
  app.pass(10_000)
  assert.equal(await statusOf(await proofOf(bad, 'ann')), 200)
})

test('keys that could not be read again for a day are no longer used, and are again once the issuer is back', async () => {
  const proof = async () => {
    const iat = now() / 1000
    return { authorization: `Bearer ${await bad.token({ iat, exp: iat + 60 })}` }
  }
  assert.equal(await statusOf(await proof()), 200)
  bad.responses.set(bad.discoveryPath, unavailable)
  app.pass(23 * 3_600_000)
  assert.equal(await statusOf(await proof()), 200)
  app.pass(3_600_000)
  assert.equal(await statusOf(await proof()), 503)
  bad.responses.clear()
  app.pass(10_000)
  assert.equal(await statusOf(await proof()), 200)
})

test('a failing issuer is one line of the log a minute, with the reason, whatever clients send', async () => {
  bad.responses.set(bad.discoveryPath, unavailable)
  lines.length = 0
  await app.restart()
  for (let n = 0; n < 20; n++) {
    app.pass(5_000)
    await statusOf(await proofOf(bad, `${n}`))
  }
  assert.equal(failures().length, 2, JSON.stringify(failures()))
  assert.equal(failures()[0]?.issuer, bad.url)
  assert.match(
    failures()[0]?.reason ?? '',
    /openid-configuration responds with 500 instead of 200\. Check the address/,
  )
  assert.deepEqual(
    lines.filter(({ event }) => ['failure', 'failure-repeated', 'overload'].includes(event)),
    [],
  )
  bad.responses.clear()
})

const stranger = await newKey('RS256', 's1')
const edwards = await newKey('EdDSA', 'd9')
const json =
  (body: unknown): RequestListener =>
  (_, response) =>
    response.end(JSON.stringify(body))
const document = (changes: object) => json({ issuer: bad.url, jwks_uri: bad.jwks, ...changes })
const keySet = (...keys: object[]) => json({ keys })
const { discoveryPath, jwksPath } = bad

/** With the path at which the issuer lies, and what the log says. */
const lies: Record<string, [string, RequestListener, RegExp]> = {
  'another issuer in the discovery document': [
    discoveryPath,
    document({ issuer: 'https://evil.example' }),
    /names the issuer "https:\/\/evil\.example" instead of/,
  ],
  'a key set by plain http on another machine': [
    discoveryPath,
    document({ jwks_uri: 'http://192.0.2.1/keys' }),
    /has "http:\/\/192\.0\.2\.1\/keys" as jwks_uri, which is no https/,
  ],
  'a key set on an origin that the setting does not name': [
    discoveryPath,
    document({ jwks_uri: 'https://keys.example.org/keys' }),
    /names a key set on https:\/\/keys\.example\.org, .* add "origins": \["https:\/\/keys\.example\.org"\] to the entry/,
  ],
  'a redirect of the discovery document': [
    discoveryPath,
    (_, response) => response.writeHead(302, { location: good.url }).end(),
    /redirects to ".*", and redirects are not followed/,
  ],
  'a redirect of the key set': [
    jwksPath,
    (_, response) => response.writeHead(307, { location: good.jwks }).end(),
    /redirects to ".*", and redirects are not followed/,
  ],
  'a page in place of the key set': [
    jwksPath,
    (_, response) => response.end('<html>'),
    /sends no JSON object, but "<html>"/,
  ],
  'more than 100 keys': [
    jwksPath,
    keySet(...Array.from({ length: 101 }, () => stranger.jwk)),
    /at most 100 objects/,
  ],
  '10 MB in place of the key set': [
    jwksPath,
    (_, response) => response.end(JSON.stringify({ keys: [], more: 'x'.repeat(10_000_000) })),
    /sends more than 256 KiB/,
  ],
  'a private key': [
    jwksPath,
    keySet(stranger.jwk, { ...stranger.jwk, d: 'AQAB' }),
    /publishes a private or symmetric key/,
  ],
  'keys of another algorithm only': [
    jwksPath,
    keySet({ ...stranger.jwk, alg: 'RS512' }),
    /has no key for RS256, EdDSA/,
  ],
  'a key that is too short': [
    jwksPath,
    keySet({ ...stranger.jwk, n: stranger.jwk.n?.slice(0, 171) }),
    /of \d+ bits/,
  ],
  'a key with which everyone can sign': [
    jwksPath,
    keySet({ ...stranger.jwk, e: 'AAE' }),
    /"s1", with the exponent 1/,
  ],
  'a key that is broken': [
    jwksPath,
    keySet({ ...edwards.jwk, x: 'AQAB' }),
    /has a key, "d9", that cannot be read as one of EdDSA/,
  ],
}

test('each lie of an issuer is 503 with its reason in the log, and creates no user (T16)', async () => {
  bad.responses.set(bad.discoveryPath, unavailable)
  await app.restart()
  for (const [name, [path, response, reason]] of Object.entries(lies)) {
    bad.responses.clear()
    bad.responses.set(path, response)
    lines.length = 0
    app.pass(60_000)
    assert.equal(await statusOf(await proofOf(bad, name)), 503, name)
    assert.match(failures()[0]?.reason ?? '', reason, name)
    assert.equal(
      await app.store.read(findUserByExternalId, { issuer: bad.url, externalId: name }),
      undefined,
    )
  }
  bad.responses.clear()
})

test('a request to an issuer that sends no response ends after 5 seconds', async () => {
  bad.responses.set(jwksPath, () => {})
  const issuer = {
    issuer: bad.url,
    audiences: ['bell'],
    algorithms: ['RS256'] as const,
    jwks: bad.jwks,
    origins: [],
  }
  const read = readKeySet({
    ...issuer,
    claim: 'sub',
    ownIds: false,
    createUsers: false,
    application: '',
  })
  await assert.rejects(read, /cannot be reached: no response within 5 s/)
  bad.responses.clear()
})

test('a key set on an origin of the setting is accepted, and so are keys for other purposes', async () => {
  bad.responses.set(discoveryPath, document({ jwks_uri: good.jwks }))
  await app.restart()
  app.pass(60_000)
  const token = await bad.token({}, { key: good.keys[0] ?? assert.fail() })
  assert.equal(await statusOf({ authorization: `Bearer ${token}` }), 200)
  bad.responses.set(discoveryPath, document({}))
  const { use: _, ...encrypts } = { ...stranger.jwk, key_ops: ['encrypt'] }
  bad.responses.set(
    jwksPath,
    keySet({ kty: 'EC', crv: 'P-521' }, { kty: 'new' }, encrypts, bad.keys[0]?.jwk ?? {}),
  )
  await app.restart()
  assert.equal(await statusOf(await proofOf(bad, 'ann')), 200)
})
