// While one client floods the queue of password hashes by right sign-ins on 90 devices, 20 other users get through, each within two
// seconds (A12). tests/api/passwords/mail-limits.test.ts has the queue of mails.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { usualCost } from '../../../server/passwords/passwords.ts'
import { flood, floodConnections } from '../../support/network/flood.ts'
import { startTestService, type TestService } from '../../support/service.ts'

const maxMs = 2_000
const proxy = { CARILLON_TRUSTED_PROXIES: '127.0.0.1' }

/** Each user signs in from a network of its own, on a new device. */
async function signInAll(
  service: TestService,
  users: readonly { username: string; password: string }[],
) {
  return Promise.all(
    users.map(async ({ username, password }, n) => {
      const from = performance.now()
      const headers = { 'x-forwarded-for': `203.0.113.${n}` }
      const { status } = await service.post(
        '/login',
        { username, password, variant: 'stateless' },
        headers,
      )
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

const everyNetwork = Array.from({ length: 65_536 }, (_, n) => `2001:db8:1:${n.toString(16)}::1`)

for (const [whose, addresses] of [
  ['from one address', ['198.51.100.1']],
  ['from every network of a /48', everyNetwork],
] as const)
  test(`during right sign-ins on 90 devices of one user, ${whose}, 20 of 20 other users sign in (A12)`, async (t) => {
    const service = await startTestService({ hashCost: usualCost, env: proxy })
    t.after(() => service.stop())
    const eve = await service.user()
    const users = []
    for (let n = 0; n < 20; n++) users.push(await service.user())
    const tokens: string[] = []
    for (let n = 0; n < floodConnections; n++) {
      const headers = { 'x-forwarded-for': `192.0.2.${n}` }
      const body = { username: eve.username, password: eve.password, variant: 'stateless' }
      tokens.push((await service.post('/login', body, headers)).json().deviceToken)
    }
    const bodies = tokens.map((deviceToken) => ({
      username: eve.username,
      password: eve.password,
      variant: 'stateless',
      deviceToken,
    }))
    const attack = flood({ url: service.url, path: '/login', bodies, addresses })
    await attack.hasHad(200)
    const outcomes = await signInAll(service, users)
    t.diagnostic(
      `${Math.max(...outcomes.map(({ ms }) => ms)).toFixed(0)} ms at most; the flood: ${await attack.end()}`,
    )
    allWithin(outcomes)
  })
