// Every mutation of each member (tests/support/http/token-mutations.ts) is refused, even if our own
// key signs it, or `staysValid` says why we could have issued it; that is then tried, too.
import assert from 'node:assert/strict'
import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { after, test } from 'node:test'
import { endOtherSignIns } from '../../../server/sessions/sign-ins.store.ts'
import { encode, openForge } from '../../support/http/forge.ts'
import { type Members, mutationsOf, mutationsOfText } from '../../support/http/token-mutations.ts'
import { untilSo } from '../../support/processes/nodes.ts'
import {
  type HttpResponse,
  type Proof,
  startTestService,
  type TestUser,
} from '../../support/service.ts'
import { soakTest } from '../../support/soak.ts'

const app = await startTestService()
after(() => app.stop())
const forge = await openForge(app)
const minute = 60_000

type Kind = { token: string; header: Members; claims: Members; routes: readonly string[] }

const textIn = ({ authorization = '' }: Proof) => authorization.slice('Bearer '.length)
const inResponse = ({ status, text, json }: HttpResponse): string => {
  assert.ok(status === 200 || status === 201, text)
  return json().token ?? json().data.token
}
function kindOf(token: string, routes: readonly string[]): Kind {
  const [header, claims] = token.split('.').map((part) => Buffer.from(part, 'base64url').toString())
  return { token, header: JSON.parse(header ?? ''), claims: JSON.parse(claims ?? ''), routes }
}

/** First, and other routes that read it. */
const ofSignIn = ['GET /routeRestreinte', 'GET /api/notifications', 'POST /token/renew']
const ofSession = ['GET /routeRestreinte', 'GET /api/notifications', 'POST /api/me/token']
const ofInbox = ['GET /api/notifications', 'GET /api/me']

/** The token before the confirmation was presented, which the audit log records once. */
async function confirmedToken(user: TestUser): Promise<string> {
  const first = await app.signIn(user, 'stateless')
  app.pass(minute)
  const token = inResponse(await app.post('/api/me/confirm', { password: user.password }, first))
  const fields: [string, string][] = Object.entries(first)
  assert.equal((await app.exchange('/routeRestreinte', { fields })).status, 401)
  const proof = { authorization: `Bearer ${token}` }
  await untilSo(async () =>
    (await app.get('/api/me/activity', proof)).text.includes('old-token-presented'),
  )
  return token
}

async function makeKinds(): Promise<Record<string, Kind>> {
  const ann = await app.user('ann')
  const signIn = await app.signIn(ann, 'stateless')
  const confirmed = await confirmedToken(ann)
  const session = await app.signIn(ann, 'stateful')
  const bob = await app.user('bob')
  const spared = await app.signIn(bob, 'stateless')
  const { sid, gen } = kindOf(textIn(spared), []).claims
  const end = { at: app.now() }
  const proof = {
    userId: bob.id,
    signInId: sid as string,
    token: { generation: gen as number, signInGeneration: 0 },
  }
  assert.equal(await app.store.write(endOtherSignIns, { userId: bob.id, proof, ...end }), 'done')
  app.pass(2 * minute)
  return {
    'a sign-in': kindOf(textIn(signIn), ofSignIn),
    'a renewed sign-in': kindOf(
      inResponse(await app.post('/token/renew', undefined, signIn)),
      ofSignIn,
    ),
    'a confirmed sign-in': kindOf(confirmed, ofSignIn),
    'a sign-in spared by a change': kindOf(textIn(spared), ofSignIn),
    'a session': kindOf(inResponse(await app.post('/api/me/token', undefined, session)), ofSession),
    'scope inbox': kindOf(textIn(await app.issueToken(ann)), ofInbox),
  }
}
const kinds = await makeKinds()
const seconds = Math.floor(app.now() / 1000)

/**
 * After these mutations it is another token that we could have issued. The reason, the mutations,
 * and the kinds that it does not hold for.
 */
const staysValid: readonly (readonly [reason: string, what: RegExp, except?: RegExp])[] = [
  [
    'no revocation is newer than a higher generation',
    /^((gen|ign|sgn) one more|sgn in milliseconds)$/,
  ],
  [
    'the name is displayed and decides nothing',
    /^preferred_username (in upper|longer|shorter|other$)/,
  ],
  ['it is the token of another user', /^sub other$/],
  ['it is the token of another sign-in', /^sid other$/, /spared/],
  ['it is another token', /^jti other$/],
  ['it ends a second earlier', /^exp one less$/],
  ['it was issued a second later', /^iat one more$/],
  ['the user confirmed the sign-in a second later', /^auth_time one more$/, /inbox/],
  ['the user confirmed the sign-in a second earlier', /^auth_time one less$/, /^(?!a confirmed)/],
  ['it is the token of a sign-in, and not of a session', /^from (missing|renamed)/],
  // RFC 7519, section 4: claims that are not understood are ignored, so that nodes of two versions read the tokens of each other.
  ['no reader knows this claim', /^(crit|b64|jwk|jku|x5u|x5c|cty|zip|enc|__proto__) added$/],
]
function reasonFor(kind: string, what: string): string | undefined {
  return staysValid.find(([, pattern, except]) => pattern.test(what) && !except?.test(kind))?.[0]
}

const foreign = generateKeyPairSync('ed25519')
const ourJwk = forge.publicKeySet.keys[0] ?? {}
const ourPublicKey = createPublicKey({ key: ourJwk as never, format: 'jwk' })

function ask(route: string, token: string): Promise<HttpResponse> {
  const [method = '', path = ''] = route.split(' ')
  return app.request(path, { method, headers: { authorization: `Bearer ${token}` } })
}

/** Every route with SOAK=1, otherwise in turns, since all read tokens alike. */
async function accepted(
  routes: readonly string[],
  tokens: Readonly<Record<string, string>>,
): Promise<string[]> {
  const found: string[] = []
  let turn = 0
  const check = async ([what, token]: [string, string]) => {
    const tried =
      process.env.SOAK === undefined ? [routes[turn++ % routes.length] as string] : routes
    for (const route of tried) {
      const { status, headers } = await ask(route, token)
      const challenge = headers.get('www-authenticate')
      if (status !== 401 || challenge !== 'Bearer error="invalid_token"')
        found.push(`${what}: ${route} ${status}`)
    }
  }
  const entries = Object.entries(tokens)
  while (entries.length > 0) await Promise.all(entries.splice(0, 16).map(check))
  return found
}

/** Neither the database nor the mutated token changes. */
async function refusesAll(
  { token, routes }: Kind,
  tokens: Readonly<Record<string, string>>,
): Promise<void> {
  assert.equal(Object.values(tokens).includes(token), false, 'one of them is the token itself')
  const version = await app.database.version()
  assert.deepEqual(await accepted(routes, tokens), [])
  assert.equal(await app.database.version(), version, 'something was written')
  assert.equal((await ask(routes[0] as string, token)).status, 200)
}

/** The two encoded parts that are signed. */
function mutatedInputs({ header, claims }: Kind): Record<string, string> {
  const [head, payload] = [JSON.stringify(header), JSON.stringify(claims)].map(encode)
  const ofHeader = mutationsOf(header).map(({ what, json }) => [
    `header: ${what}`,
    `${encode(json)}.${payload}`,
  ])
  const ofClaims = mutationsOf(claims).map(({ what, json }) => [what, `${head}.${encode(json)}`])
  return Object.fromEntries([...ofHeader, ...ofClaims])
}

async function signedByUs(
  inputs: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const signed = Object.entries(inputs).map(async ([what, input]) => {
    const [header = '', payload = ''] = input.split('.')
    return [what, await forge.signed(header, payload)]
  })
  return Object.fromEntries(await Promise.all(signed))
}

function signedWith(
  inputs: Readonly<Record<string, string>>,
  signature: (input: string) => string,
) {
  return Object.fromEntries(
    Object.entries(inputs).map(([what, input]) => [what, `${input}.${signature(input)}`]),
  )
}

let refused = 0
let valid = 0

for (const [kind, one] of Object.entries(kinds)) {
  const { token, header, claims, routes } = one
  const inputs = mutatedInputs(one)
  const [headPart, payloadPart, signature = ''] = token.split('.')
  const input = `${headPart}.${payloadPart}`

  // The signature is checked before the claims, so one kind stands for all.
  const withoutOurKey = kind === 'a sign-in' ? test : soakTest

  test(`the token of ${kind} is accepted, and signing its parts again gives the same token`, async () => {
    assert.equal((await ask(routes[0] as string, token)).status, 200)
    assert.equal(await forge.token(header, claims), token)
  })

  test(`T1, T4, T5, T10: no mutation of a member of the token of ${kind} is accepted, even if our key signs it`, async () => {
    const signed = Object.entries(await signedByUs(inputs))
    const wrong = signed.filter(([what]) => reasonFor(kind, what) === undefined)
    refused += wrong.length
    valid += signed.length - wrong.length
    await refusesAll(one, Object.fromEntries(wrong))
    for (const [what, text] of signed)
      if (reasonFor(kind, what) !== undefined)
        assert.equal(
          (await ask(routes[0] as string, text)).status,
          200,
          `${what}: it is refused, so it needs no reason`,
        )
  })

  test(`T6: a time at which the token of ${kind} is not valid is refused, even if our key signs it`, async () => {
    const { sid, iat, exp } = claims as Record<string, number>
    const signedInAt = Math.floor(
      Number.parseInt(String(sid).replace('-', '').slice(0, 12), 16) / 1000,
    )
    const times = {
      'exp now': { exp: seconds },
      'exp a second ago': { exp: seconds - 1 },
      'exp a second beyond the longest life': { exp: (iat as number) + 901 },
      'iat beyond the leeway': { iat: seconds + 61, exp: seconds + 120 },
      'nbf ahead': { nbf: seconds + 1 },
      'auth_time before the sign-in': { auth_time: signedInAt - 1 },
      'auth_time beyond the leeway': { auth_time: (iat as number) + 61 },
    }
    assert.equal(exp, (iat as number) + 900)
    const made = Object.entries(times).map(async ([what, changes]) => [
      what,
      await forge.token(header, { ...claims, ...changes }),
    ])
    refused += made.length
    await refusesAll(one, Object.fromEntries(await Promise.all(made)))
  })

  withoutOurKey(
    `T1: without our key no mutation of the token of ${kind} is accepted, also none that we could have issued`,
    async () => {
      const byForeign = (text: string) => encode(sign(null, Buffer.from(text), foreign.privateKey))
      const tokens = {
        ...signedWith(inputs, () => signature),
        ...Object.fromEntries(
          Object.entries(signedWith({ ...inputs, unchanged: input }, byForeign)).map(
            ([what, text]) => [`foreign key: ${what}`, text],
          ),
        ),
        ...mutationsOfText(token),
      }
      refused += Object.keys(tokens).length
      await refusesAll(one, tokens)
    },
  )

  withoutOurKey(
    `T1: the token of ${kind} is refused with alg none, and with an HMAC under our public key`,
    async () => {
      const tokens = Object.fromEntries([...unsigned(one), ...hmacs(one)])
      refused += Object.keys(tokens).length
      await refusesAll(one, tokens)
    },
  )

  test(`T1: the parts of the token of ${kind} are not those of another valid token`, async () => {
    const swapped = Object.entries(kinds).flatMap(([name, { token: other }]) => {
      const [, otherPayload, otherSignature] = other.split('.')
      if (name === kind) return []
      return [
        [`payload of ${name}`, `${headPart}.${otherPayload}.${signature}`],
        [`signature of ${name}`, `${input}.${otherSignature}`],
      ]
    })
    refused += swapped.length
    await refusesAll(one, Object.fromEntries(swapped))
  })
}

function unsigned({ header, token }: Kind): [string, string][] {
  const [, payload, signature] = token.split('.')
  return ['none', 'None', 'NONE', 'nOnE', ''].flatMap((alg): [string, string][] => {
    const input = `${encode(JSON.stringify({ ...header, alg }))}.${payload}`
    return [
      [`alg "${alg}", without a signature`, `${input}.`],
      [`alg "${alg}", with that of the token`, `${input}.${signature}`],
    ]
  })
}

function hmacs({ header, token }: Kind): [string, string][] {
  const pem = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' })
  const secrets = {
    raw: Buffer.from(String(ourJwk.x), 'base64url'),
    base64url: String(ourJwk.x),
    JWK: JSON.stringify(ourJwk),
    PEM: pem(ourPublicKey),
    DER: ourPublicKey.export({ type: 'spki', format: 'der' }),
  }
  const [, payload] = token.split('.')
  return Object.entries(secrets).flatMap(([form, secret]) =>
    ['HS256', 'HS512', 'EdDSA'].map((alg): [string, string] => {
      const input = `${encode(JSON.stringify({ ...header, alg }))}.${payload}`
      const hmac = createHmac(alg === 'HS256' ? 'sha256' : 'sha512', secret).update(input)
      return [`${alg}, public key as ${form}`, `${input}.${hmac.digest('base64url')}`]
    }),
  )
}

test('every reason was needed, and the corpus has more than a thousand tokens', (t) => {
  t.diagnostic(`${refused} mutated tokens refused, ${valid} that stay valid for a reason`)
  assert.ok(refused > 1_000, String(refused))
  const all = Object.entries(kinds).flatMap(([kind, one]) =>
    Object.keys(mutatedInputs(one)).map((what) => ({ kind, what })),
  )
  for (const [reason] of staysValid)
    assert.ok(
      all.some(({ kind, what }) => reasonFor(kind, what) === reason),
      reason,
    )
})
