// One client floods the queues: by 90 devices of its own account, by requests for mails, and by right sign-ins. 20 other users get through,
// each within two seconds (A12, A19, A21).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { usualCost } from '../../../server/passwords/passwords.ts'
import { updateUser } from '../../../server/users/users.store.ts'
import { HttpClient } from '../../support/http/http-client.ts'
import { MailServer } from '../../support/network/mail-server.ts'
import { startTestService, type TestService } from '../../support/service.ts'

const connections = 90
const maxMs = 2_000
const proxy = { CARILLON_TRUSTED_PROXIES: '127.0.0.1' }
const json = { 'content-type': 'application/json' }

type Flooding = {
  path: string
  bodyOf: (n: number) => object
  addressOf: (n: number) => string
}

/** Sends as fast as the service answers, until it is ended. */
function flood(url: string, { path, bodyOf, addressOf }: Flooding) {
  const client = new HttpClient(url, { connections })
  const statuses = new Map<number, number>()
  let isOver = false
  const one = async (first: number) => {
    for (let n = first; !isOver; n += connections) {
      const headers = { ...json, 'x-forwarded-for': addressOf(n) }
      const sent = client.request({ method: 'POST', path, headers, body: JSON.stringify(bodyOf(n)) })
      // A request that has no response in time: the flood goes on.
      const { status } = await sent.catch(() => ({ status: 0 }))
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }
  const running = Array.from({ length: connections }, (_, n) => one(n))
  return {
    /** Resolves when the flood has had so many responses. */
    async hasHad(count: number) {
      while ([...statuses.values()].reduce((sum, some) => sum + some, 0) < count)
        await new Promise((done) => setTimeout(done, 5))
    },
    async end() {
      isOver = true
      await Promise.all(running)
      client.close()
      return JSON.stringify([...statuses])
    },
  }
}

/** Each of 20 users signs in from a network of its own, on a new device. */
async function signInAll(service: TestService, users: readonly { username: string; password: string }[]) {
  return Promise.all(
    users.map(async ({ username, password }, n) => {
      const from = performance.now()
      const headers = { 'x-forwarded-for': `203.0.113.${n}` }
      const { status } = await service.post('/login', { username, password, variant: 'stateless' }, headers)
      return { status, ms: performance.now() - from }
    }),
  )
}

function allWithin(outcomes: readonly { status: number; ms: number }[]): void {
  assert.deepEqual(
    outcomes.filter(({ status }) => status !== 200),
    [],
  )
  const longest = Math.max(...outcomes.map(({ ms }) => ms))
  assert.ok(longest < maxMs, `${longest} ms`)
}

for (const [whose, addressOf] of [
  ['from one address', () => '198.51.100.1'],
  ['from every network of a /48', (n: number) => `2001:db8:1:${(n % 65_536).toString(16)}::1`],
] as const)
  test(`during right sign-ins on 90 devices of one user, ${whose}, 20 of 20 other users sign in (A12)`, async (t) => {
    const service = await startTestService({ hashCost: usualCost, env: proxy })
    t.after(() => service.stop())
    const eve = await service.user()
    const users = []
    for (let n = 0; n < 20; n++) users.push(await service.user())
    const tokens: string[] = []
    for (let n = 0; n < connections; n++) {
      const headers = { 'x-forwarded-for': `192.0.2.${n}` }
      const body = { username: eve.username, password: eve.password, variant: 'stateless' }
      tokens.push((await service.post('/login', body, headers)).json().deviceToken)
    }
    const bodyOf = (n: number) => ({
      username: eve.username,
      password: eve.password,
      variant: 'stateless',
      deviceToken: tokens[n % connections],
    })
    const attack = flood(service.url, { path: '/login', bodyOf, addressOf })
    await attack.hasHad(200)
    const outcomes = await signInAll(service, users)
    t.diagnostic(`${Math.max(...outcomes.map(({ ms }) => ms)).toFixed(0)} ms at most; the flood: ${await attack.end()}`)
    allWithin(outcomes)
  })

test('during a flood of requests for mails from one /48, 20 of 20 others get their mail (A19)', async (t) => {
  const mailServer = await MailServer.start()
  t.after(() => mailServer.stop())
  const service = await startTestService({ env: { ...proxy, CARILLON_SMTP_URL: mailServer.url } })
  t.after(() => service.stop())
  const emails = Array.from({ length: 20 }, (_, n) => `user${n}@example.org`)
  for (const email of emails) await service.store.write(updateUser, { userId: (await service.user()).id, email })
  const attack = flood(service.url, {
    path: '/password/forgot',
    bodyOf: (n) => ({ email: `user${n % 20}@example.org` }),
    addressOf: (n) => `2001:db8:1:${(n % 65_536).toString(16)}::1`,
  })
  await attack.hasHad(2_000)
  const before = mailServer.mails.length
  const from = performance.now()
  const sentFrom = mailServer.mails.length
  const ask = async (email: string, n: number) => {
    const response = await service.post('/password/forgot', { email }, { 'x-forwarded-for': `203.0.113.${n}` })
    assert.equal(response.status, 202)
  }
  await Promise.all(emails.map(ask))
  const isThere = (email: string) => mailServer.mails.slice(sentFrom).some(({ to }) => to[0] === email)
  while (!emails.every(isThere) && performance.now() < from + 10 * maxMs)
    await new Promise((done) => setTimeout(done, 5))
  const ms = performance.now() - from
  t.diagnostic(`${ms.toFixed(0)} ms; ${before} mails before; the flood: ${await attack.end()}`)
  assert.deepEqual(
    emails.filter((email) => !isThere(email)),
    [],
  )
  assert.ok(ms < maxMs, `${ms} ms`)
})
