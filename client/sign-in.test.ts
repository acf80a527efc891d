// Does the client sign in and out, by either variant, of a real service?
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTestService, type TestService, variants } from '../tests/support/service.ts'
import { createCarillon, isCarillonError } from './carillon-client.ts'
import { failureOf, signedIn } from './testing/clients.ts'
import { CookieJar } from './testing/cookie-jar.ts'

let service: TestService
before(async () => {
  service = await startTestService()
})
after(() => service.stop())

for (const variant of variants)
  test(`who is signed in is told, ${variant}, until the sign-out`, async () => {
    const ann = await service.user()
    const carillon = await signedIn(service, ann, variant)
    const proof = variant === 'stateful' ? 'session' : 'access-token'
    assert.deepEqual(await carillon.restricted(), { userId: ann.id, username: ann.username, proof })
    const me = await carillon.me()
    assert.deepEqual([me.user.id, me.proof], [ann.id, proof])
    await carillon.logout()
    if (variant === 'stateless') return
    assert.ok(isCarillonError(await failureOf(carillon.restricted()), 'Unauthorized'))
    assert.ok(isCarillonError(await failureOf(carillon.me()), 'UNAUTHORIZED'))
  })

test('a stateful sign-in answers no token, a stateless one no cookie', async () => {
  const { username, password } = await service.user()
  const answers: Response[] = []
  const fetchNoted = async (url: string, init: RequestInit) => {
    const answer = await fetch(url, init)
    answers.push(answer)
    return answer
  }
  const carillon = createCarillon({ baseUrl: service.url, fetch: fetchNoted })
  const session = await carillon.login({ username, password, variant: 'stateful' })
  assert.deepEqual(Object.keys(session), ['User', 'expiresAt'])
  const { token, User } = await carillon.login({ username, password, variant: 'stateless' })
  assert.deepEqual([typeof token, User.username], ['string', username])
  const usual = await carillon.login({ username, password })
  assert.ok(!('token' in usual), 'the setting decides, which is stateful here')
  assert.deepEqual(
    answers.map(({ headers }) => headers.getSetCookie().length),
    [1, 0, 1],
  )
})

test('wrong credentials are INVALID_CREDENTIALS, and no token is asked for to sign in', async () => {
  const ann = await service.user()
  const auth = () => assert.fail('it was asked')
  const carillon = createCarillon({ baseUrl: service.url, auth })
  const failure = await failureOf(carillon.login({ username: ann.username, password: 'cherry orchard gate 41' }))
  assert.ok(isCarillonError(failure, 'INVALID_CREDENTIALS'))
  assert.deepEqual([failure.status, failure.message], [401, 'The username or the password is wrong'])
})

test('a token is renewed by itself, and the callback that tells it may do so', async () => {
  const { username, password } = await service.user()
  const carillon = createCarillon({ baseUrl: service.url, auth: async () => (await carillon.renew(token)).token })
  const { token } = await carillon.login({ username, password, variant: 'stateless' })
  assert.equal((await carillon.restricted()).username, username)
  const failure = await failureOf(carillon.renew('no.such.token'))
  assert.ok(isCarillonError(failure, 'UNAUTHORIZED'))
})

test('signing out ends the token that this client used, and the next call asks for another', async () => {
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

test('signing out where nobody is signed in is no error', async () => {
  await createCarillon({ baseUrl: service.url, fetch: new CookieJar().fetch }).logout()
})
