import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { newId } from '../../../server/basics/ids.ts'
import { addFactor } from '../../../server/factors/factors.store.ts'
import { useProviderAccount } from '../../../server/providers/provider-accounts.store.ts'
import { disableUser } from '../../../server/users/access/user-changes.store.ts'
import { refusalIn } from '../../support/http/envelope.ts'
import { startWithProvider } from '../../support/http/provider-browser.ts'

const { app, provider, browser, stop } = await startWithProvider({ createUsers: true })
after(stop)

const userOf = (subject: string) =>
  app.store.write(useProviderAccount, { issuer: provider.url, subject, at: app.now() })

suite('a user with a second factor', async () => {
  await browser().signIn('staff', 'careful')
  const user = await userOf('careful')
  const factor = {
    id: newId(app.now()),
    kind: 'totp',
    label: 'Phone',
    sealedSecret: 'sealed',
  } as const
  await app.store.write(addFactor, {
    userId: user?.id ?? '',
    factor: { ...factor, createdAt: app.now(), confirmedAt: app.now() },
    maxFactors: 1,
    recoveryCodeHashes: ['hash'],
  })

  test('gets no session from the provider alone: the page completes the sign-in with the challenge (A17)', async () => {
    const careful = browser()
    const back = await careful.signIn('staff', 'careful', '?return_to=/app%23old')
    assert.equal(back.status, 303)
    const [place, fragment] = back.location.split('#')
    const facts = Object.fromEntries(new URLSearchParams(fragment))
    assert.deepEqual(
      [place, Object.keys(facts), facts.factors],
      ['/app', ['challenge', 'factors'], 'totp recovery-code'],
    )
    assert.ok(facts.challenge?.startsWith(user?.id ?? '-'))
    assert.ok(!careful.jar.has('carillon'))
    // Until the second factor, for which this browser has to bring the cookie.
    assert.equal(careful.begun.length, 1)
  })

  test('gets no token for the code alone (A17)', async () => {
    const careful = browser()
    const waiting = await app.post(
      '/login/with/staff',
      { code: await careful.code('staff', 'careful') },
      careful.proof,
    )
    const { code, challenge, factors } = refusalIn(waiting)
    assert.deepEqual([code, factors], ['SECOND_FACTOR_REQUIRED', ['totp', 'recovery-code']])
    assert.ok(challenge)
  })
})

test('the audit log says who was created, who signed in with which provider, and who was refused (A16)', async () => {
  const ann = browser()
  await ann.signIn('staff', 'audited')
  const user = await userOf('audited')
  const change = { userId: user?.id ?? '', at: app.now() }
  await app.store.write(disableUser, change)
  await browser().signIn('staff', 'audited')
  await app.restart()
  const rows = await app.database.rows(
    "select event, actor, user_id, detail from audit where actor = 'provider:staff'",
  )
  const events = rows.filter(({ user_id: id }) => id === user?.id).map(({ event }) => event)
  assert.deepEqual(events.toSorted(), ['sign-in', 'sign-in-refused', 'user-created'])
})

test('a code that was used is recorded as a refused sign-in, without the code (A16)', async () => {
  const ann = browser()
  const code = await ann.code('staff', 'replayed')
  const exchange = () => app.post('/login/with/staff', { code }, ann.proof)
  assert.equal((await exchange()).status, 200)
  assert.equal((await exchange()).status, 401)
  await app.restart()
  const rows = await app.database.rows("select detail from audit where event = 'sign-in-refused'")
  const [refused] = rows.filter(({ detail }) => String(detail).includes('/login/with/:provider"'))
  assert.match(String(refused?.detail), /INVALID_CREDENTIALS/)
  assert.ok(!JSON.stringify(rows).includes(code.split('.')[1] ?? code))
})

test('below a public URL with a path, the provider and the browser get the addresses of that URL', async (t) => {
  const env = { CARILLON_PUBLIC_URL: 'https://example.org/bell' }
  const below = await startWithProvider({}, { env })
  t.after(below.stop)
  const { location, headers } = await below.browser().start('staff')
  assert.equal(
    new URL(location).searchParams.get('redirect_uri'),
    'https://example.org/bell/login/with/staff/callback',
  )
  const [set = ''] = headers.getSetCookie()
  assert.match(
    set,
    /^__Secure-carillon-with-[\w-]{8}=.*; Path=\/bell; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
  )
  const { items } = (await below.app.get('/login/providers')).json()
  assert.equal(items[0].url, 'https://example.org/bell/login/with/staff')
})

test('on HTTPS no sibling host can set the cookie of a sign-in that has begun (S1)', async (t) => {
  const secure = await startWithProvider(
    {},
    { env: { CARILLON_PUBLIC_URL: 'https://bell.example.org' } },
  )
  t.after(secure.stop)
  const [set = ''] = (await secure.browser().start('staff')).headers.getSetCookie()
  assert.match(set, /^__Host-carillon-with-[\w-]{8}=.*; Path=\/; .*; Secure$/)
})

test('a sign-in that began before the service restarted can be finished after it: no state is in memory', async () => {
  const ann = browser()
  const { location } = await ann.start('staff')
  const wayBack = await ann.wayBack(location, 'ann')
  await app.restart()
  assert.equal((await ann.send(wayBack)).status, 303)
})
