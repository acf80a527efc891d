// All clients behind such a proxy have its address, and the operator has to learn of it.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { pino } from 'pino'
import { traceOf } from '../../../server/basics/traces.ts'
import { startTestService } from '../../support/service.ts'

async function withLog(env: Record<string, string>) {
  const lines: Record<string, unknown>[] = []
  const log = pino(
    { level: 'info', base: null },
    { write: (line: string) => lines.push(JSON.parse(line)) },
  )
  const app = await startTestService({ env, log })
  after(() => app.stop())
  return { app, warnings: () => lines.filter(({ event }) => event === 'proxy-not-trusted') }
}

for (const [header, value] of Object.entries({
  'X-Forwarded-For': '203.0.113.9',
  Forwarded: 'for=203.0.113.9',
}))
  test(`one warning names the setting if ${header} comes from a peer that is not a trusted proxy (A11)`, async () => {
    const { app, warnings } = await withLog({})
    const user = await app.user()
    await app.get('/livez')
    assert.deepEqual(warnings(), [])
    const proof = await app.signIn(user, 'stateful')
    for (let n = 0; n < 3; n++) await app.get('/api/notifications', { ...proof, [header]: value })
    const [warning, ...others] = warnings()
    assert.deepEqual([warning?.address, others.length], ['127.0.0.1', 0])
    assert.match(String(warning?.msg), /CARILLON_TRUSTED_PROXIES/)
  })

test('a header of a trusted proxy causes no warning', async () => {
  const { app, warnings } = await withLog({ CARILLON_TRUSTED_PROXIES: '127.0.0.1' })
  for (let n = 0; n < 3; n++) await app.get('/livez', { 'X-Forwarded-For': '203.0.113.9' })
  assert.deepEqual(warnings(), [])
})

test('only a trusted proxy names the trace of a request', async () => {
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
  for (const [proxies, expected] of Object.entries({
    '127.0.0.1': traceId,
    '192.0.2.1': undefined,
  })) {
    const lines: Record<string, unknown>[] = []
    const log = pino(
      { level: 'info', base: null },
      { write: (line: string) => lines.push(JSON.parse(line)) },
    )
    const app = await startTestService({ env: { CARILLON_TRUSTED_PROXIES: proxies }, log })
    after(() => app.stop())
    const traceparent = `00-${traceId}-00f067aa0ba902b7-01`
    await app.post('/login', { username: 'ann', password: 'wrong' }, { traceparent })
    const refused = lines.find(({ event }) => event === 'sign-in-refused')
    assert.equal(traceOf(String(refused?.requestId)), expected)
  }
})
