// In the inbox, and by mail to a verified address (A22; OWASP ASVS 5.0, 6.3.7).
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { resetFactors } from '../../../server/factors/factors.ts'
import { openStore } from '../../../server/open-store.ts'
import { Passwords } from '../../../server/passwords/passwords.ts'
import { listOutbox } from '../../../server/reach/outbox.store.ts'
import { findUser, type User } from '../../../server/users/users.store.ts'
import { MailServer, type ReceivedMail, shownMail } from '../../support/network/mail-server.ts'
import { untilSo } from '../../support/processes/nodes.ts'
import {
  type HttpResponse,
  type Proof,
  startTestService,
  type TestUser,
} from '../../support/service.ts'
import { Authenticator } from '../../support/sign-in/authenticator.ts'

const mailServer = await MailServer.start()
const app = await startTestService({
  env: { CARILLON_SMTP_URL: mailServer.url, CARILLON_NAME: 'Lighthouse' },
})
after(async () => {
  await app.stop()
  await mailServer.stop()
})
const { key } = await app.producerKey(['users'])
const asProducer = { authorization: `Bearer ${key}` }

type Notice = {
  title: string
  body: string
  url: string
  category: string
  data: Record<string, unknown>
}

async function noticesOf(proof: Proof): Promise<Notice[]> {
  return (await app.get('/api/notifications?category=security', proof)).json().data.items
}
const titlesOf = async (proof: Proof) => (await noticesOf(proof)).map(({ title }) => title)

const change = ({ id }: TestUser, fields: object) =>
  app.request(`/api/users/${id}`, {
    method: 'PATCH',
    headers: { ...asProducer, 'content-type': 'application/json' },
    body: JSON.stringify(fields),
  })

/** The response may have set a new cookie. */
function proofAfter(proof: Proof, { headers }: HttpResponse): Proof {
  const cookie = headers.getSetCookie().find((text) => text.startsWith('carillon='))
  return cookie === undefined ? proof : { cookie: cookie.split(';')[0] as string }
}

/** Returns its id and the proof afterwards. */
async function addApp(proof: Proof): Promise<{ id: string; proof: Proof }> {
  const { id, secret } = (await app.post('/api/me/factors/totp', {}, proof)).json().data
  const code = new Authenticator(secret).code(app.now())
  const added = await app.post('/api/me/factors/totp/confirm', { id, code }, proof)
  assert.equal(added.status, 200, added.text)
  return { id, proof: proofAfter(proof, added) }
}

const mailsTo = (address: string) => mailServer.mails.filter(({ to }) => to.includes(address))

async function mailTo(address: string, count = 1) {
  while (mailsTo(address).length < count) await mailServer.received(mailServer.mails.length + 1)
  return shownMail(mailsTo(address)[count - 1] as ReceivedMail)
}

test('the inbox has a notice of each change of a factor, which leads to the account page (A22)', async () => {
  const user = await app.user()
  const added = await addApp(await app.signIn(user, 'stateful'))
  const renewed = await app.post('/api/me/factors/recovery-codes', undefined, added.proof)
  assert.equal(renewed.status, 201, renewed.text)
  const headers = proofAfter(added.proof, renewed)
  const removed = await app.request(`/api/me/factors/${added.id}`, { method: 'DELETE', headers })
  assert.equal(removed.status, 204, removed.text)
  const proof = proofAfter(headers, removed)
  assert.deepEqual(await titlesOf(proof), [
    'A second factor or passkey was removed from your account',
    'New recovery codes were created for your account',
    'An authenticator app was added to your account',
  ])
  for (const { url, body } of await noticesOf(proof)) {
    assert.ok(url.startsWith(`${app.url}/account`), url)
    assert.match(body, /from the address 127\.0\.0\.1\. If you did not expect it/)
  }
})

test('a new username and a new e-mail address are reported as done by the application; other changes are not reported', async () => {
  const user = await app.user()
  const proof = await app.signIn(user, 'stateless')
  for (const fields of [
    { email: `${user.username}@example.org` },
    { displayName: 'Ann' },
    { locale: 'en' },
  ])
    assert.equal((await change(user, fields)).status, 200)
  assert.equal((await change(user, { username: `${user.username}-2` })).status, 200)
  assert.deepEqual(await titlesOf(proof), [
    'Your username was changed',
    'Your e-mail address was changed',
  ])
  for (const { body } of await noticesOf(proof))
    assert.match(body, /^This was done by your application\. /)
})

test('a change of both, and one by the external id of the user, is reported as well', async () => {
  const externalId = 'both'
  const old = 'old@both.example'
  const given = { externalId, username: 'both', email: old, emailVerified: true }
  const user = (await app.post('/api/users', given, asProducer)).json().data
  assert.equal(
    (await change(user, { username: `${user.username}-2`, email: 'new@example.org' })).status,
    200,
  )
  const proof = await app.issueToken(user)
  assert.deepEqual((await titlesOf(proof)).sort(), [
    'Your e-mail address was changed',
    'Your username was changed',
  ])
  assert.equal((await change(user, { email: old, emailVerified: true })).status, 200)
  const put = (path: string, body: object) =>
    app.request(path, {
      method: 'PUT',
      headers: { ...asProducer, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const evil = { email: 'evil@example.org', emailVerified: true }
  assert.equal((await put(`/api/users/external/${externalId}`, evil)).status, 200)
  assert.equal(
    (await put('/api/users', { users: [{ externalId, email: 'worse@example.org' }] })).status,
    200,
  )
  assert.equal(
    (await titlesOf(proof)).filter((title) => title === 'Your e-mail address was changed').length,
    4,
  )
  while (
    !mailsTo(old).some((mail) => shownMail(mail).text.includes('Your e-mail address was changed'))
  )
    await mailServer.received(mailServer.mails.length + 1)
})

test('a user without a username, whom an application signs in, gets no notice of a new address', async () => {
  const put = await app.request('/api/users/external/notice-1', {
    method: 'PUT',
    headers: { ...asProducer, 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'one@example.org' }),
  })
  const { id } = put.json().data.user ?? put.json().data
  assert.equal((await change({ id } as TestUser, { email: 'two@example.org' })).status, 200)
  assert.deepEqual(await titlesOf(await app.issueToken({ id })), [])
})

test('a verified address gets the notice by mail, in the language of the user and with the name of the service (A22)', async () => {
  const user = await app.user()
  const email = `${user.username}@mail.example`
  await change(user, { email, emailVerified: true, locale: 'de' })
  await addApp(await app.signIn(user, 'stateful'))
  const first = await mailTo(email)
  const second = await mailTo(email, 2)
  assert.equal(first.subject, 'Ihre E-Mail-Adresse wurde geändert (Lighthouse)')
  assert.equal(second.subject, 'Ihrem Konto wurde eine Authenticator-App hinzugefügt (Lighthouse)')
  for (const part of [second.text, second.html])
    assert.ok(part.includes(`${app.url}/account`), part)
})

test('a user gets five mails an hour, and a mail has all changes that waited for it', async () => {
  const user = await app.user()
  const email = `${user.username}@busy.example`
  await change(user, { email, emailVerified: true })
  const proof = await app.signIn(user, 'stateless')
  for (let n = 1; n < 6; n++) {
    await mailTo(email, n)
    await change(user, { username: `${user.username}-${n}` })
  }
  // A change joins the mail that waits, and not one that is being tried.
  const waits = async () => {
    const rows = await app.store.read(listOutbox, { limit: 100 })
    const own = rows.filter(({ ownerId }) => ownerId === user.id)
    return own.length > 0 && own.every(({ holder, dueAt }) => holder === null && dueAt > app.now())
  }
  for (let n = 6; n < 8; n++) {
    await untilSo(waits)
    await change(user, { username: `${user.username}-${n}` })
  }
  assert.equal((await noticesOf(proof)).length, 8)
  await app.restart()
  assert.equal(mailsTo(email).length, 5)
  app.pass(3_600_000)
  const summary = await mailTo(email, 6)
  assert.equal(summary.subject, '3 changes to your account (Lighthouse)')
  assert.equal(summary.text.split('Your username was changed').length - 1, 3)
})

test('what an operator does by a command is reported once, also if it was done while no service ran', async () => {
  const user = await app.user()
  const source = { actor: 'operator', address: null, userAgent: null, requestId: null }
  // A command does it with the store alone, and not through the service.
  const byCommand = async () => {
    const { store } = await openStore(app.databaseSetting)
    const passwords = new Passwords({ threads: 1 })
    const users = {
      store,
      now: app.now,
      source,
      passwords,
      passwordMinLength: 12,
      erased: async () => undefined,
      breaches: undefined,
    }
    assert.equal(await resetFactors(users, (await store.read(findUser, user.id)) as User), 0)
    await store.close()
  }
  await app.restart(byCommand)
  const proof = await app.signIn(user, 'stateless')
  for (let n = 0; n < 2; n++) {
    while ((await noticesOf(proof)).length === 0) await sleep(10)
    const [notice, ...others] = await noticesOf(proof)
    assert.equal(notice?.title, 'All second factors and passkeys were removed from your account')
    assert.match(notice?.body ?? '', /^This was done by the operator of the service\. /)
    assert.equal(others.length, 0)
    await app.restart()
  }
})
