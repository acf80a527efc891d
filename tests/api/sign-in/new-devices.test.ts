// "That was not me" ends a reported sign-in; then the password alone signs nobody in until it was
// replaced.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { noteDevice } from '../../../server/sessions/sign-ins.store.ts'
import { replaceOperation } from '../../../server/store/testing/operations.ts'
import { setPassword } from '../../../server/users/access/user-changes.store.ts'
import { findUser } from '../../../server/users/users.store.ts'
import {
  type Proof,
  startTestService,
  type TestService,
  type TestUser,
  variants,
} from '../../support/service.ts'

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0'
const chrome =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'

const publicUrl = 'https://bell.example.org/inbox'
const on = { CARILLON_NEW_DEVICE_NOTICES: 'on' }
const app = await startTestService({
  env: { ...on, CARILLON_PUBLIC_URL: publicUrl, CARILLON_TRUSTED_PROXIES: '127.0.0.1' },
})
const quiet = await startTestService({ env: { CARILLON_NEW_DEVICE_NOTICES: 'off' } })
after(() => Promise.all([app.stop(), quiet.stop()]))

type From = { userAgent?: string; address?: string; deviceToken?: string; cookies?: string }
type SignedIn = { proof: Proof; deviceToken: string; cookies: string }

function login(
  { username, password }: Omit<TestUser, 'id'>,
  variant: string,
  from: From = {},
  service: TestService = app,
) {
  const { userAgent = firefox, address = '192.0.2.1', deviceToken, cookies } = from
  const fields = {
    'user-agent': userAgent,
    'x-forwarded-for': address,
    ...(cookies !== undefined && { cookie: cookies }),
  }
  return service.post(
    '/login',
    { username, password, variant, ...(deviceToken !== undefined && { deviceToken }) },
    fields,
  )
}

async function signIn(
  user: TestUser,
  variant: string,
  from: From = {},
  service: TestService = app,
): Promise<SignedIn> {
  const response = await login(user, variant, from, service)
  assert.equal(response.status, 200, response.text)
  const [session = '', device = ''] = response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0] ?? '')
  if (variant === 'stateful')
    return { proof: { cookie: session }, deviceToken: '', cookies: device }
  const { token, deviceToken } = response.json()
  return { proof: { authorization: `Bearer ${token}` }, deviceToken, cookies: '' }
}

const notices = async ({ proof }: SignedIn, service = app) => (await service.list(proof)).items
/** On a busy machine the notification comes soon after the response. */
async function noticed(one: SignedIn, count: number, service = app) {
  const from = performance.now()
  for (;;) {
    const found = await notices(one, service)
    if (found.length >= count || performance.now() > from + 30_000) return found
    await sleep(5)
  }
}
const disown = (id: string, proof: Proof) =>
  app.post(`/api/me/sessions/${id}/disown`, undefined, {
    'user-agent': firefox,
    'x-forwarded-for': '192.0.2.1',
    ...proof,
  })
const ofDevice = ({ deviceToken, cookies }: SignedIn): From =>
  cookies === '' ? { deviceToken } : { cookies }

test('a sign-in whose password is being checked when another one is disowned does not begin', async () => {
  const user = await app.user()
  const variant = 'stateless'
  const own = await signIn(user, variant)
  const foreign = await signIn(user, variant, { userAgent: chrome, address: '203.0.113.7' })
  const [{ id }] = (await app.get('/api/me/sessions', foreign.proof)).json().data.items
  const restore = replaceOperation(app.store, noteDevice, async (_, run) => {
    restore()
    assert.equal((await disown(id, own.proof)).status, 200)
    return run()
  })
  const late = await login(user, variant, { userAgent: chrome, address: '203.0.113.7' })
  assert.equal(late.status, 401)
  assert.equal((await app.get('/api/me/sessions', own.proof)).json().data.items.length, 1)
})

test('a sign-in from a new device is reported with device, address, time and a link; the first is not (A24)', async () => {
  const user = await app.user()
  const variant = 'stateful'
  const first = await signIn(user, variant)
  assert.deepEqual(await notices(first), [])
  const second = await signIn(user, variant, { userAgent: chrome, address: '203.0.113.7' })
  const [notice, ...more] = await noticed(first, 1)
  assert.deepEqual(more, [])
  const found = (await app.get(`/api/notifications/${notice?.id}`, first.proof)).json().data
  const [own] = (await app.get('/api/me/sessions', second.proof)).json().data.items
  assert.deepEqual(
    [own.device, own.address, own.current],
    ['Chrome on Windows', '203.0.113.7', true],
  )
  assert.equal(found.url, `${publicUrl}/account#session-${own.id}`)
  assert.equal(found.title, 'New sign-in from Chrome on Windows')
  assert.match(
    found.body,
    /Chrome on Windows, from the address 203\.0\.113\.7\. If that was not you/,
  )
  assert.equal(found.category, 'security')
  assert.deepEqual(found.data, {
    sessionId: own.id,
    device: own.device,
    address: own.address,
    at: own.createdAt,
  })
  // From now on it is known.
  await signIn(user, variant, { userAgent: chrome, address: '203.0.113.7' })
  assert.equal((await notices(first)).length, 1)
})

for (const variant of variants) {
  test(`a ${variant} sign-in is not reported if its label and network, or its device token, are those of an earlier one`, async () => {
    const user = await app.user()
    const first = await signIn(user, variant, { address: '2001:db8:1:2::7' })
    await signIn(user, variant, { address: '2001:db8:1:2:ffff::9' })
    // The same browser on another network, and after an update to another label.
    await signIn(user, variant, { ...ofDevice(first), address: '198.51.100.1' })
    await signIn(user, variant, { ...ofDevice(first), userAgent: chrome, address: '198.51.100.2' })
    assert.deepEqual(await notices(first), [])
    // The token of another user's device is none.
    const other = await signIn(await app.user(), variant)
    await signIn(user, variant, { ...ofDevice(other), address: '198.51.100.3' })
    assert.equal((await noticed(first, 1)).length, 1)
  })

  test(`"That was not me" ends a ${variant} sign-in, and the password alone signs nobody in until it is replaced (A24)`, async () => {
    const user = await app.user()
    const own = await signIn(user, variant)
    const thief = await signIn(user, variant, { userAgent: chrome, address: '203.0.113.7' })
    const [notice] = await noticed(own, 1)
    const id = (await app.get(`/api/notifications/${notice?.id}`, own.proof)).json().data.data
      .sessionId
    const response = await disown(id, own.proof)
    assert.equal(response.status, 200, response.text)
    const { deviceToken, ...data } = response.json().data
    assert.deepEqual(data, { passwordChangeRequired: true })
    assert.equal((await app.get('/api/me', thief.proof)).status, 401)
    for (const path of ['/api/me', '/api/session'])
      assert.equal((await app.get(path, own.proof)).json().data.passwordChangeRequired, true)
    // The thief knows the password, and has a device token from before.
    for (const from of [{}, ofDevice(thief), ofDevice(own)]) {
      const refused = await login(user, variant, { userAgent: chrome, ...from })
      assert.deepEqual([refused.status, refused.json().error.code], [403, 'FORBIDDEN'])
      assert.match(refused.json().error.message, /new one/)
    }
    assert.equal((await login({ ...user, password: 'wrong orchard gate 41' }, variant)).status, 401)
    // The device that disowned is still known.
    const device = deviceToken ?? response.headers.getSetCookie()[0]?.split(';')[0]
    const from = variant === 'stateful' ? { cookies: device } : { deviceToken: device }
    assert.equal((await login(user, variant, from)).status, 200)
    const change = {
      userId: user.id,
      passwordHash: 'imported',
      at: app.now(),
    }
    await app.store.write(setPassword, change)
    assert.equal((await app.store.read(findUser, user.id))?.passwordReportedAt, null)
  })
}

test('a sign-in from a new device succeeds although its notification fails; the log says so, and the next sign-in is reported', async (t) => {
  const lines: string[] = []
  const log = pino({ level: 'error', base: null }, { write: (line: string) => lines.push(line) })
  const service = await startTestService({ log, env: on })
  t.after(() => service.stop())
  const user = await service.user()
  const first = await signIn(user, 'stateful', {}, service)
  const repair = await service.database.failInserts('notification', {
    userId: user.id,
    message: 'no room',
  })
  await signIn(user, 'stateless', { userAgent: chrome }, service)
  const isLogged = () =>
    lines.some((line) => line.includes('"new-device-not-notified"') && line.includes(user.id))
  while (!isLogged()) await sleep(5)
  assert.deepEqual(await notices(first, service), [])
  await repair()
  await signIn(user, 'stateless', { userAgent: chrome }, service)
  assert.equal((await noticed(first, 1, service)).length, 1)
})

test('CARILLON_NEW_DEVICE_NOTICES=off sends nothing', async () => {
  const user = await quiet.user()
  const first = await signIn(user, 'stateful', {}, quiet)
  await signIn(user, 'stateless', { userAgent: chrome }, quiet)
  assert.deepEqual(await notices(first, quiet), [])
})
