// A client causes few mails for one inbox and few from one address; the answer is always the same.
import assert from 'node:assert/strict'
import { after, afterEach, test } from 'node:test'
import { listAudit } from '../../../server/audit/audit.store.ts'
import { listOutbox } from '../../../server/reach/outbox.store.ts'
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
// A failed test does not hold the mails of the next one.
afterEach(() => {
  mailServer.isHolding = false
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

async function until(isSo: () => boolean): Promise<void> {
  const from = performance.now()
  while (!isSo() && performance.now() < from + 60_000)
    await new Promise((done) => setTimeout(done, 5))
}

/** Clients take turns: all requests are done after the mail of a last one. */
async function settled(): Promise<void> {
  const last = await userAt(`last${++clients}@example.org`)
  await forgot({ username: last.username })
  await until(() => sentTo(last.email) > 0 && mailServer.isIdle)
}

/** The server's refusal of each mail is stored: its next try depends on the time until then. */
async function refusalsStored(): Promise<void> {
  const rows = () => app.store.read(listOutbox, { limit: 100 })
  while ((await rows()).some(({ tries }) => tries === 0))
    await new Promise((done) => setTimeout(done, 5))
}

async function userAt(email: string) {
  const user = await app.user()
  await app.store.write(updateUser, { userId: user.id, email })
  return { ...user, email }
}

test('a user gets at most 3 mails in an hour and 10 in a day, from however many addresses they are requested', async () => {
  const ann = await userAt('ann@example.org')
  const times: number[] = []
  for (let passed = 0; passed < 9; passed++) {
    const before = sentTo(ann.email)
    for (let n = 0; n < 5; n++)
      await forgot(n % 2 === 0 ? { username: ann.username } : { email: ann.email })
    await settled()
    times.push(...Array<number>(sentTo(ann.email) - before).fill(passed))
    app.pass(hour)
  }
  assert.deepEqual(times, [0, 0, 0, 1, 2, 3, 4, 5, 6, 7])
  app.pass(22 * hour)
  await forgot({ username: ann.username })
  await settled()
  assert.equal(sentTo(ann.email), 11)
})

test('users who share an address share its limit', async () => {
  for (let n = 0; n < 3; n++) await userAt('family@example.org')
  for (let n = 0; n < 3; n++) await forgot({ email: 'FAMILY@example.org' })
  // One request leads to several mails, one after the other.
  await until(() => sentTo('family@example.org') >= 3)
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
  // Eight at once may be counted in another order, and another client does not wait for all of
  // them.
  const sent = () => emails.filter((email) => sentTo(email) === 1).length
  await until(() => sent() >= 10)
  await settled()
  const ben = await userAt('ben@example.org')
  await forgot({ username: ben.username }, guesser)
  await settled()
  assert.equal(sent(), 10)
  assert.equal(sentTo(ben.email), 0)
  app.pass(hour)
  await forgot({ username: ben.username }, guesser)
  await settled()
  assert.equal(sentTo(ben.email), 1)
})

test('a flood of one client, from all of its networks, keeps no mail from ten other clients (A19, A21)', async () => {
  const emails = Array.from({ length: 10 }, (_, n) => `other${n}@example.org`)
  for (const email of emails) await userAt(email)
  const victims = await Promise.all(
    Array.from({ length: 8 }, (_, n) => userAt(`victim${n}@example.org`)),
  )
  const block = newClient().replace('::1', '')
  const from = (n: number) => `${block}:${(n % 65_536).toString(16)}::1`
  mailServer.isHolding = true
  // Four mails at the server and four behind them take the eight places; the flood would wait in
  // the queue of 1,000.
  for (const [n, { email }] of victims.entries()) await forgot({ email }, from(n))
  await until(() => mailServer.held === 4)
  // 1,100 connections would be too many for a busy machine.
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
  // The log of refusals takes few in a second, and earlier tests caused many.
  await app.restart()
  const users = await Promise.all(
    Array.from({ length: 9 }, (_, n) => userAt(`waiting${n}@example.org`)),
  )
  const ann = users.pop() as (typeof users)[number]
  const client = newClient()
  mailServer.isHolding = true
  for (const { email } of users) await forgot({ email })
  await until(() => mailServer.held === 4)
  // No request gets its turn now.
  const refusals = async () =>
    (await app.store.read(listAudit, { limit: 500 })).filter(
      ({ event, address }) => event === 'link-refused' && address === client,
    )
  for (let n = 0; n < 10; n++) await forgot({ username: `nobody-${n}` }, client)
  assert.deepEqual(await refusals(), [])
  await forgot({ username: ann.username }, client)
  const from = performance.now()
  while ((await refusals()).length === 0 && performance.now() < from + 60_000)
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
  // A /48 has other networks for each attempt.
  const block = newClient().replace('::1', '')
  let networks = 0
  const stranger = () => `${block}:${(++networks).toString(16)}::1`
  assert.equal(await mailsOf(home, 1), 1)
  const owned = mailServer.mails.findLast(({ to }) => to[0] === ann.email)
  let taken = 0
  for (let n = 0; n < 10; n++) taken += await mailsOf(stranger(), 1)
  assert.equal(taken, 2)
  const token = /#([\w-]{43})/.exec(shownMail(owned as ReceivedMail).text)?.[1]
  assert.equal(
    (await app.post('/password/reset', { token, newPassword: 'grey heron over the weir' })).status,
    204,
  )
  for (let day = 0; day < 2; day++) {
    for (let passed = 0; passed < 24; passed += 4) {
      await mailsOf(stranger(), 2)
      app.pass(4 * hour)
    }
    await mailsOf(stranger(), 2)
    assert.equal(await mailsOf(home, 1), 1, `day ${day}`)
  }
})

test('a mail that the server did not accept is sent when it does, within a quarter of an hour', async () => {
  const ann = await userAt('unlucky@example.org')
  mailServer.isRefusing = true
  const before = mailServer.refused
  await forgot({ username: ann.username })
  await until(() => mailServer.refused > before)
  await refusalsStored()
  mailServer.isRefusing = false
  await settled()
  assert.equal(sentTo(ann.email), 0)
  app.pass(60_000)
  await until(() => sentTo(ann.email) > 0)
  assert.equal(sentTo(ann.email), 1)
})

test('a mail that was given up does not count for its user', async () => {
  const ann = await userAt('hapless@example.org')
  mailServer.isRefusing = true
  for (let round = 0; round < 2; round++) {
    const before = mailServer.refused
    for (let n = 0; n < 3; n++) await forgot({ username: ann.username })
    await until(() => mailServer.refused >= before + 3)
    await refusalsStored()
    app.pass(15 * 60_000)
    while ((await app.store.read(listOutbox, { limit: 1 })).length > 0)
      await new Promise((done) => setTimeout(done, 5))
  }
  mailServer.isRefusing = false
  for (let n = 0; n < 5; n++) await forgot({ username: ann.username })
  await settled()
  assert.equal(sentTo(ann.email), 3)
})
