// Nothing lives longer than its lifetime and 60 s (R8).
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { createLog } from '../../../server/basics/log.ts'
import { disableUser, setPassword } from '../../../server/users/access/user-changes.store.ts'
import { EventReader } from '../../support/event-source/event-source.ts'
import { openForge } from '../../support/http/forge.ts'
import { type Proof, startTestService } from '../../support/service.ts'

const second = 1_000
const minute = 60_000
const hour = 3_600_000
const leeway = 60 * second

const app = await startTestService({
  env: {
    CARILLON_SESSION_IDLE: '20m',
    CARILLON_SESSION_LIFETIME: '50m',
    CARILLON_TOKEN_LIFETIME: '10m',
  },
})
const forge = await openForge(app)
after(() => app.stop())
beforeEach(() => app.setWallClock(0))

const request = async (proof: Proof) => (await app.get('/routeRestreinte', proof)).status
test('after the clock is set back by a day, a token expires in time, cached or not, and is not renewed (R8)', async () => {
  const user = await app.user()
  const remembered = await app.signIn(user, 'stateless')
  const fresh = { authorization: `Bearer ${await forge.token(forge.header, forge.claims(user))}` }
  assert.equal(await request(remembered), 200)
  app.setWallClock(-25 * hour)
  assert.equal(await request(remembered), 200)
  app.pass(9 * minute)
  assert.equal(await request(remembered), 200)
  app.pass(minute + second)
  assert.equal(await request(remembered), 401)
  assert.equal((await app.post('/token/renew', undefined, remembered)).status, 401)
  // This token lives for 15 minutes.
  app.pass(5 * minute)
  assert.equal(await request(fresh), 401)
})

test('after the clock is set back by a day, a session ends after its idle timeout, and after its lifetime even if used (R8)', async () => {
  const user = await app.user()
  const idle = await app.signIn(user, 'stateful')
  const used = await app.signIn(user, 'stateful')
  app.pass(second)
  app.setWallClock(-25 * hour)
  for (let passed = 0; passed < 45; passed += 15) {
    assert.equal(await request(used), 200)
    await app.noted()
    app.pass(15 * minute)
  }
  assert.equal(await request(idle), 401)
  assert.equal(await request(used), 200)
  app.pass(5 * minute + second)
  assert.equal(await request(used), 401)
})

test('after the clock is set back by an hour, a stream ends with its proof (R8)', async () => {
  const reader = await EventReader.of(app.url, await app.signIn(await app.user(), 'stateful'))
  app.setWallClock(-hour)
  app.pass(50 * minute + second)
  const { data } = await reader.next('session-ended')
  assert.deepEqual(data, { reason: 'expired' })
  await reader.ended()
})

test('after the clock is set back by an hour, a producer key expires in time (R8)', async () => {
  const { key } = await app.producerKey(['send'], app.now() + 10 * minute)
  const user = await app.user()
  const send = async () => {
    const body = { recipients: [{ username: user.username }], title: 'x' }
    return (await app.post('/api/notifications', body, { authorization: `Bearer ${key}` })).status
  }
  assert.equal(await send(), 201)
  app.setWallClock(-hour)
  app.pass(9 * minute)
  assert.equal(await send(), 201)
  app.pass(minute + second)
  assert.equal(await send(), 401)
})

test('a revocation that a command makes after the clock was set back stays in force as long as the tokens live (R8)', async () => {
  const user = await app.user()
  app.pass(second)
  app.setWallClock(-hour)
  const at = app.now() - hour
  const token = await app.signIn(user, 'stateless')
  const bystander = await app.signIn(await app.user(), 'stateless')
  await app.store.write(setPassword, {
    userId: user.id,
    passwordHash: 'other',
    at,
  })
  await app.refused(token)
  app.pass(9 * minute)
  // Each change signal reloads the revocations.
  const other = await app.user()
  await app.store.write(disableUser, { userId: other.id, at })
  assert.deepEqual([await request(token), await request(bystander)], [401, 200])
})

test('a revocation stays in force after the clock is set ahead and back, with a restart each time (R8)', async () => {
  const user = await app.user()
  const token = await app.signIn(user, 'stateless')
  await app.post('/logout', undefined, token)
  app.setWallClock(hour)
  await app.restart()
  await app.post('/logout', undefined, await app.signIn(user, 'stateless'))
  app.setWallClock(0)
  await app.restart()
  assert.equal(await request(token), 401)
})

test('after a restart with the clock set back by an hour, sessions last used in that hour have ended and are deleted (R8)', async () => {
  const user = await app.user()
  const long = await app.signIn(user, 'stateful')
  app.pass(10 * minute)
  const ahead = await app.signIn(user, 'stateful')
  app.pass(second)
  app.setWallClock(-5 * minute)
  await app.restart()
  // It was last used ten minutes ago; by the clock, five minutes ago.
  assert.equal(await request(ahead), 401)
  assert.equal(await request(long), 200)
  app.setWallClock(-leeway)
  await app.restart()
  assert.equal(await request(ahead), 401)
  const { session = [] } = await app.database.tables()
  assert.equal(session.filter(({ user_id }) => user_id === user.id).length, 1)
})

test('a clock that is set back by less than a minute before a restart ends no session', async () => {
  const session = await app.signIn(await app.user(), 'stateful')
  app.setWallClock(-leeway)
  await app.restart()
  assert.equal(await request(session), 200)
})

test('createdAt of a notification is the time of the wall clock, also after it was set back', async () => {
  const user = await app.user()
  const session = await app.signIn(user, 'stateful')
  app.setWallClock(-hour)
  await app.deliver({ to: user, title: 'x' })
  const { items } = await app.list(session)
  assert.equal(items[0]?.createdAt, new Date(app.now() - hour).toISOString())
})

test('a clock that is set back is logged once, with the difference and a remedy', async (t) => {
  const lines: { aheadMs: number; text: string }[] = []
  const log = await createLog({ level: 'silent', isTerminal: false })
  log.warn = ((fields: { aheadMs?: number }, text: string) => {
    if (fields.aheadMs !== undefined) lines.push({ aheadMs: fields.aheadMs, text })
  }) as typeof log.warn
  const own = await startTestService({ log })
  t.after(() => own.stop())
  const session = await own.signIn(await own.user(), 'stateful')
  own.setWallClock(-hour)
  for (let n = 0; n < 10; n++) await own.list(session)
  assert.deepEqual(
    lines.map(({ aheadMs }) => aheadMs),
    [hour],
  )
  assert.match(
    lines[0]?.text ?? '',
    /^The clock was set back.*restart every process.*timedatectl set-ntp true/,
  )
})
