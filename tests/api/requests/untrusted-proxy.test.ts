// A proxy that the service does not trust: all clients behind it have its address, and the operator has to learn of it.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { pino } from 'pino'
import { startTestService } from '../../support/service.ts'

async function withLog(env: Record<string, string>) {
  const lines: Record<string, unknown>[] = []
  const log = pino({ level: 'info', base: null }, { write: (line: string) => lines.push(JSON.parse(line)) })
  const app = await startTestService({ env, log })
  after(() => app.stop())
  return { app, warnings: () => lines.filter(({ event }) => event === 'proxy-not-trusted') }
}

for (const [header, value] of Object.entries({ 'X-Forwarded-For': '203.0.113.9', Forwarded: 'for=203.0.113.9' }))
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
