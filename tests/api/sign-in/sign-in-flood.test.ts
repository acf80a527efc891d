// A sign-in that finds no place gets 503, not a delay of its account (A12).
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { usualCost } from '../../../server/passwords/passwords.ts'
import { HttpClient } from '../../support/http/http-client.ts'
import { startTestService } from '../../support/service.ts'
import { isSoak } from '../../support/soak.ts'

const app = await startTestService({ hashCost: usualCost })
after(() => app.stop())
const ann = await app.user('ann')
// Many users: each has a limited number of right sign-ins from one address.
const others = await Promise.all(Array.from({ length: 25 }, () => app.user()))
await app.deliver({ to: ann, title: 'Hi' })
/** The soak runs alone on its machine. Otherwise each request may wait for other tests. */
const [share, mostMs] = isSoak ? [0.99, 250] : [0.5, 1_000]

test('during 500 sign-ins at once the list of the inbox responds quickly, and every sign-in gets 200 or 503 (A12)', async (t) => {
  const proof = await app.signIn(ann, 'stateful')
  const flood = new HttpClient(app.url, { connections: 500 })
  const reader = new HttpClient(app.url, { connections: 1 })
  t.after(() => [flood, reader].map((client) => client.close()))
  const bodies = others.map(({ username, password }) => JSON.stringify({ username, password }))
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
    assert.equal((await reader.request({ path: '/api/notifications', headers: proof })).status, 200)
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
})
