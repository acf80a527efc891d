// Tokens are revoked by a counter (T7): a new password or disabling a user raises the user's credential generation, and every
// token with a lower one is refused, even if the clocks of two nodes differ.
import assert from 'node:assert/strict'
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { decodeJwt } from 'jose'
import { madeAt } from '../../../server/ids.ts'
import { Passwords } from '../../../server/sign-in/password/passwords.ts'
import { setPassword } from '../../../server/sign-in/users/users.ts'
import { makeOlderDatabase } from '../../../server/store/transfer/testing/older-database.ts'
import { openForge } from '../../support/http/forge.ts'
import { engine } from '../../support/network/database-behind.ts'
import { type Proof, startTestService, type TestUser } from '../../support/service.ts'

const minute = 60_000
const another = 'another orchard gate 42'

const app = await startTestService()
const forge = await openForge(app)
after(() => app.stop())

const request = async (proof: Proof) => (await app.get('/routeRestreinte', proof)).status
const bearer = (token: string): Proof => ({ authorization: `Bearer ${token}` })
const claimsOf = ({ authorization = '' }: Proof) => decodeJwt(authorization.slice('Bearer '.length))
const renew = (proof: Proof) => app.post('/token/renew', undefined, proof)
const renewed = async (proof: Proof) => bearer((await renew(proof)).json().token)
/** Does it as a node with a clock `aheadMs` ahead of the service's (negative: behind it). */
const changes = {
  'a password': ({ id }: TestUser, aheadMs: number) =>
    app.store.setPassword({ userId: id, passwordHash: 'other', ...momentAt(aheadMs) }),
  'disabling the user': ({ id }: TestUser, aheadMs: number) =>
    app.store.disableUser({ userId: id, ...momentAt(aheadMs) }),
}
const momentAt = (aheadMs: number) => {
  const at = app.now() + aheadMs
  return { at, revocationExpiresAt: at + 16 * minute }
}
const users = () => ({
  store: app.store,
  passwords: new Passwords({ threads: 4 }),
  passwordMinLength: 15,
  now: app.now,
})
/** A token as the previous version issued it, without a generation. */
const issuedBefore = async (user: TestUser) => bearer(await forge.token(forge.header, forge.claims(user)))

for (const [name, change] of Object.entries(changes))
  for (const aheadMs of [-90_000, -1_500, 0, 1_500])
    test(`${name} on a node whose clock is ${aheadMs} ms ahead revokes every earlier token, also renewed ones (T7)`, async () => {
      const user = await app.user()
      const first = await app.signIn(user, 'stateless')
      const tokens = [first, await renewed(first), await app.signIn(user, 'stateless')]
      const bystander = await app.signIn(await app.user(), 'stateless')
      await change(user, aheadMs)
      for (const token of tokens) await app.refused(token)
      for (const token of tokens) assert.equal((await renew(token)).status, 401)
      assert.equal(await request(bystander), 200)
      await app.restart()
      for (const token of tokens) assert.equal(await request(token), 401)
    })

for (const aheadMs of [-1_500, 0, 1_500, 90_000])
  test(`a sign-in with a password that a node ${aheadMs} ms ahead has just set is valid (T7)`, async () => {
    const user = await app.user()
    const before = await app.signIn(user, 'stateless')
    const ahead = { ...users(), now: () => app.now() + aheadMs }
    await setPassword(ahead, { username: user.username, password: another })
    const token = await app.signIn({ ...user, password: another }, 'stateless')
    await app.refused(before)
    assert.equal(await request(token), 200)
    assert.equal(await request(await renewed(token)), 200)
  })

test('a sign-in whose password changes during its check yields no valid token (T7)', async () => {
  const user = await app.user()
  const { store } = app
  const { findCredentials } = store
  const [read, changed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  store.findCredentials = async (name) => {
    const found = await findCredentials.call(store, name)
    read.resolve()
    // For as long as it waits in the hash queue.
    await changed.promise
    return found
  }
  const { username, password } = user
  const waiting = [0, 1, 2].map(() => app.post('/login', { username, password, variant: 'stateless' }))
  await read.promise
  store.findCredentials = findCredentials
  app.pass(1_000)
  await setPassword(users(), { username, password: another })
  // By the clock, the sign-in is later than the change.
  app.pass(1_000)
  changed.resolve()
  for (const response of await Promise.all(waiting)) {
    if (response.status === 401) assert.equal(response.json().error.code, 'INVALID_CREDENTIALS')
    else await app.refused(bearer(response.json().token))
  }
  assert.equal(await request(await app.signIn({ username, password: another }, 'stateless')), 200)
})

test('a renewed token has the generation of its sign-in, not the current one (T7)', async () => {
  const user = await app.user()
  const token = await app.signIn(user, 'stateless')
  assert.equal(claimsOf(token).gen, 0)
  assert.equal(claimsOf(await renewed(token)).gen, 0)
  await setPassword(users(), { username: user.username, password: another })
  assert.equal(claimsOf(await app.signIn({ ...user, password: another }, 'stateless')).gen, 1)
})

test('a token is not renewed if the user’s row shows a change that this node has not received: new password, restore, disabled (T7)', async () => {
  const unheard = [
    'credential_generation = credential_generation + 1',
    'credential_generation = credential_generation - 1',
    `disabled_at = ${app.now()}`,
  ]
  for (const change of unheard) {
    const user = await app.user()
    await setPassword(users(), { username: user.username, password: user.password })
    const token = await app.signIn(user, 'stateless')
    await app.database.change(`update "user" set ${change} where id = '${user.id}'`)
    assert.equal(await request(token), 200)
    assert.equal((await renew(token)).status, 401, change)
  }
})

test('a sign-out revokes by the id of the sign-in, not by time: a token dated later is refused, another sign-in is not', async () => {
  const user = await app.user()
  const [mine, other] = [await app.signIn(user, 'stateless'), await app.signIn(user, 'stateless')]
  const { sid } = claimsOf(mine)
  const signedInAt = madeAt(String(sid))
  await app.store.revokeTokens({
    userId: user.id,
    signInId: String(sid),
    notBefore: signedInAt - 90_000,
    expiresAt: app.now() + 16 * minute,
  })
  await app.refused(mine)
  assert.equal(await request(other), 200)
})

test('a token of the previous version stays valid, can be renewed, and is revoked by the time of its sign-in (T7)', async () => {
  const user = await app.user()
  const old = await issuedBefore(user)
  assert.equal(await request(old), 200)
  const next = await renewed(old)
  assert.equal('gen' in claimsOf(next), false)
  assert.equal(await request(next), 200)
  await setPassword(users(), { username: user.username, password: another })
  for (const token of [old, next]) await app.refused(token)
  app.pass(1_000)
  // A node of the previous version signs in with the new password, and a new node renews that token.
  const later = await issuedBefore(user)
  assert.equal(await request(later), 200)
  assert.equal(await request(await renewed(later)), 200)
})

test('a token with a generation that is not a whole number from 0 is refused', async () => {
  const user = await app.user()
  for (const gen of [0, 7]) {
    const token = await forge.token(forge.header, { ...forge.claims(user), gen })
    assert.equal(await request(bearer(token)), 200)
  }
  for (const gen of [-1, 1.5, '0', null, true, [0], 2 ** 53]) {
    const token = await forge.token(forge.header, { ...forge.claims(user), gen })
    assert.equal(await request(bearer(token)), 401, JSON.stringify(gen))
  }
})

/** What the migrations after 0002 added to PostgreSQL. */
const later = [
  ...['external_id', 'issuer', 'locale', 'email', 'issued_generation'].map((column) => ['user', column]),
  ...['email_verified_at', 'device_generation', 'password_reported_at'].map((column) => ['user', column]),
  ...['sign_in_id', 'device', 'address', 'confirmed_at', 'has_tokens'].map((column) => ['session', column]),
  ...['old_hash_1', 'old_hash_2', 'old_hash_3', 'secret_used_at'].map((column) => ['session', column]),
  ['token_cutoff', 'except_sign_in_id'],
  ...['starts_at', 'retired_at'].map((column) => ['signing_key', column]),
  ...['previous_secret_hash', 'previous_until', 'application'].map((column) => ['producer', column]),
  ...['count', 'updated_at', 'unread_version'].map((column) => ['notification', column]),
  ...['read_version', 'marked_unread', 'undo_version', 'reset_version', 'category_through'].map((column) => [
    'inbox',
    column,
  ]),
  ...['before_through', 'before_version', 'made_read', 'categories'].map((column) => ['read_mark', column]),
  ['inbox_category', 'made_read'],
]
const laterTables = [
  ...['known_device', 'guess_count', 'one_time_link', 'factor', 'recovery_code', 'challenge', 'provider_account'],
  ...['audit', 'history', 'category_read_mark'],
]
const laterIndexes = [
  ...['user_by_email', 'user_of_application'],
  ...['user_by_external_id', 'notification_marked_unread', 'notification_unread_by_category', 'read_mark_by_seq'],
  ...['notification_read_by_category', 'notification_read'],
]

const toFirstSchema = `${laterIndexes.map((name) => `drop index ${name};`).join('')} alter table "user" drop column credential_generation;
     alter table token_cutoff drop column first_generation;
     ${laterTables.map((name) => `drop table ${name};`).join('')}
     ${later.map(([table, column]) => `alter table "${table}" drop column ${column};`).join('')}
     create unique index read_mark_by_seq on read_mark (user_id, through_seq);
     delete from kysely_migration where name > '0001-start'`

async function toFirstSqliteSchema(t: TestContext): Promise<void> {
  await app.database.close()
  const [file, older] = ['carillon.db', 'older.db'].map((name) => join(app.dir, name)) as [string, string]
  await makeOlderDatabase(t, older, { schema: '0001-start', from: `sqlite:${file}` })
  renameSync(older, file)
}

test('a database of the previous version is migrated at the start, and no user is signed out (T7)', async (t) => {
  const user = await app.user()
  const [old, ended] = [await issuedBefore(user), await issuedBefore(user)]
  const session = await app.signIn(user, 'stateful')
  await app.post('/logout', undefined, ended)
  await app.restart(() => (engine === 'sqlite' ? toFirstSqliteSchema(t) : app.database.change(toFirstSchema)))
  assert.deepEqual(await Promise.all([session, old, ended].map(request)), [200, 200, 401])
  const token = await app.signIn(user, 'stateless')
  await setPassword(users(), { username: user.username, password: another })
  for (const proof of [old, token]) await app.refused(proof)
  assert.equal(await request(session), 401)
})
