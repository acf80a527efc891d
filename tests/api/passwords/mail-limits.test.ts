// How many mails a client can cause: few for one inbox and few from one address, whatever the answer, which is always the same.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { listAudit } from '../../../server/audit/audit.store.ts'
import { updateUser } from '../../../server/users/users.store.ts'
import { MailServer, type ReceivedMail, shownMail } from '../../support/network/mail-server.ts'
import { startTestService } from '../../support/service.ts'

const mailServer = await MailServer.start()
const env = { CARILLON_SMTP_URL: mailServer.url, CARILLON_TRUSTED_PROXIES: '127.0.0.1' }
const app = await startTestService({ env })
after(async () => {
  await app.stop()
  await mailServer.stop()
})
const hour = 3_600_000

let clients = 0
const newClient = () => `2001:db8:${(++clients).toString(16)}::1`
const headersOf = (client: string) => ({ 'x-forwarded-for': client })
const sentTo = (email: string) => mailServer.mails.filter(({ to }) => to[0] === email).length

async function forgot(body: object, client = newClient()): Promise<void> {
  const { status, text } = await app.post('/password/forgot', body, headersOf(client))
  assert.deepEqual([status, text], [202, ''])
}

/** The requests are worked off in their order, so the mail of a last one says that all are. */
async function settled(): Promise<void> {
  const last = await userAt(`last${++clients}@example.org`)
  await forgot({ username: last.username })
  const from = performance.now()
  while (sentTo(last.email) === 0 && performance.now() < from + 60_000) await new Promise((done) => setTimeout(done, 5))
  // Four are worked off at the same time.
  await new Promise((done) => setTimeout(done, 100))
}

async function userAt(email: string) {
  const user = await app.user()
  await app.store.write(updateUser, { userId: user.id, email })
  return { ...user, email }
}

test('a user gets at most 3 mails in an hour and 10 in a day, from however many addresses they are requested', async () => {
  const ann = await userAt('ann@example.org')
  const times: number[] = []
  for (let passed = 0; passed < 24; passed++) {
    const before = sentTo(ann.email)
    for (let n = 0; n < 5; n++) await forgot(n % 2 === 0 ? { username: ann.username } : { email: ann.email })
    await settled()
    times.push(...Array<number>(sentTo(ann.email) - before).fill(passed))
    app.pass(hour)
  }
  assert.deepEqual(times, [0, 0, 0, 1, 2, 3, 4, 5, 6, 7])
  app.pass(7 * hour)
  await forgot({ username: ann.username })
  await settled()
  assert.equal(sentTo(ann.email), 11)
})

test('users who share an address share its limit', async () => {
  for (let n = 0; n < 3; n++) await userAt('family@example.org')
  for (let n = 0; n < 3; n++) await forgot({ email: 'FAMILY@example.org' })
  await settled()
  assert.equal(sentTo('family@example.org'), 3)
})

test('a client causes at most 10 mails at once, and requests about nobody count for it as those about users do', async () => {
  const emails = Array.from({ length: 12 }, (_, n) => `user${n}@example.org`)
  for (const email of emails) await userAt(email)
  const client = newClient()
  const guesser = newClient()
  for (const email of emails) await forgot({ email }, client)
  for (let n = 0; n < 10; n++) await forgot({ username: `nobody-${n}` }, guesser)
  // Four at the same time may be counted in another order than theirs.
  await settled()
  const ben = await userAt('ben@example.org')
  await forgot({ username: ben.username }, guesser)
  await settled()
  assert.equal(emails.filter((email) => sentTo(email) === 1).length, 10)
  assert.equal(sentTo(ben.email), 0)
  app.pass(hour)
  await forgot({ username: ben.username }, guesser)
  await settled()
  assert.equal(sentTo(ben.email), 1)
})

test('a flood of one client, from all of its networks, keeps no mail from ten other clients (A19, A21)', async () => {
  const emails = Array.from({ length: 10 }, (_, n) => `other${n}@example.org`)
  for (const email of emails) await userAt(email)
  const victims = await Promise.all(Array.from({ length: 4 }, (_, n) => userAt(`victim${n}@example.org`)))
  const block = newClient().replace('::1', '')
  const from = (n: number) => `${block}:${(n % 65_536).toString(16)}::1`
  mailServer.isHolding = true
  // The four places for mails are taken, and the whole flood would wait in the queue, which has 1,000 places.
  for (const [n, { email }] of victims.entries()) await forgot({ email }, from(n))
  while (mailServer.held < 4) await new Promise((done) => setTimeout(done, 5))
  // The service responds to each at once. 1,100 connections at the same time would be too many for a busy machine.
  const numbers = Array.from({ length: 1_100 }, (_, n) => n).values()
  const send = async () => {
    for (const n of numbers) await forgot({ username: `nobody-${n}` }, from(n))
  }
  await Promise.all(Array.from({ length: 20 }, send))
  for (const email of emails) await forgot({ email })
  mailServer.isHolding = false
  await settled()
  assert.deepEqual(emails.map(sentTo), Array(10).fill(1))
})

test("a client's limit is checked before its request waits, and in the store again at its turn (A19)", async () => {
  const users = await Promise.all(Array.from({ length: 5 }, (_, n) => userAt(`waiting${n}@example.org`)))
  const ann = users.pop() as (typeof users)[number]
  const client = newClient()
  mailServer.isHolding = true
  for (const { email } of users) await forgot({ email })
  while (mailServer.held < 4) await new Promise((done) => setTimeout(done, 5))
  // No request gets its turn now.
  const refusals = async () =>
    (await app.store.read(listAudit, { limit: 500 })).filter(
      ({ event, address }) => event === 'link-refused' && address === client,
    )
  for (let n = 0; n < 10; n++) await forgot({ username: `nobody-${n}` }, client)
  assert.deepEqual(await refusals(), [])
  await forgot({ username: ann.username }, client)
  const from = performance.now()
  while ((await refusals()).length === 0 && performance.now() < from + 20_000)
    await new Promise((done) => setTimeout(done, 5))
  assert.equal((await refusals()).length, 1)
  mailServer.isHolding = false
  await settled()
  await app.restart()
  await forgot({ username: ann.username }, client)
  await settled()
  assert.equal(sentTo(ann.email), 0)
})

test('requests that send nothing do not count for the user', async () => {
  const ann = await app.user()
  for (let n = 0; n < 10; n++) await forgot({ username: ann.username })
  await settled()
  await app.store.write(updateUser, { userId: ann.id, email: 'late@example.org' })
  for (let n = 0; n < 5; n++) await forgot({ username: ann.username })
  await settled()
  assert.equal(sentTo('late@example.org'), 3)
})

test('ten requests of a stranger leave mails for the owner, in the same hour and on every later day, and void no link (A19, A20)', async () => {
  const ann = await userAt('beset@example.org')
  const mailsOf = async (client: string, times: number) => {
    const before = sentTo(ann.email)
    for (let n = 0; n < times; n++) await forgot({ username: ann.username }, client)
    await settled()
    return sentTo(ann.email) - before
  }
  const home = newClient()
  // A stranger has a /48, and takes another network of it each time.
  const block = newClient().replace('::1', '')
  let networks = 0
  const stranger = () => `${block}:${(++networks).toString(16)}::1`
  assert.equal(await mailsOf(home, 1), 1)
  const owned = mailServer.mails.findLast(({ to }) => to[0] === ann.email)
  let taken = 0
  for (let n = 0; n < 10; n++) taken += await mailsOf(stranger(), 1)
  assert.equal(taken, 2)
  const token = /#([\w-]{43})/.exec(shownMail(owned as ReceivedMail).text)?.[1]
  assert.equal((await app.post('/password/reset', { token, newPassword: 'grey heron over the weir' })).status, 204)
  for (let day = 0; day < 3; day++) {
    for (let passed = 0; passed < 24; passed += 4) {
      await mailsOf(stranger(), 2)
      app.pass(4 * hour)
    }
    await mailsOf(stranger(), 2)
    assert.equal(await mailsOf(home, 1), 1, `day ${day}`)
  }
})

test('a mail that could not be sent does not count for its user', async () => {
  const ann = await userAt('unlucky@example.org')
  mailServer.isRefusing = true
  for (let n = 1; n <= 5; n++) {
    await forgot({ username: ann.username })
    while (mailServer.refused < n) await new Promise((done) => setTimeout(done, 5))
  }
  mailServer.isRefusing = false
  await settled()
  assert.equal(sentTo(ann.email), 0)
  for (let n = 0; n < 5; n++) await forgot({ username: ann.username })
  await settled()
  assert.equal(sentTo(ann.email), 3)
})
