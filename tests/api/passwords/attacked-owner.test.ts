// While strangers guess, the user gets in by a link or a passkey. A link never replaces a second
// factor (A20).
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { addPasskey } from '../../support/passkeys.ts'
import { type HttpResponse, startTestService, type TestUser } from '../../support/service.ts'
import { carefulUser } from '../../support/sign-in/authenticator.ts'
import { SoftwareAuthenticator } from '../../support/software-authenticator.ts'

const origin = 'https://carillon.example'
const env = { CARILLON_TRUSTED_PROXIES: '127.0.0.1', CARILLON_PUBLIC_URL: origin }
const app = await startTestService({ env })
after(() => app.stop())
const producer = { authorization: `Bearer ${(await app.producerKey(['users'])).key}` }
const newPassword = 'grey heron over the weir'
const second = 1_000

let addresses = 0
const from = () => ({
  'x-forwarded-for': `198.18.${Math.floor(++addresses / 256)}.${addresses % 256}`,
})

async function linkFor({ id }: Pick<TestUser, 'id'>, purpose = 'reset'): Promise<string> {
  const response = await app.post(`/api/users/${id}/links`, { purpose }, producer)
  assert.equal(response.status, 201, response.text)
  return response.json().data.url.split('#')[1]
}

let names = 0
/** `reset` is for a user with a password, `invite` for one without. */
async function userFor(purpose: string): Promise<TestUser> {
  if (purpose === 'reset') return app.user()
  const username = `invited-${++names}`
  const { id } = (await app.post('/api/users', { username }, producer)).json().data
  return { id, username, password: '' }
}

/** Each as soon as the one before is evaluated. */
async function attack(guess: () => Promise<HttpResponse>): Promise<void> {
  for (let wrong = 0; wrong < 8; ) {
    const response = await guess()
    if (response.status === 429) app.pass(Number(response.headers.get('retry-after')) * second)
    else {
      assert.equal(response.status, 401, response.text)
      wrong++
    }
  }
  assert.equal((await guess()).status, 429)
}
const guessPassword =
  ({ username }: TestUser) =>
  () =>
    app.post('/login', { username, password: 'plum orchard gate 42' }, from())
const login = ({ username }: TestUser, more: object, cookie = '') =>
  app.post(
    '/login',
    { username, password: newPassword, ...more },
    { ...from(), ...(cookie && { cookie }) },
  )
const reset = (token: string, more: object = {}, headers: Record<string, string> = from()) =>
  app.post('/password/reset', { token, newPassword, ...more }, headers)
const cookiesOf = (response: HttpResponse) =>
  response.headers.getSetCookie().map((line) => line.split(';')[0] ?? '')

for (const [variant, purpose] of [
  ['stateful', 'reset'],
  ['stateless', 'invite'],
] as const)
  test(`after 8 wrong guesses by strangers, a link (${purpose}) with a variant signs its user in at once, and the device is known (${variant}, A20)`, async () => {
    const ann = await userFor(purpose)
    await attack(guessPassword(ann))
    const response = await reset(await linkFor(ann, purpose), { variant })
    assert.equal(response.status, 200, response.text)
    const usual = await app.user()
    const ordinary = await app.post('/login', { ...usual, id: undefined, variant }, from())
    assert.deepEqual(Object.keys(response.json()), Object.keys(ordinary.json()))
    assert.deepEqual([response.json().User.id, response.json().variant], [ann.id, variant])
    const [session = ''] = cookiesOf(response)
    const proof =
      variant === 'stateless'
        ? { authorization: `Bearer ${response.json().token}` }
        : { cookie: session }
    assert.equal((await app.get('/routeRestreinte', proof)).status, 200)
    await attack(guessPassword(ann))
    const device = variant === 'stateless' ? { deviceToken: response.json().deviceToken } : {}
    assert.equal(
      (await login(ann, { variant, ...device }, cookiesOf(response).join('; '))).status,
      200,
    )
    assert.equal((await login(ann, { variant })).status, 429, 'any other device waits')
  })

test('a link without a variant clears the guesses of strangers, and gives the browser a device cookie (A20)', async () => {
  const ann = await userFor('reset')
  await attack(guessPassword(ann))
  const response = await reset(await linkFor(ann))
  assert.deepEqual([response.status, response.text], [204, ''])
  const cookies = cookiesOf(response)
  assert.deepEqual(
    cookies.map((cookie) => cookie.split('=')[0]),
    ['__Host-carillon-device'],
  )
  assert.equal((await login(ann, {})).status, 200, 'on an unknown device, too')
  await attack(guessPassword(ann))
  assert.equal((await login(ann, {}, cookies.join('; '))).status, 200)
})

test('a link does not replace a second factor: 401 with a challenge, and a code then completes the sign-in under attack (A20)', async () => {
  const variant = 'stateful'
  const ann = await carefulUser(app)
  // The stranger knows the password of before, and guesses codes.
  const { username, password } = ann
  const first = async () =>
    (await app.post('/login', { username, password }, from())).json().error.challenge
  const challenge = await first()
  await attack(() => app.post('/login/second-factor', { challenge, code: '000000' }, from()))
  const response = await reset(await linkFor(ann), { variant })
  const { error } = response.json()
  assert.deepEqual([response.status, error.code], [401, 'SECOND_FACTOR_REQUIRED'])
  assert.deepEqual(error.factors, ['totp', 'recovery-code'])
  const cookies = cookiesOf(response).map((pair) => pair.split('=')[0])
  assert.deepEqual(cookies, ['__Host-carillon-device'])
  const step = { challenge: error.challenge, code: ann.app.code(app.now()) }
  assert.equal(
    (await app.post('/login/second-factor', step, from())).status,
    429,
    'a stranger waits',
  )
  const cookie = cookiesOf(response).join('; ')
  const done = await app.post('/login/second-factor', step, { ...from(), cookie })
  assert.deepEqual([done.status, done.json().variant], [200, variant], done.text)
})

test('link after link allows no more guesses of a second factor, on a device of whatever cookie (A9, A20)', async () => {
  const ann = await carefulUser(app)
  let evaluated = 0
  for (let n = 0; n < 4; n++) {
    const cookie = `__Host-carillon-device=${'A'.repeat(21)}${n}.${'A'.repeat(43)}`
    const response = await reset(await linkFor(ann), { variant: 'stateful' }, { ...from(), cookie })
    const { challenge } = response.json().error
    const headers = { cookie: cookiesOf(response).join('; ') }
    for (let guess = 0; guess < 5; guess++)
      // Without the cookie, the guess is a stranger's.
      for (const device of [headers, {}]) {
        const step = { challenge, code: '000000' }
        if ((await app.post('/login/second-factor', step, { ...from(), ...device })).status === 401)
          evaluated++
      }
  }
  assert.equal(evaluated, 10)
})

test('a passkey clears the guesses of strangers, of passwords and codes, and not those of a known device (A20)', async () => {
  const authenticator = new SoftwareAuthenticator({ origin })
  const ann = await app.user()
  const known = await app.post('/login', {
    username: ann.username,
    password: ann.password,
    variant: 'stateless',
  })
  const { deviceToken } = known.json()
  const passkey = await addPasskey(app, authenticator, ann, 'carillon.example')
  const ofDevice = { username: ann.username, password: 'plum orchard gate 42', deviceToken }
  await attack(guessPassword(ann))
  await attack(() => app.post('/login', ofDevice, from()))
  const response = authenticator.get(passkey, (await app.post('/login/passkey/options')).json())
  const signedIn = await app.post('/login/passkey', { response, variant: 'stateful' }, from())
  assert.equal(signedIn.status, 200, signedIn.text)
  assert.ok(cookiesOf(signedIn).some((cookie) => cookie.startsWith('__Host-carillon-device=')))
  const { username, password } = ann
  assert.equal(
    (await app.post('/login', { username, password }, from())).json().error.code,
    'SECOND_FACTOR_REQUIRED',
  )
  assert.equal((await app.post('/login', ofDevice, from())).status, 429)
})
