// CARILLON_SECOND_FACTOR from outside: every way in under each value, during the grace and after it, with a stolen password and a dormant
// account (A27).
import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { decodeJwt } from 'jose'
import { hashOf } from '../../../server/basics/secrets.ts'
import type { Environment } from '../../../server/config/values.ts'
import { addLink, type LinkPurpose } from '../../../server/links/links.store.ts'
import { useProviderAccount } from '../../../server/providers/provider-accounts.store.ts'
import { routesWith } from '../../../server/routes.ts'
import { setRole } from '../../../server/users/access/roles.store.ts'
import { resetFactors } from '../../../server/users/access/user-changes.store.ts'
import { updateUser } from '../../../server/users/users.store.ts'
import { EventReader } from '../../support/event-source/event-source.ts'
import { refusalIn } from '../../support/http/envelope.ts'
import { startWithProvider } from '../../support/http/provider-browser.ts'
import { MailServer, shownMail } from '../../support/network/mail-server.ts'
import { addPasskey } from '../../support/passkeys.ts'
import {
  type Proof,
  startTestService,
  type TestService,
  type TestUser,
  variants,
} from '../../support/service.ts'
import { Authenticator, carefulUser, signInWithCode } from '../../support/sign-in/authenticator.ts'
import { SoftwareAuthenticator } from '../../support/software-authenticator.ts'

const day = 24 * 3_600_000
const minute = 60_000
const origin = 'https://carillon.example'
const opened = 200
const onlySetsUp = [403, 403, 403, 403]

const started: { stop(): Promise<unknown> }[] = []
after(async () => {
  // Some share a folder.
  for (const one of started) await one.stop()
})

async function serviceWith(
  policy: string,
  { dir = newDir(), ...env }: Environment & { dir?: string } = {},
) {
  const app = await startTestService({ dir, env: { CARILLON_SECOND_FACTOR: policy, ...env } })
  started.push(app)
  return app
}
const newDir = () => mkdtempSync(join(tmpdir(), 'carillon-'))

/** The restricted route, the inbox, forward authentication, and a token of the sign-in. */
async function openedBy(app: TestService, proof: Proof): Promise<number[]> {
  const got = [await app.get('/routeRestreinte', proof), await app.get('/api/notifications', proof)]
  got.push(await app.get('/verify', proof), await app.post('/api/me/token', undefined, proof))
  return got.map(({ status }) => status)
}

const session = async (app: TestService, proof: Proof) =>
  (await app.get('/api/session', proof)).json().data

/** Both steps with an app, with the link if there is one. Returns the status, and the next proof. */
async function addApp(app: TestService, proof: Proof, link?: string) {
  const begun = await app.post('/api/me/factors/totp', {}, proof)
  assert.equal(begun.status, 201, begun.text)
  const { id, secret } = begun.json().data
  const authenticator = new Authenticator(secret)
  const body = { id, code: authenticator.code(app.now()), ...(link && { link }) }
  const response = await app.post('/api/me/factors/totp/confirm', body, proof)
  const { token } = response.json().data ?? {}
  const code = response.status === 200 ? 200 : refusalIn(response).code
  return {
    code,
    authenticator,
    proof: token === undefined ? proof : { authorization: `Bearer ${token}` },
  }
}

async function linkFor(
  app: TestService,
  { id }: TestUser,
  purpose: LinkPurpose = 'factor',
  email: string | null = null,
) {
  const token = hashOf(`${purpose} ${id} ${app.now()}`)
  const at = app.now()
  const link = {
    userId: id,
    purpose,
    tokenHash: hashOf(token),
    at,
    expiresAt: at + 15 * minute,
    email,
  }
  assert.equal(await app.store.write(addLink, link), 'done')
  return token
}

async function passkeySignIn(app: TestService, user: TestUser, variant: string): Promise<Proof> {
  const authenticator = new SoftwareAuthenticator({ origin })
  const passkey = await addPasskey(app, authenticator, user, 'carillon.example')
  const options = (await app.post('/login/passkey/options')).json()
  const response = await app.post('/login/passkey', {
    response: authenticator.get(passkey, options),
    variant,
  })
  assert.equal(response.status, 200, response.text)
  if (variant === 'stateless') return { authorization: `Bearer ${response.json().token}` }
  return { cookie: response.headers.getSetCookie()[0]?.split(';')[0] ?? '' }
}

/** Its users have no grace. */
const strict = await serviceWith('required', { CARILLON_SECOND_FACTOR_GRACE: '0s' })
/** One for each policy, without a grace and with passkeys. */
const byPolicy: Record<string, TestService> = {}
for (const policy of ['optional', 'required', 'passkey']) {
  const env = { CARILLON_SECOND_FACTOR_GRACE: '0s', CARILLON_PUBLIC_URL: origin }
  byPolicy[policy] = await serviceWith(policy, env)
}

for (const variant of variants) {
  test(`a password alone opens everything during the grace, and afterwards only sets a factor up, ${variant} (A27)`, async () => {
    const app = await serviceWith('required')
    const ann = await app.user()
    const full = await app.post('/login', {
      username: ann.username,
      password: ann.password,
      variant,
    })
    const by = new Date(app.now() + 14 * day).toISOString()
    const demand = { by, setupOnly: false, passkeyOnly: false, needsLink: false }
    assert.deepEqual(full.json().secondFactor, demand)
    app.pass(14 * day - minute)
    const before = await app.signIn(ann, variant)
    assert.deepEqual((await openedBy(app, before)).slice(0, 3), [opened, opened, opened])
    assert.deepEqual((await session(app, before)).secondFactor, demand)
    if (variant === 'stateless') {
      const { exp } = decodeJwt(before.authorization?.slice(7) ?? '')
      assert.equal((exp ?? 0) * 1_000, Date.parse(by), 'no token outlives the grace')
    }
    app.pass(minute)
    // The session that began before is limited, too; the token has ended.
    const limited = variant === 'stateful' ? before : await app.signIn(ann, variant)
    assert.deepEqual(await openedBy(app, limited), onlySetsUp)
    const late = { by, setupOnly: true, passkeyOnly: false, needsLink: true }
    assert.deepEqual((await session(app, limited)).secondFactor, late)
    if (variant === 'stateless') {
      assert.equal((await app.get('/routeRestreinte', before)).status, 401)
      assert.equal(decodeJwt(limited.authorization?.slice(7) ?? '').scope, 'setup')
      assert.equal((await app.post('/token/renew', undefined, limited)).status, 403)
    }
    assert.equal(
      (await app.get('/routeRestreinte', await app.issueToken(ann))).status,
      403,
      'as before: scope inbox',
    )
    assert.equal(
      (await app.get('/api/notifications', await app.issueToken(ann))).status,
      200,
      'scope inbox is exempt',
    )
  })
}

test('after the grace a stolen password adds no factor; with a link the owner does, and is signed in (A27)', async () => {
  const variant = 'stateless'
  const app = strict
  const ann = await app.user()
  const proof = await app.signIn(ann, variant)
  assert.equal((await addApp(app, proof)).code, 'INVALID_REQUEST')
  const eve = await app.user()
  const wrong = {
    'a made-up link': 'x'.repeat(43),
    'the link of another user': await linkFor(app, eve),
    'a link to set a password': await linkFor(app, ann, 'reset'),
  }
  for (const [what, link] of Object.entries(wrong))
    assert.equal((await addApp(app, proof, link)).code, 'LINK_INVALID', what)
  const link = await linkFor(app, ann)
  const reset = await app.post('/password/reset', {
    token: link,
    newPassword: 'grey heron over the weir',
  })
  assert.equal(reset.status, 422, 'the link sets no password')
  const added = await addApp(app, proof, link)
  assert.equal(added.code, 200)
  assert.deepEqual((await openedBy(app, added.proof)).slice(0, 3), [opened, opened, opened])
  assert.equal((await session(app, added.proof)).secondFactor, null)
  assert.equal((await app.post('/token/renew', undefined, added.proof)).status, 200)
  // Afterwards each sign-in demands the factor, and the link is used up.
  const again = await app.post('/login', {
    username: ann.username,
    password: ann.password,
    variant,
  })
  assert.equal(refusalIn(again).code, 'SECOND_FACTOR_REQUIRED')
  await app.store.write(resetFactors, { userId: ann.id, at: app.now() })
  assert.equal(
    (await addApp(app, await app.signIn(ann, variant), link)).code,
    'LINK_INVALID',
    'used',
  )
})

test('an app and a passkey satisfy "required", and only a passkey satisfies "passkey" (A27)', async () => {
  const variant = 'stateful'
  for (const [policy, app] of Object.entries(byPolicy)) {
    const plain = await app.signIn(await app.user(), variant)
    assert.equal(
      (await app.get('/routeRestreinte', plain)).status,
      policy === 'optional' ? 200 : 403,
      policy,
    )
    const byPasskey = await passkeySignIn(app, await app.user(), variant)
    assert.equal((await app.get('/routeRestreinte', byPasskey)).status, 200, policy)
    const user = await app.user()
    const proof = await app.signIn(user, variant)
    const { authenticator } = await addApp(
      app,
      proof,
      policy === 'optional' ? undefined : await linkFor(app, user),
    )
    const careful = { ...user, app: authenticator, factorId: '', recoveryCodes: [] }
    const byApp = await signInWithCode(app, careful, variant)
    assert.equal(
      (await app.get('/routeRestreinte', byApp)).status,
      policy === 'passkey' ? 403 : 200,
      policy,
    )
    if (policy !== 'passkey') continue
    assert.equal((await session(app, byApp)).secondFactor.needsLink, false, 'the app was proved')
    const {
      rp,
      user: named,
      challenge,
    } = (await app.post('/api/me/factors/passkeys/options', {}, byApp)).json().data
    const { response } = new SoftwareAuthenticator({ origin }).create({
      rp,
      user: named,
      challenge,
    })
    const added = await app.post('/api/me/factors/passkeys', { response }, byApp)
    assert.equal(added.status, 201, added.text)
    assert.equal((await app.get('/routeRestreinte', byApp)).status, 200)
  }
})

test('a sign-in that only sets a factor up opens no other route (A27)', async () => {
  const app = strict
  const ann = await app.user('limited')
  await app.store.write(setRole, { userId: ann.id, role: 'operator' })
  const setsUp =
    'listFactors addTotp confirmTotp createPasskeyOptions addPasskey confirmSignIn requestFactorLink'
  const routes = routesWith('').filter(
    ({ guard, id }) => !['open', 'producer'].includes(guard.name) && !setsUp.includes(id),
  )
  const opens = async (proof: Proof, { method, path }: (typeof routes)[number]) => {
    const place = path.replaceAll(/:\w+/g, '00000000-0000-7000-8000-000000000000')
    return app.request(place, { method, headers: proof, redirect: 'manual' })
  }
  const knowsWho = ['/sign-in', '/account', '/account/', '/api/session', '/docs']
  const open = routes.filter(
    ({ guard, path }) => guard.name === 'visitor' && !knowsWho.includes(path),
  )
  const closed = routes.filter(({ guard }) => guard.name !== 'visitor')
  assert.ok(closed.length > 50, `${closed.length}`)
  for (const variant of variants) {
    const proof = await app.signIn(ann, variant)
    const other = variant === 'stateless' ? 'operator' : 'token'
    for (const one of closed)
      assert.equal(
        (await opens(proof, one)).status,
        one.guard.name === other ? 401 : 403,
        `${one.id}, ${variant}`,
      )
    for (const one of open)
      assert.ok(!(await opens(proof, one)).text.includes('limited'), `${one.id} names the user`)
  }
})

test('a stream ends with the grace (A27)', async () => {
  const app = await serviceWith('required', { CARILLON_SECOND_FACTOR_GRACE: '1h' })
  const ann = await app.user()
  const proofs = [await app.signIn(ann, 'stateful'), await app.signIn(ann, 'stateless')]
  const readers = await Promise.all(proofs.map((proof) => EventReader.of(app.url, proof)))
  app.pass(3_600_000)
  for (const reader of readers) {
    assert.equal((await reader.next()).type, 'session-ended')
    await reader.ended()
  }
  const limited = await app.signIn(ann, 'stateful')
  for (const path of ['stream', 'changes?since=0&wait=1'])
    assert.equal((await app.get(`/api/notifications/${path}`, limited)).status, 403, path)
})

test('the grace begins with the first start or the user, ends for dormant accounts, and is kept over "optional" (A27)', async () => {
  const dir = newDir()
  const begin = async (policy: string, at: number) => {
    const app = await serviceWith(policy, { dir })
    app.pass(at)
    return app
  }
  const first = await serviceWith('optional', { dir })
  const dormant = await first.user('dormant')
  const kept = await first.signIn(dormant, 'stateful')
  const second = await serviceWith('required', { dir })
  assert.equal(
    (await second.get('/routeRestreinte', kept)).status,
    200,
    'a session from before the policy',
  )
  await serviceWith('optional', { dir })
  const third = await begin('required', 14 * day)
  assert.equal(
    (await third.get('/routeRestreinte', await third.signIn(dormant, 'stateful'))).status,
    403,
  )
  const fresh = await third.user('fresh')
  assert.equal(
    (await third.get('/routeRestreinte', await third.signIn(fresh, 'stateful'))).status,
    200,
    'a new user',
  )
  // A stronger rule gives no second grace to users without any factor.
  const fourth = await begin('passkey', 14 * day)
  assert.equal(
    (await fourth.get('/routeRestreinte', await fourth.signIn(dormant, 'stateful'))).status,
    403,
  )
})

test('a session from before the factor goes on when it proves the factor (A27)', async () => {
  const app = await serviceWith('required', { CARILLON_SECOND_FACTOR_GRACE: '1h' })
  const ann = await app.user()
  const old = await app.signIn(ann, 'stateful')
  const { authenticator } = await addApp(app, await app.signIn(ann, 'stateful'))
  app.pass(3_600_000)
  assert.equal((await app.get('/routeRestreinte', old)).status, 403)
  assert.equal((await app.post('/api/me/confirm', { password: ann.password }, old)).status, 401)
  assert.equal(
    (await app.post('/api/me/confirm', { code: authenticator.code(app.now()) }, old)).status,
    204,
  )
  assert.equal((await app.get('/routeRestreinte', old)).status, 200)
})

test('the last second factor stays: 409 (A27)', async () => {
  const app = await serviceWith('passkey')
  const user = await carefulUser(app)
  const proof = await signInWithCode(app, user, 'stateful')
  const remove = async (id: string) => (await app.delete(`/api/me/factors/${id}`, proof)).status
  assert.equal(await remove(user.factorId), 409)
  await addPasskey(app, new SoftwareAuthenticator({ origin: app.url }), user)
  const { items } = (await app.get('/api/me/factors', proof)).json().data
  const passkey = items.find(({ kind }: { kind: string }) => kind === 'passkey').id
  assert.deepEqual([await remove(passkey), await remove(user.factorId)], [409, 204])
})

test('the mailed link goes to the verified address alone, and ends with it (A27)', async () => {
  const mails = await MailServer.start()
  started.push(mails)
  const app = await serviceWith('required', {
    CARILLON_SECOND_FACTOR_GRACE: '0s',
    CARILLON_SMTP_URL: mails.url,
  })
  const ann = await app.user()
  const proof = await app.signIn(ann, 'stateful')
  const request = () => app.post('/api/me/factors/link', undefined, proof)
  await app.store.write(updateUser, { userId: ann.id, email: 'ann@example.org' })
  assert.equal((await request()).status, 409, 'not verified')
  await app.store.write(updateUser, {
    userId: ann.id,
    email: 'ann@example.org',
    emailVerifiedAt: app.now(),
  })
  assert.equal((await request()).status, 202)
  const mail = shownMail(await mails.receivedBy('ann@example.org'))
  const [, link] = /\/account#factor-([\w-]{43})\b/.exec(mail.text) ?? []
  assert.ok(link, mail.text)
  await app.store.write(updateUser, {
    userId: ann.id,
    email: 'eve@example.org',
    emailVerifiedAt: app.now(),
  })
  assert.equal((await addApp(app, proof, link)).code, 'LINK_INVALID', 'another address')
  await app.store.write(updateUser, {
    userId: ann.id,
    email: 'ann@example.org',
    emailVerifiedAt: null,
  })
  assert.equal((await addApp(app, proof, link)).code, 'LINK_INVALID', 'no longer verified')
  await app.store.write(updateUser, {
    userId: ann.id,
    email: 'ann@example.org',
    emailVerifiedAt: app.now(),
  })
  app.pass(15 * minute)
  const late = await app.signIn(ann, 'stateful')
  assert.equal((await addApp(app, late, link)).code, 'LINK_INVALID', 'expired')
  assert.equal((await app.post('/api/me/factors/link', undefined, late)).status, 202)
  const full = await app.signIn(await app.user(), 'stateful')
  await addPasskey(app, new SoftwareAuthenticator({ origin: app.url }), ann)
  assert.equal((await app.post('/api/me/factors/link', undefined, full)).status, 409, 'no address')
})

test('a link to set a password signs in to set a factor up, and no more (A27)', async () => {
  const app = strict
  const ann = await app.user()
  const token = await linkFor(app, ann, 'reset')
  const newPassword = 'grey heron over the weir'
  const response = await app.post('/password/reset', { token, newPassword, variant: 'stateless' })
  assert.equal(response.json().secondFactor.setupOnly, true)
  const proof = { authorization: `Bearer ${response.json().token}` }
  assert.deepEqual(await openedBy(app, proof), onlySetsUp)
  assert.equal((await addApp(app, proof)).code, 'INVALID_REQUEST')
})

test('a provider satisfies the rule by exact values of its signed ID token, of a short time ago (A27)', async () => {
  const factors = { acr: ['phr', 'gold'], amr: ['mfa'] }
  for (const policy of ['required', 'passkey']) {
    const env = { CARILLON_SECOND_FACTOR: policy, CARILLON_SECOND_FACTOR_GRACE: '0s' }
    const staff = await startWithProvider({ createUsers: true, factors }, { env })
    started.push(staff)
    const { app, provider, browser } = staff
    const begun = new URL((await browser().start('staff')).location).searchParams
    assert.deepEqual([begun.get('acr_values'), begun.get('max_age')], ['phr gold', '3600'])
    const seconds = Math.floor(app.now() / 1_000)
    const tries: [
      claims: { acr?: unknown; amr?: unknown; auth_time: unknown },
      satisfies: string,
    ][] = [
      [{ acr: 'phr', auth_time: seconds }, 'required passkey'],
      [{ acr: 'phr', auth_time: seconds - 3_661 }, ''],
      [{ acr: 'phr', auth_time: seconds + 61 }, ''],
      [{ acr: 'phr', auth_time: undefined }, ''],
      [{ acr: 'phr', auth_time: String(seconds) }, ''],
      [{ acr: 'gold', auth_time: seconds }, 'required'],
      [{ acr: 'GOLD', auth_time: seconds }, ''],
      [{ acr: 'phrh', auth_time: seconds }, ''],
      [{ acr: ['phr'], auth_time: seconds }, ''],
      [{ amr: ['pwd', 'mfa'], auth_time: seconds }, 'required'],
      [{ amr: 'mfa', auth_time: seconds }, ''],
      [{ amr: ['mfa '], auth_time: seconds }, ''],
    ]
    for (const [n, [claims, satisfies]] of tries.entries()) {
      provider.lieAboutIdToken({ acr: undefined, amr: undefined, ...claims })
      const isOpen = satisfies.split(' ').includes(policy)
      const ann = browser()
      await ann.signIn('staff', `user-${n}`)
      const what = `${policy} ${JSON.stringify(claims)}`
      assert.equal((await app.get('/routeRestreinte', ann.proof)).status === 200, isOpen, what)
      // The client of the provider refuses an ID token with a text in place of a number.
      if (typeof claims.auth_time === 'string') continue
      const code = await ann.code('staff', `user-${n}`)
      const { token } = (await app.post('/login/with/staff', { code }, ann.proof)).json()
      const status = (await app.get('/routeRestreinte', { authorization: `Bearer ${token}` }))
        .status
      assert.equal(status, isOpen ? 200 : 403, `${what}, token`)
    }
    // A factor that the user has here is demanded all the same.
    const user = await app.store.write(useProviderAccount, {
      issuer: provider.url,
      subject: 'user-0',
      at: app.now(),
    })
    await addPasskey(app, new SoftwareAuthenticator({ origin: app.url }), { id: user?.id ?? '' })
    provider.lieAboutIdToken({ acr: 'phr', auth_time: seconds })
    const careful = browser()
    assert.match((await careful.signIn('staff', 'user-0')).location, /#challenge=/)
    assert.ok(!careful.jar.has('carillon'))
  }
})

test('"passkey" is refused at the start if browsers can have no passkey under the public URL', async () => {
  const env = { CARILLON_SECOND_FACTOR: 'passkey', CARILLON_PUBLIC_URL: 'https://192.0.2.7' }
  await assert.rejects(
    startTestService({ env }),
    /CARILLON_SECOND_FACTOR=passkey.*Passkeys need a host name/,
  )
})

test('the sign-in page says what is missing and until when, and leads on without a script (A27)', async () => {
  const app = await serviceWith('required')
  const ann = await app.user()
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    accept: 'text/html',
    origin: app.url,
  }
  const body = new URLSearchParams({
    username: ann.username,
    password: ann.password,
    return_to: '/account',
  }).toString()
  const form = { method: 'POST', headers, body, redirect: 'manual' } as const
  const signedIn = await app.request('/sign-in', form)
  const place = signedIn.headers.get('location') ?? ''
  assert.equal(place, '/sign-in?return_to=%2Faccount')
  const cookie = { cookie: signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? '' }
  const during = await app.get(place, { ...cookie, accept: 'text/html' })
  assert.match(during.text, /From January 15, 2026 at 00:00 UTC on, you need a second step/)
  assert.match(during.text, /href="account#factors"[\s\S]*href="\/account">Later/)
  app.pass(14 * day)
  const limited = await app.signIn(ann, 'stateful')
  const page = await app.get(place, { ...limited, accept: 'text/html' })
  assert.match(page.text, /Set one up to go on/)
  assert.ok(!page.text.includes('href="/account"'), 'nothing leads past it')
  const inbox = await app.request('/inbox', { headers: limited, redirect: 'manual' })
  assert.equal(inbox.headers.get('location'), '/sign-in?return_to=%2Finbox')
})
