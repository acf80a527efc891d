import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTestService, type TestService, variants } from '../tests/support/service.ts'
import { carefulUser } from '../tests/support/sign-in/authenticator.ts'
import { createCarillon, isCarillonError } from './carillon-client.ts'
import { failureOf, signedIn, until } from './testing/clients.ts'
import { CookieJar } from './testing/cookie-jar.ts'

let service: TestService
before(async () => {
  service = await startTestService()
})
after(() => service.stop())

for (const variant of variants)
  test(`me and restricted return the signed-in user, ${variant}, until logout`, async () => {
    const ann = await service.user()
    const carillon = await signedIn(service, ann, variant)
    const proof = variant === 'stateful' ? 'session' : 'access-token'
    assert.deepEqual(await carillon.restricted(), { userId: ann.id, username: ann.username, proof })
    const me = await carillon.me()
    assert.deepEqual([me?.user.id, me?.proof], [ann.id, proof])
    await carillon.logout()
    if (variant === 'stateless') return
    assert.ok(isCarillonError(await failureOf(carillon.restricted()), 'Unauthorized'))
    assert.equal(await carillon.me(), null)
  })

test('a wrong password throws INVALID_CREDENTIALS, and login does not call `auth`', async () => {
  const ann = await service.user()
  const auth = () => assert.fail('the client called auth')
  const carillon = createCarillon({ baseUrl: service.url, auth })
  const failure = await failureOf(
    carillon.login({ username: ann.username, password: 'cherry orchard gate 41' }),
  )
  assert.ok(isCarillonError(failure, 'INVALID_CREDENTIALS'))
  assert.deepEqual(
    [failure.status, failure.message],
    [401, 'The username or the password is wrong'],
  )
})

test('renew exchanges a valid token for a new one, also inside `auth`', async () => {
  const { username, password } = await service.user()
  const carillon = createCarillon({
    baseUrl: service.url,
    auth: async () => (await carillon.renew(token)).token,
  })
  const { token } = await carillon.login({ username, password, variant: 'stateless' })
  assert.equal((await carillon.restricted()).username, username)
  const failure = await failureOf(carillon.renew('no.such.token'))
  assert.ok(isCarillonError(failure, 'UNAUTHORIZED'))
})

test('logout revokes the token of this client, and the next call requests a new one', async () => {
  const { username, password } = await service.user()
  const tokens: string[] = []
  const carillon = createCarillon({
    baseUrl: service.url,
    auth: async () => {
      const { token } = await carillon.login({ username, password, variant: 'stateless' })
      tokens.push(token)
      return token
    },
  })
  await carillon.me()
  await carillon.logout()
  await service.refused({ authorization: `Bearer ${tokens[0]}` })
  await carillon.me()
  assert.equal(tokens.length, 2)
})

test('logout without a sign-in is not an error', async () => {
  await createCarillon({ baseUrl: service.url, fetch: new CookieJar().fetch }).logout()
})

for (const variant of variants)
  test(`a second factor is demanded by an error with challenge and factors, and completeSignIn ends the sign-in by ${variant === 'stateful' ? 'a code' : 'a recovery code'}, ${variant}`, async () => {
    const ann = await carefulUser(service)
    const { username, password } = ann
    const factor = () =>
      variant === 'stateful'
        ? { code: ann.app.code(service.now()) }
        : { recoveryCode: ann.recoveryCodes[0] ?? '' }
    let token = ''
    const auth = variant === 'stateless' ? () => token : 'cookie'
    const carillon = createCarillon({ baseUrl: service.url, auth, fetch: new CookieJar().fetch })
    const demanded = await failureOf(carillon.login({ username, password, variant }))
    assert.ok(isCarillonError(demanded))
    if (demanded.code !== 'SECOND_FACTOR_REQUIRED') assert.fail(demanded.code)
    // The code narrows the type.
    const { challenge }: { challenge: string } = demanded
    const factors: readonly ('totp' | 'passkey' | 'recovery-code')[] = demanded.factors
    assert.deepEqual(factors, ['totp', 'recovery-code'])
    const wrong = await failureOf(carillon.completeSignIn({ challenge, recoveryCode: 'wrong' }))
    assert.ok(isCarillonError(wrong, 'INVALID_CREDENTIALS'))
    const completed = await carillon.completeSignIn({ challenge, ...factor() })
    assert.deepEqual([completed.User.id, completed.variant], [ann.id, variant])
    if (completed.variant === 'stateless') token = completed.token
    assert.equal((await carillon.me())?.user.id, ann.id)
    const ended = await failureOf(carillon.completeSignIn({ challenge, ...factor() }))
    assert.ok(isCarillonError(ended, 'UNAUTHORIZED'))
  })

test('a sign-in with a second factor opens the lists of the client', async () => {
  const ann = await carefulUser(service)
  const { username, password } = ann
  const carillon = createCarillon({ baseUrl: service.url, fetch: new CookieJar().fetch })
  const list = carillon.inbox.open()
  await until(() => list.state === 'signed-out')
  const demanded = await failureOf(carillon.login({ username, password, variant: 'stateful' }))
  assert.ok(isCarillonError(demanded, 'SECOND_FACTOR_REQUIRED'))
  await carillon.completeSignIn({
    challenge: demanded.challenge,
    code: ann.app.code(service.now()),
  })
  await until(() => list.state === 'live')
  list.close()
})
