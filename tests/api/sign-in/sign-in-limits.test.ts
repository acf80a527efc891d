// One client with one account could fill the disk by the audit log (L1).
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { listAudit } from '../../../server/audit/audit.store.ts'
import { refusalIn } from '../../support/http/envelope.ts'
import { startTestService, type TestUser, type Variant } from '../../support/service.ts'
import { carefulUser } from '../../support/sign-in/authenticator.ts'

const app = await startTestService({ env: { CARILLON_TRUSTED_PROXIES: '127.0.0.1' } })
after(() => app.stop())

let networks = 0
/** Each `address(n)` is in another /56. */
function newNetwork(): (n: number) => string {
  const network = (++networks).toString(16)
  return (n) => `2001:db8:${network}:${(n % 256).toString(16)}00::1`
}

const signIn = ({ username, password }: TestUser, variant: Variant, address: string) =>
  app.post('/login', { username, password, variant }, { 'x-forwarded-for': address })
const eventsOf = async ({ id }: TestUser, event: string) =>
  (await app.store.read(listAudit, { userId: id, limit: 500 })).filter(
    (entry) => entry.event === event,
  ).length

test('right sign-ins of one account from one /48: 60 at once, and then one in 10 s; a refused one writes nothing (L1)', async () => {
  const variant = 'stateful'
  const ann = await app.user()
  const home = newNetwork()
  const work = newNetwork()
  for (let n = 0; n < 60; n++) assert.equal((await signIn(ann, variant, home(n))).status, 200)
  const refused = await signIn(ann, variant, home(60))
  assert.equal(refused.status, 429, refused.text)
  assert.equal(refusalIn(refused).code, 'TOO_MANY_REQUESTS')
  assert.equal(refused.headers.get('retry-after'), '10')
  assert.match(refused.text, /Too many sign-ins to this account from your network/)
  assert.deepEqual(refused.headers.getSetCookie(), [])
  assert.equal(await eventsOf(ann, 'sign-in'), 60)
  assert.equal((await signIn(ann, variant, work(0))).status, 200, 'another network')
  assert.equal((await signIn(await app.user(), variant, home(0))).status, 200, 'another account')
  const wrong = await signIn({ ...ann, password: 'not the password of ann' }, variant, home(0))
  assert.equal(wrong.status, 401, 'a wrong proof learns nothing of the limit')
  await app.restart()
  assert.equal((await signIn(ann, variant, home(1))).status, 429, 'the nodes share the count')
  app.pass(10_000)
  assert.equal((await signIn(ann, variant, home(2))).status, 200)
  assert.equal((await signIn(ann, variant, home(3))).status, 429)
})

test('an IPv4 address is a network of its own, and right passwords that are refused are no failures (L1)', async () => {
  const ann = await app.user()
  for (let n = 0; n < 60; n++)
    assert.equal((await signIn(ann, 'stateless', '192.0.2.1')).status, 200)
  for (let n = 0; n < 20; n++)
    assert.equal((await signIn(ann, 'stateless', '192.0.2.1')).status, 429)
  assert.equal(
    (await signIn(ann, 'stateless', '192.0.2.2')).status,
    200,
    'the account is not delayed',
  )
})

test('a sign-in with a second factor counts at its first step: a refused one writes no challenge (L1)', async () => {
  const user = await carefulUser(app)
  const address = newNetwork()
  for (let n = 0; n < 60; n++)
    assert.equal((await signIn(user, 'stateful', address(n))).status, 401)
  const demanded = await eventsOf(user, 'second-factor-required')
  const refused = await signIn(user, 'stateful', address(0))
  assert.equal(refused.status, 429, refused.text)
  assert.equal(await eventsOf(user, 'second-factor-required'), demanded)
})

test('a one-time link signs in beyond the limit of passwords, and counts for nothing (L1, A20)', async () => {
  const ann = await app.user()
  const address = newNetwork()
  const producer = { authorization: `Bearer ${(await app.producerKey(['users'])).key}` }
  const reset = async (newPassword: string) => {
    const { url } = (
      await app.post(`/api/users/${ann.id}/links`, { purpose: 'reset' }, producer)
    ).json().data
    const body = { token: url.split('#')[1], newPassword, variant: 'stateless' }
    return app.post('/password/reset', body, { 'x-forwarded-for': address(0) })
  }
  for (let n = 0; n < 60; n++)
    assert.equal((await signIn(ann, 'stateless', address(n))).status, 200)
  assert.equal((await signIn(ann, 'stateless', address(0))).status, 429)
  for (const password of ['grey heron over the weir', 'nine white storks on it'])
    assert.equal((await reset(password)).status, 200)
})
