import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { listAudit } from '../../../server/audit/audit.store.ts'
import { hashOf } from '../../../server/basics/secrets.ts'
import { addLink, resetPassword } from '../../../server/links/links.store.ts'
import { linkProviderAccount } from '../../../server/providers/provider-accounts.store.ts'
import { replaceOperation } from '../../../server/store/testing/operations.ts'
import { disableUser, setPassword } from '../../../server/users/access/user-changes.store.ts'
import { findCredentials, findUser } from '../../../server/users/users.store.ts'
import { type Proof, startTestService, type TestUser, variants } from '../../support/service.ts'

const app = await startTestService()
after(() => app.stop())
const { key } = await app.producerKey(['users'])
const producer = { authorization: `Bearer ${key}` }
const newPassword = 'grey heron over the weir'

type Wanted = { returnTo?: string; lifetime?: number; mailedTo?: string }
type Made = { url: string; expiresAt: string }

function request({ id }: Pick<TestUser, 'id'>, purpose: string, wanted: Wanted = {}) {
  return app.post(`/api/users/${id}/links`, { purpose, ...wanted }, producer)
}

async function linkFor(
  user: Pick<TestUser, 'id'>,
  purpose = 'reset',
  wanted: Wanted = {},
): Promise<Made> {
  const response = await request(user, purpose, wanted)
  assert.equal(response.status, 201, response.text)
  return response.json().data
}

let names = 0
/** The user has no way to sign in yet. */
async function invited(profile: object = {}): Promise<{ id: string; username: string }> {
  const response = await app.post(
    '/api/users',
    { username: `invited-${++names}`, ...profile },
    producer,
  )
  assert.equal(response.status, 201, response.text)
  return response.json().data
}

const tokenOf = ({ url }: { url: string }) => url.split('#')[1] ?? ''
const reset = (token: unknown, password: unknown = newPassword) =>
  app.post('/password/reset', { token, newPassword: password })

async function canSignIn({ username }: TestUser, password: string): Promise<boolean> {
  return (await app.post('/login', { username, password })).status === 200
}

async function isInvalid(token: string): Promise<void> {
  const response = await reset(token)
  assert.deepEqual(
    [response.status, response.json().error.code],
    [422, 'LINK_INVALID'],
    response.text,
  )
}

test('a link is the public URL with the purpose and 43 characters, and no other run is as long; one to reset is valid for 15 minutes, an invitation for 7 days', async () => {
  const ann = await invited()
  for (const [purpose, lifetime] of [
    ['reset', 15 * 60_000],
    ['invite', 7 * 86_400_000],
  ] as const) {
    const { url, expiresAt } = await linkFor(ann, purpose)
    assert.match(url, new RegExp(`^${app.url}/${purpose}#[\\w-]{43}$`))
    assert.equal(url.match(/[\w-]{43,}/g)?.length, 1)
    assert.equal(Date.parse(expiresAt), app.now() + lifetime)
  }
})

test('an application chooses how long a link is valid, up to 7 days', async () => {
  const ann = await invited()
  for (const [purpose, lifetime] of [
    ['reset', 3_600],
    ['invite', 604_800],
  ] as const) {
    const { expiresAt } = await linkFor(ann, purpose, { lifetime })
    assert.equal(Date.parse(expiresAt), app.now() + lifetime * 1_000)
    for (const wrong of [0, 604_801, 1.5])
      assert.equal((await request(ann, purpose, { lifetime: wrong })).status, 400)
  }
})

test('a link sets the password once, and every session and token of the user ends (A13, A19)', async () => {
  const ann = await app.user()
  const proofs: Proof[] = [await app.issueToken(ann)]
  for (const variant of variants) proofs.push(await app.signIn(ann, variant))
  const token = tokenOf(await linkFor(ann))
  const response = await reset(token)
  assert.deepEqual([response.status, response.text], [204, ''])
  for (const proof of proofs) assert.equal((await app.get('/api/me', proof)).status, 401)
  assert.ok(await canSignIn(ann, newPassword))
  assert.ok(!(await canSignIn(ann, ann.password)))
  await isInvalid(token)
  assert.equal((await app.store.read(findUser, ann.id))?.deviceGeneration, 1)
})

test('of many uses of one link at the same time one sets the password (A19)', async () => {
  const ann = await app.user()
  const token = tokenOf(await linkFor(ann))
  const passwords = Array.from({ length: 8 }, (_, n) => `${newPassword}, number ${n}`)
  const statuses = await Promise.all(
    passwords.map(async (password) => (await reset(token, password)).status),
  )
  assert.deepEqual(statuses.toSorted(), [204, ...Array(7).fill(422)])
  assert.ok(await canSignIn(ann, passwords[statuses.indexOf(204)] as string))
})

test('a link that is superseded while it is used sets no password (A19)', async () => {
  const ann = await app.user()
  const token = tokenOf(await linkFor(ann))
  const restore = replaceOperation(app.store, resetPassword, async (_, run) => {
    restore()
    for (let n = 0; n < 3; n++) await linkFor(ann)
    return run()
  })
  await isInvalid(token)
  assert.ok(await canSignIn(ann, ann.password))
})

test('a used, expired, superseded, unknown, foreign or malformed link gets one and the same answer, and changes nothing (A19)', async () => {
  const ann = await app.user()
  const used = tokenOf(await linkFor(ann))
  assert.equal((await reset(used, ann.password)).status, 204)
  const superseded = tokenOf(await linkFor(ann))
  for (let n = 0; n < 2; n++) await linkFor(ann)
  const expired = tokenOf(await linkFor(ann))
  app.pass(15 * 60_000)
  const voided = tokenOf(await linkFor(ann))
  const change = { userId: ann.id, at: app.now() }
  const { passwordHash } = (await app.store.read(findCredentials, ann.username)) ?? assert.fail()
  await app.store.write(setPassword, { ...change, passwordHash })
  const foreign = 'x'.repeat(43)
  const malformed = [
    '',
    'x',
    `${used}x`,
    used.slice(1),
    `${foreign}\n`,
    `#${foreign}`,
    'ä'.repeat(43),
    'x'.repeat(2_000),
  ]
  const texts = new Set<string>()
  for (const token of [used, superseded, expired, voided, foreign, ...malformed]) {
    await isInvalid(token)
    const { message, status, details } = (await reset(token)).json().error
    texts.add(JSON.stringify({ message, status, details }))
  }
  assert.equal(texts.size, 1)
  assert.ok(await canSignIn(ann, ann.password))
})

const read = (token: unknown) => app.post('/password/link', { token })

test('a link says its username and purpose, and stays usable until it has set the password (A19)', async () => {
  for (const purpose of ['reset', 'invite']) {
    const ann = await invited()
    const link = await linkFor(ann, purpose)
    for (let n = 0; n < 2; n++) {
      const response = await read(tokenOf(link))
      const data = { username: ann.username, purpose, expiresAt: link.expiresAt }
      assert.deepEqual([response.status, response.json()], [200, { success: true, data }])
      assert.deepEqual(response.headers.getSetCookie(), [])
    }
    assert.equal((await reset(tokenOf(link))).status, 204)
    assert.equal((await read(tokenOf(link))).json().error.code, 'LINK_INVALID')
  }
})

test('a used, expired, unknown or malformed link, and one of a disabled user, says nothing of a user (A19)', async () => {
  const ann = await app.user()
  const disabled = await app.user()
  const expired = tokenOf(await linkFor(ann))
  app.pass(15 * 60_000)
  const ofDisabled = tokenOf(await linkFor(disabled))
  await app.store.write(disableUser, { userId: disabled.id, at: app.now() })
  const { message } = (await reset('x'.repeat(43))).json().error
  for (const token of [expired, ofDisabled, 'x'.repeat(43), '', 'x'.repeat(2_000)]) {
    const response = await read(token)
    assert.deepEqual(
      [response.status, response.json().error.code],
      [422, 'LINK_INVALID'],
      response.text,
    )
    assert.equal(response.json().error.message, message)
  }
  assert.equal((await app.post('/password/link', {})).status, 400)
})

test('a password that is refused leaves the link usable, and the refusal has its code', async () => {
  const ann = await app.user('wendy-harbour')
  const token = tokenOf(await linkFor(ann))
  const refused = {
    too_short: 'short',
    too_long: 'violet otter '.repeat(30),
    too_common: 'password12345678',
    contains_name: 'wendy-harbour-1',
  }
  for (const [code, password] of [
    ...Object.entries(refused),
    ['too_short', ''],
    ['too_long', 'é'.repeat(4_000)],
  ]) {
    const response = await reset(token, password)
    assert.equal(response.status, 400, response.text)
    const [fault] = response.json().error.details
    assert.deepEqual([fault.field, fault.code], ['newPassword', code])
  }
  assert.equal((await reset(token)).status, 204)
})

test('a link of a disabled user sets no password, and does not enable the user', async () => {
  const ann = await app.user()
  const token = tokenOf(await linkFor(ann))
  await app.store.write(disableUser, { userId: ann.id, at: app.now() })
  await isInvalid(token)
  const response = await app.post(`/api/users/${ann.id}/links`, { purpose: 'reset' }, producer)
  assert.deepEqual([response.status, response.json().error.code], [409, 'CONFLICT'])
})

test('a user without a username gets no link, and the answer says what to do', async () => {
  const put = {
    method: 'PUT',
    headers: { ...producer, 'content-type': 'application/json' },
    body: '{}',
  }
  await app.request('/api/users/external/c-42', put)
  const response = await app.post('/api/users/external/c-42/links', { purpose: 'invite' }, producer)
  assert.deepEqual([response.status, response.json().error.code], [409, 'CONFLICT'])
  assert.match(response.json().error.message, /has no username.*PATCH/)
})

test('links are requested by external id too, with scope users alone, and for known users', async () => {
  await app.post('/api/users', { username: 'lee', externalId: 'c-43' }, producer)
  const made = await app.post('/api/users/external/c-43/links', { purpose: 'invite' }, producer)
  assert.equal(made.status, 201)
  const other = { authorization: `Bearer ${(await app.producerKey(['send'])).key}` }
  assert.equal(
    (await app.post('/api/users/external/c-43/links', { purpose: 'invite' }, other)).status,
    403,
  )
  assert.equal(
    (await app.post('/api/users/external/none/links', { purpose: 'invite' }, producer)).status,
    404,
  )
  assert.equal(
    (await app.post('/api/users/external/c-43/links', { purpose: 'other' }, producer)).status,
    400,
  )
  assert.equal((await reset(tokenOf(made.json().data))).status, 204)
  assert.equal((await app.post('/login', { username: 'lee', password: newPassword })).status, 200)
})

test('a setting names the lifetime, and pages of the application; a used one has no token in the store', async () => {
  const env = {
    CARILLON_LINK_LIFETIME: '1h',
    CARILLON_INVITE_LIFETIME: '1d',
    CARILLON_RESET_PAGE: 'https://app.example.org/password',
  }
  const other = await startTestService({ env })
  try {
    const ann = await other.user()
    const headers = { authorization: `Bearer ${(await other.producerKey(['users'])).key}` }
    const { data } = (
      await other.post(`/api/users/${ann.id}/links`, { purpose: 'reset' }, headers)
    ).json()
    assert.match(data.url, /^https:\/\/app\.example\.org\/password#[\w-]{43}$/)
    assert.equal(Date.parse(data.expiresAt), other.now() + 3_600_000)
    const { id } = (await other.post('/api/users', { username: 'invited' }, headers)).json().data
    const invite = (
      await other.post(`/api/users/${id}/links`, { purpose: 'invite' }, headers)
    ).json().data
    assert.match(invite.url, new RegExp(`^${other.url}/invite#`))
    assert.equal(Date.parse(invite.expiresAt), other.now() + 86_400_000)
  } finally {
    await other.stop()
  }
})

test('an invitation is refused for a user who can sign in (409)', async () => {
  const withPassword = await app.user()
  const refusal = await request(withPassword, 'invite')
  assert.deepEqual([refusal.status, refusal.json().error.code], [409, 'CONFLICT'])
  assert.match(refusal.json().error.message, /can sign in already.*reset/)
  const ann = await invited()
  const token = tokenOf(await linkFor(ann, 'invite'))
  const account = { issuer: 'https://id.example.org', subject: ann.id, email: null, at: app.now() }
  assert.equal(await app.store.write(linkProviderAccount, { ...account, userId: ann.id }), 'done')
  assert.equal((await reset(token)).status, 409, 'when it is used')
})

test('`returnTo` has to be an allowed place when the link is made and when it is used, and is in no URL (P1)', async () => {
  const shop = 'https://shop.example.org'
  const other = await startTestService({ env: { CARILLON_ALLOWED_ORIGINS: shop } })
  try {
    const ann = await other.user()
    const headers = { authorization: `Bearer ${(await other.producerKey(['users'])).key}` }
    const make = (returnTo: unknown) =>
      other.post(`/api/users/${ann.id}/links`, { purpose: 'reset', returnTo }, headers)
    for (const wrong of [
      'https://evil.example',
      '//evil.example',
      'javascript:alert(1)',
      `${shop}.evil.example/`,
      '/\\evil',
      '',
    ]) {
      const response = await make(wrong)
      assert.deepEqual(
        [response.status, response.json().error.details?.[0].field],
        [400, 'returnTo'],
        wrong,
      )
    }
    for (const returnTo of [`${shop}/welcome?from=mail`, '/inbox', undefined]) {
      const { url } = (await make(returnTo)).json().data
      assert.match(url, new RegExp(`^${other.url}/reset#[\\w-]{43}$`))
      const { data } = (await other.post('/password/link', { token: tokenOf({ url }) })).json()
      assert.equal(data.returnTo, returnTo)
    }
    // As if the origin had been in the list when the link was made.
    const token = 'x'.repeat(43)
    const link = {
      userId: ann.id,
      purpose: 'reset' as const,
      tokenHash: hashOf(token),
      at: other.now(),
      email: null,
    }
    const stored = {
      ...link,
      expiresAt: other.now() + 1_000,
      returnTo: 'https://formerly.example/',
    }
    assert.equal(await other.store.write(addLink, stored), 'done')
    const { data } = (await other.post('/password/link', { token })).json()
    assert.deepEqual([data.username, data.returnTo], [ann.username, undefined])
  } finally {
    await other.stop()
  }
})

test('`mailedTo` has to be the address on record; it is recorded as the word of the application, displayed masked, and verified by the use', async () => {
  const ann = await invited({ email: 'ann.lee@example.org' })
  for (const mailedTo of ['ann@example.org', 'ann.lee@example.org.evil.example']) {
    const refusal = await request(ann, 'invite', { mailedTo })
    assert.deepEqual([refusal.status, refusal.json().error.code], [409, 'CONFLICT'])
  }
  assert.equal(
    (await request(await invited(), 'invite', { mailedTo: 'ann.lee@example.org' })).status,
    409,
  )
  const token = tokenOf(await linkFor(ann, 'invite', { mailedTo: 'ann.lee@example.org' }))
  const entry = (await app.store.read(listAudit, { limit: 500 })).find(({ userId, event }) => {
    return userId === ann.id && event === 'link-created'
  })
  assert.match(entry?.actor ?? '', /^producer:/)
  assert.deepEqual(entry?.detail, { purpose: 'invite', mailed: 'as the application says' })
  assert.equal((await read(token)).json().data.mailedTo, 'a***@example.org')
  assert.equal((await app.store.read(findUser, ann.id))?.emailVerifiedAt, null)
  assert.equal((await reset(token)).status, 204)
  assert.equal((await app.store.read(findUser, ann.id))?.emailVerifiedAt, app.now())
})

test('wrong links are limited by address, and a right one is not', async () => {
  const other = await startTestService()
  try {
    const ann = await other.user()
    const headers = { authorization: `Bearer ${(await other.producerKey(['users'])).key}` }
    const { url } = (
      await other.post(`/api/users/${ann.id}/links`, { purpose: 'reset' }, headers)
    ).json().data
    const wrong = { token: 'x'.repeat(43), newPassword }
    const statuses = new Map<number, number>()
    for (let n = 0; n < 150; n++) {
      const { token } = wrong
      const { status } = await (n % 2
        ? other.post('/password/reset', wrong)
        : other.post('/password/link', { token }))
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    assert.deepEqual([statuses.get(422), statuses.get(429)], [100, 50])
    const refused = await other.post('/password/reset', wrong)
    assert.ok(Number(refused.headers.get('retry-after')) > 0)
    assert.equal((await other.post('/password/link', { token: wrong.token })).status, 429)
    assert.equal((await other.post('/password/link', { token: tokenOf({ url }) })).status, 200)
    assert.equal(
      (await other.post('/password/reset', { token: tokenOf({ url }), newPassword })).status,
      204,
    )
  } finally {
    await other.stop()
  }
})
