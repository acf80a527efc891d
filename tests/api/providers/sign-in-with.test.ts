import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { reserveGuess } from '../../../server/guessing/guesses.store.ts'
import {
  providerAccounts,
  useProviderAccount,
} from '../../../server/providers/provider-accounts.store.ts'
import { disableUser } from '../../../server/users/access/user-changes.store.ts'
import { enableUser, findUser, updateUser } from '../../../server/users/users.store.ts'
import { refusalIn } from '../../support/http/envelope.ts'
import { startWithProvider } from '../../support/http/provider-browser.ts'

const { app, provider, browser, stop } = await startWithProvider({
  createUsers: true,
  displayName: 'Example Staff',
})
after(stop)

test('the providers are listed for the buttons of a page', async () => {
  const { status, headers, text } = await app.get('/login/providers')
  assert.equal(status, 200)
  assert.match(headers.get('cache-control') ?? '', /no-store/)
  assert.deepEqual(JSON.parse(text), {
    items: [{ name: 'staff', displayName: 'Example Staff', url: `${app.url}/login/with/staff` }],
  })
})

test('the browser is sent to the provider with state, nonce and PKCE, and keeps the rest in a sealed cookie (P2)', async () => {
  const ann = browser()
  const { status, location, headers } = await ann.start('staff')
  assert.equal(status, 302)
  const url = new URL(location)
  assert.equal(url.origin + url.pathname, `${provider.url}/auth`)
  const {
    state = '',
    nonce = '',
    code_challenge: challenge = '',
    ...query
  } = Object.fromEntries(url.searchParams)
  assert.deepEqual(query, {
    client_id: 'bell',
    code_challenge_method: 'S256',
    redirect_uri: `${app.url}/login/with/staff/callback`,
    response_type: 'code',
    scope: 'openid profile email',
  })
  for (const text of [state, nonce, challenge]) assert.match(text, /^[\w-]{43}$/)
  const [set = ''] = headers.getSetCookie()
  assert.match(set, /; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/)
  for (const secret of [state, nonce]) assert.ok(!set.includes(secret))
})

test('a new user signs in with a session, and the same user the next time', async () => {
  provider.claims.set('ann', { name: 'Ann Lee', email: 'ann@example.org', email_verified: true })
  const first = browser()
  const back = await first.signIn('staff', 'ann', '?return_to=/kitchen')
  assert.deepEqual([back.status, back.location], [303, '/kitchen'])
  assert.deepEqual(first.begun, [])
  const me = (await app.get('/api/me', first.proof)).json().data.user
  assert.deepEqual([me.username, me.displayName, me.email], [null, 'Ann Lee', 'ann@example.org'])
  assert.equal((await app.store.read(findUser, me.id))?.emailVerifiedAt, app.now())
  const again = browser()
  assert.equal((await again.signIn('staff', 'ann')).location, '/inbox')
  assert.equal((await app.get('/api/me', again.proof)).json().data.user.id, me.id)
  const restricted = await app.get('/routeRestreinte', again.proof)
  assert.deepEqual(restricted.json().data, { userId: me.id, username: null, proof: 'session' })
})

test('sign-ins with a provider of one account from one address: 60 at once, then 429 before anything is written (L1)', async () => {
  const often = browser()
  // The first one creates the user.
  for (let n = 0; n < 2; n++) assert.equal((await often.signIn('staff', 'often')).status, 303)
  const me = (await app.get('/api/me', often.proof)).json().data.user
  const counts = await app.database.rows('select key from guess_count')
  const keys = counts.map((row) => String(row.key))
  const key = keys.find((one) => one.startsWith(`user ${me.id} sign-in `)) ?? assert.fail()
  // As 59 further sign-ins would.
  const limits = [{ key, intervalMs: 10_000, burst: 60 }]
  for (let n = 0; n < 59; n++)
    assert.deepEqual(await app.store.write(reserveGuess, { limits, at: app.now() }), [])
  const accountOf = () => app.store.read(providerAccounts, me.id)
  const before = await accountOf()
  app.pass(1_000)
  const refused = await often.signIn('staff', 'often')
  assert.equal(refused.status, 429, refused.text)
  assert.equal(refused.headers.get('retry-after'), '9')
  assert.deepEqual(await accountOf(), before)
  app.pass(9_000)
  assert.equal((await often.signIn('staff', 'often')).status, 303)
})

test('an address that the provider did not verify is not stored, and finds no user', async () => {
  provider.claims.set('eve', { name: 'Eve', email: 'ann@example.org', email_verified: false })
  const eve = browser()
  await eve.signIn('staff', 'eve')
  const me = (await app.get('/api/me', eve.proof)).json().data.user
  assert.deepEqual([me.displayName, me.email], ['Eve', null])
})

test('a verified address of another user finds no user either (P4)', async () => {
  const owner = await app.user('owner')
  await app.store.write(updateUser, { userId: owner.id, email: 'owner@example.org' })
  provider.claims.set('guest', { name: 'Guest', email: 'owner@example.org', email_verified: true })
  const guest = browser()
  await guest.signIn('staff', 'guest')
  assert.notEqual((await app.get('/api/me', guest.proof)).json().data.user.id, owner.id)
})

test('a name that Carillon would not accept is left out and does not stop the sign-in', async () => {
  provider.claims.set('odd', { name: 'a\u0007b', email: 'not an address', email_verified: true })
  const odd = browser()
  await odd.signIn('staff', 'odd')
  const me = (await app.get('/api/me', odd.proof)).json().data.user
  assert.deepEqual([me.displayName, me.email], [null, null])
})

suite('stateless', () => {
  test('the page exchanges a code for the token, once, in the browser that began (P2)', async () => {
    const ann = browser()
    const back = await ann.signIn('staff', 'ann', '?variant=stateless&return_to=/app%23old')
    assert.equal(back.status, 303)
    assert.match(back.location, /^\/app#sign-in-code=[\w.-]+$/)
    assert.deepEqual([back.text, ann.jar.has('carillon')], ['', false])
    const code = back.location.split('=')[1]
    const exchange = () => app.post('/login/with/staff', { code }, ann.proof)
    assert.equal(
      refusalIn(await app.post('/login/with/staff', { code })).code,
      'INVALID_CREDENTIALS',
    )
    const stranger = browser()
    await stranger.start('staff')
    assert.equal((await app.post('/login/with/staff', { code }, stranger.proof)).status, 401)
    const done = await exchange()
    assert.equal(done.status, 200, done.text)
    const { token, variant, User } = done.json()
    assert.deepEqual([variant, User.displayName], ['stateless', 'Ann Lee'])
    assert.equal((await app.get('/api/me', { authorization: `Bearer ${token}` })).status, 200)
    assert.equal((await exchange()).status, 401)
    ann.keep(done)
    assert.deepEqual(ann.begun, [])
  })

  test('a code is valid for a minute, and not after the user was disabled', async () => {
    const begin = async () => {
      const ann = browser()
      const code = await ann.code('staff', 'ann')
      return () => app.post('/login/with/staff', { code }, ann.proof)
    }
    const late = await begin()
    app.pass(60_000)
    assert.equal((await late()).status, 401)
    const changed = await begin()
    const user = await app.store.write(useProviderAccount, {
      issuer: provider.url,
      subject: 'ann',
      at: app.now(),
    })
    const change = { userId: user?.id ?? '', at: app.now() }
    await app.store.write(disableUser, change)
    assert.equal((await changed()).status, 401)
    await app.store.write(enableUser, change)
    assert.equal((await changed()).status, 401)
  })
})

test('a disabled user, and an unknown one of a provider that creates none, are refused alike', async (t) => {
  const other = await startWithProvider({ createUsers: false })
  t.after(other.stop)
  assert.equal(refusalIn(await other.browser().signIn('staff', 'kim')).code, 'FORBIDDEN')
  const kim = browser()
  await kim.signIn('staff', 'kim')
  const { id: userId } = (await app.get('/api/me', kim.proof)).json().data.user
  await app.store.write(disableUser, { userId, at: app.now() })
  const refused = await browser().signIn('staff', 'kim')
  const { code, message } = refusalIn(refused)
  assert.equal(code, 'FORBIDDEN')
  assert.match(message, /^Your account at Example Staff belongs to no active user here/)
  assert.deepEqual(refused.headers.getSetCookie().length, 1)
})

test('two tabs sign in at the same time', async () => {
  const ann = browser()
  const first = await ann.start('staff', '?return_to=/one')
  const second = await ann.start('staff', '?return_to=/two')
  assert.equal(ann.begun.length, 2)
  assert.equal((await ann.comeBack(first.location, 'ann')).location, '/one')
  assert.equal((await ann.comeBack(second.location, 'ann')).location, '/two')
})

test('a browser that begins again and again keeps four of these cookies at most, and finishes the last', async () => {
  const ann = browser()
  for (let n = 0; n < 12; n++) await ann.start('staff')
  const last = await ann.start('staff')
  assert.equal(ann.begun.length, 4)
  assert.equal((await ann.comeBack(last.location, 'ann')).status, 303)
})
