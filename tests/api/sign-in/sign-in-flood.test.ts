// A sign-in that finds no place gets 503, not a delay of its account (A12).
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { usualCost } from '../../../server/passwords/passwords.ts'
import { HttpClient } from '../../support/http/http-client.ts'
import { startTestService, variants } from '../../support/service.ts'
import { isSoak, soakTest } from '../../support/soak.ts'

const app = await startTestService({ hashCost: usualCost })
after(() => app.stop())
const ann = await app.user('ann')
// Many users: each has a limited number of right sign-ins from one address.
const others = await Promise.all(Array.from({ length: 25 }, () => app.user()))
await app.deliver({ to: ann, title: 'Hi' })
const guessers = isSoak ? 200 : 50
/** The soak runs alone on its machine. Otherwise each request may wait for other tests. */
const [share, mostMs] = isSoak ? [0.99, 250] : [0.5, 1_000]

for (const variant of variants)
  (variant === 'stateful' ? test : soakTest)(
    `during 500 sign-ins at once the list of the inbox responds quickly, and every sign-in gets 200 or 503 (${variant}, A12)`,
    async (t) => {
      const proof = await app.signIn(ann, variant)
      const flood = new HttpClient(app.url, { connections: 500 })
      const reader = new HttpClient(app.url, { connections: 1 })
      t.after(() => [flood, reader].map((client) => client.close()))
      const bodies = others.map(({ username, password }) =>
        JSON.stringify({ username, password, variant }),
      )
      const headers = { 'content-type': 'application/json' }
      let isOver = false
      const signIns = Promise.all(
        Array.from({ length: 500 }, async (_, n) => {
          const body = bodies[n % bodies.length] ?? ''
          const response = await flood.request({ method: 'POST', path: '/login', headers, body })
          if (response.status === 503) assert.ok(Number(response.headers.get('retry-after')) >= 1)
          return response.status
        }),
      ).finally(() => {
        isOver = true
      })
      const took: number[] = []
      while (!isOver) {
        const before = performance.now()
        assert.equal(
          (await reader.request({ path: '/api/notifications', headers: proof })).status,
          200,
        )
        took.push(performance.now() - before)
        await sleep(1)
      }
      const statuses = await signIns
      const count = (status: number) => statuses.filter((one) => one === status).length
      const ms = took.toSorted((a, b) => a - b)[Math.floor(took.length * share) - 1] ?? Number.NaN
      t.diagnostic(
        `${count(200)} signed in, ${count(503)} got 503; ${took.length} lists, p${share * 100} ${ms.toFixed(0)} ms`,
      )
      assert.equal(count(200) + count(503), 500, `${[...new Set(statuses)]}`)
      assert.ok(count(200) > 0 && count(503) > 0 && took.length > 20)
      assert.ok(ms < mostMs, `${ms} ms`)
    },
  )

test('during a flood of wrong passwords from one IPv6 /56, every right sign-in on a known device succeeds (A21)', async (t) => {
  const service = await startTestService({
    hashCost: usualCost,
    env: { CARILLON_TRUSTED_PROXIES: '127.0.0.1' },
  })
  t.after(() => service.stop())
  const known = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const { username, password } = await service.user()
      const { json } = await service.post('/login', { username, password, variant: 'stateless' })
      return { username, password, variant: 'stateless', deviceToken: json().deviceToken }
    }),
  )
  const flood = new HttpClient(service.url, { connections: guessers })
  t.after(() => flood.close())
  let isOver = false
  let sent = 0
  const statuses = new Map<number, number>()
  const guess = async (n: number) => {
    while (!isOver) {
      const address = `2001:db8:56:${(++sent % 256).toString(16)}::${(n + 1).toString(16)}`
      const headers = { 'content-type': 'application/json', 'x-forwarded-for': address }
      const body = JSON.stringify({ username: `made up ${sent}`, password: 'plum orchard gate 42' })
      const { status } = await flood.request({ method: 'POST', path: '/login', headers, body })
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }
  const guessing = Array.from({ length: guessers }, (_, n) => guess(n))
  while ((statuses.get(401) ?? 0) < 20) await sleep(5)
  const took: number[] = []
  for (const credentials of known) {
    const before = performance.now()
    assert.equal(
      (await service.post('/login', credentials, { 'x-forwarded-for': '198.51.100.1' })).status,
      200,
    )
    took.push(performance.now() - before)
  }
  isOver = true
  await Promise.all(guessing)
  t.diagnostic(
    `20 of 20, the longest ${Math.max(...took).toFixed(0)} ms; others ${JSON.stringify([...statuses])}`,
  )
  // The clock of the service stands still, so that the /56 gets no more than its burst.
  assert.ok((statuses.get(401) ?? 0) <= 400, `${statuses.get(401)} were evaluated`)
  if (isSoak) assert.ok(Math.max(...took) < 2_000, `${took}`)
})
