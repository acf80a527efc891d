// When is a second factor demanded, and what completes the sign-in (A17, A18)?
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { factorsOf, useRecoveryCode } from '../../../server/factors/factors.store.ts'
import { replaceOperation } from '../../../server/store/testing/operations.ts'
import { setPassword } from '../../../server/users/access/user-changes.store.ts'
import { startTestService, type Variant } from '../../support/service.ts'
import { carefulUser, challengeOf, signInWithCode } from '../../support/sign-in/authenticator.ts'

const app = await startTestService()
after(() => app.stop())

const minute = 60_000
const complete = (body: object) => app.post('/login/second-factor', body)
async function refusal(response: ReturnType<typeof complete>) {
  const { status, json } = await response
  return [status, json().error?.code]
}
const wrong = [401, 'INVALID_CREDENTIALS']
const ended = [401, 'UNAUTHORIZED']

test('the password alone signs no user with a factor in; a code completes the sign-in (A17)', async () => {
  const variant = 'stateless'
  const user = await carefulUser(app)
  const { username, password } = user
  const first = await app.post('/login', { username, password, variant })
  assert.deepEqual(first.headers.getSetCookie(), [])
  const { challenge, factors, ...error } = first.json().error
  assert.deepEqual([first.status, error.code, error.status], [401, 'SECOND_FACTOR_REQUIRED', 401])
  assert.match(challenge, new RegExp(`^${user.id}\\.[\\w-]{43}$`))
  assert.deepEqual(factors, ['totp', 'recovery-code'])
  const second = await complete({ challenge, code: user.app.code(app.now()) })
  assert.equal(second.status, 200, second.text)
  const plain = await app.user()
  const usual = (await app.post('/login', { ...plain, id: undefined, variant })).json()
  assert.deepEqual(Object.keys(second.json()), Object.keys(usual))
  assert.deepEqual([second.json().User.id, second.json().variant], [user.id, variant])
  const proof = { authorization: `Bearer ${second.json().token}` }
  assert.equal((await app.get('/routeRestreinte', proof)).status, 200)
})

test('a code is accepted once, also at another challenge and in the other variant (A17)', async () => {
  const user = await carefulUser(app)
  const one = await challengeOf(app, user, 'stateful')
  const two = await challengeOf(app, user, 'stateless')
  const code = user.app.code(app.now())
  assert.equal((await complete({ challenge: one, code })).status, 200)
  assert.deepEqual(await refusal(complete({ challenge: two, code })), wrong)
  assert.deepEqual(
    await refusal(complete({ challenge: two, code: user.app.code(app.now(), -1) })),
    wrong,
  )
  assert.equal((await complete({ challenge: two, code: user.app.code(app.now(), 1) })).status, 200)
})

test('a challenge completes one sign-in, within five minutes (A18)', async () => {
  const user = await carefulUser(app)
  const challenge = await challengeOf(app, user, 'stateful')
  const late = await challengeOf(app, user, 'stateful')
  assert.equal((await complete({ challenge, code: user.app.code(app.now()) })).status, 200)
  app.pass(minute)
  assert.deepEqual(await refusal(complete({ challenge, code: user.app.code(app.now()) })), ended)
  app.pass(4 * minute - 1)
  const before = user.app.code(app.now(), 1)
  app.pass(1)
  assert.deepEqual(await refusal(complete({ challenge: late, code: before })), ended)
  // Nothing was used up: the code works at a challenge that has not expired.
  assert.equal(
    (await complete({ challenge: await challengeOf(app, user, 'stateful'), code: before })).status,
    200,
  )
})

test('a wrong code does not end the challenge, and changes nothing', async () => {
  const user = await carefulUser(app)
  const challenge = await challengeOf(app, user, 'stateless')
  assert.deepEqual(
    await refusal(complete({ challenge, code: user.app.wrongCode(app.now()) })),
    wrong,
  )
  assert.deepEqual(
    await refusal(complete({ challenge, recoveryCode: 'aaaa-bbbb-cccc-dddd-eeee-ffff' })),
    wrong,
  )
  assert.equal((await complete({ challenge, code: user.app.code(app.now()) })).status, 200)
})

test("another user's challenge, code or recovery code completes no sign-in (A18)", async () => {
  const ann = await carefulUser(app)
  const eve = await carefulUser(app)
  const challenge = await challengeOf(app, ann, 'stateful')
  assert.deepEqual(await refusal(complete({ challenge, code: eve.app.code(app.now()) })), wrong)
  assert.deepEqual(
    await refusal(complete({ challenge, recoveryCode: eve.recoveryCodes[0] })),
    wrong,
  )
  const [, secret = ''] = challenge.split('.')
  const foreign = [
    `${eve.id}.${secret}`,
    `.${secret}`,
    secret,
    'x',
    `${challenge}a`,
    challenge.toUpperCase(),
  ]
  for (const text of foreign)
    assert.deepEqual(
      await refusal(complete({ challenge: text, code: eve.app.code(app.now()) })),
      ended,
      text,
    )
  const own = await challengeOf(app, eve, 'stateful')
  assert.equal((await complete({ challenge: own, code: eve.app.code(app.now()) })).status, 200)
})

test('a recovery code completes a sign-in once, however it is typed; only hashes are stored (A18)', async () => {
  const user = await carefulUser(app)
  const [first = '', second = ''] = user.recoveryCodes
  const use = async (recoveryCode: string, variant: Variant) =>
    complete({ challenge: await challengeOf(app, user, variant), recoveryCode })
  assert.equal((await use(first, 'stateful')).status, 200)
  assert.deepEqual(await refusal(use(first, 'stateless')), wrong)
  assert.equal((await use(second.toUpperCase().replaceAll('-', ' '), 'stateless')).status, 200)
  const stored = JSON.stringify(
    await app.database.rows(`select * from recovery_code where user_id = '${user.id}'`),
  )
  for (const code of user.recoveryCodes)
    for (const text of [code, code.replaceAll('-', '')]) assert.ok(!stored.includes(text))
})

test('of the same code, or of one challenge, sent at the same time, exactly one signs in (A17, A18)', async () => {
  const user = await carefulUser(app)
  const challenges = await Promise.all(
    Array.from({ length: 4 }, () => challengeOf(app, user, 'stateless')),
  )
  const code = user.app.code(app.now())
  const byCode = await Promise.all(challenges.map((one) => complete({ challenge: one, code })))
  assert.equal(byCode.filter(({ status }) => status === 200).length, 1)
  const challenge = await challengeOf(app, user, 'stateless')
  const [first, second] = user.recoveryCodes
  const restore = replaceOperation(app.store, useRecoveryCode, async (_, run) => {
    restore()
    assert.equal((await complete({ challenge, recoveryCode: second })).status, 200)
    return run()
  })
  assert.deepEqual(await refusal(complete({ challenge, recoveryCode: first })), ended)
  const left = await app.store.read(factorsOf, user.id)
  assert.equal(left.recoveryCodesLeft, 9)
})

test('a new password ends a sign-in that waits for its second factor (A18)', async () => {
  const user = await carefulUser(app)
  const challenge = await challengeOf(app, user, 'stateless')
  await app.store.write(setPassword, { userId: user.id, passwordHash: 'another', at: app.now() })
  assert.deepEqual(await refusal(complete({ challenge, code: user.app.code(app.now()) })), ended)
  assert.deepEqual(
    await refusal(complete({ challenge, recoveryCode: user.recoveryCodes[0] })),
    ended,
  )
})

test('guesses of a code are counted, and a right password does not take them back (A9)', async () => {
  const user = await carefulUser(app)
  const guess = async (code: string) =>
    complete({ challenge: await challengeOf(app, user, 'stateless'), code })
  for (let n = 0; n < 5; n++)
    assert.deepEqual(await refusal(guess(user.app.wrongCode(app.now()))), wrong)
  const delayed = await guess(user.app.code(app.now()))
  assert.equal(delayed.status, 429, delayed.text)
  assert.match(delayed.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
  app.pass(30_000)
  assert.equal((await guess(user.app.code(app.now()))).status, 200)
})

test('the sign-in ends what the request presents, as every sign-in', async () => {
  const user = await carefulUser(app)
  const earlier = await signInWithCode(app, user, 'stateful')
  app.pass(30_000)
  const challenge = await challengeOf(app, user, 'stateful')
  const body = { challenge, code: user.app.code(app.now()) }
  assert.equal((await app.post('/login/second-factor', body, earlier)).status, 200)
  assert.equal((await app.get('/routeRestreinte', earlier)).status, 401)
})
