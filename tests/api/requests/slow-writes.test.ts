// The tests run side by side, since each takes its nine seconds or more (R18).
import assert from 'node:assert/strict'
import { after, suite, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { readNotification } from '../../../server/inbox/inbox.store.ts'
import { replaceOperation } from '../../../server/store/testing/operations.ts'
import { putUsers } from '../../../server/users/put-users.store.ts'
import { refusalIn } from '../../support/http/envelope.ts'
import { untilSo } from '../../support/processes/nodes.ts'
import { startTestService } from '../../support/service.ts'

type Line = Readonly<Record<string, unknown>>

/** Each write of users takes until `release`. */
async function startSlowService(t: TestContext) {
  const lines: Line[] = []
  const log = pino(
    { level: 'info', base: null },
    { write: (line: string) => lines.push(JSON.parse(line)) },
  )
  const app = await startTestService({ log })
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  t.after(() => release())
  const producer = `Bearer ${(await app.producerKey(['users'])).key}`
  const begun = Promise.withResolvers<void>()
  replaceOperation(app.store, putUsers, async (_, run) => {
    begun.resolve()
    await released
    return run()
  })
  const path = '/api/users/external/customer-7'
  const fields: [string, string][] = [
    ['authorization', producer],
    ['content-type', 'application/json'],
  ]
  return {
    app,
    lines,
    release,
    begun: begun.promise,
    put: () => app.exchange(path, { method: 'PUT', fields, body: '{"displayName":"Ann"}' }),
    find: () => app.exchange(path, { fields }),
  }
}

suite('a store that takes longer than the limits of a connection (R18)', {
  concurrency: true,
}, () => {
  test('a write gets 503 after 9 s, with a line, and is stored all the same (R18)', async (t) => {
    const { app, put, find, release, lines } = await startSlowService(t)
    after(() => app.stop())
    const startedAt = performance.now()
    const late = refusalIn(await put())
    assert.ok(performance.now() - startedAt > 8_900)
    assert.equal(late.status, 503)
    assert.match(late.message, /the outcome is unknown$/)
    const found = lines.filter(({ event }) => event === 'outcome-unknown')
    assert.deepEqual(
      found.map(({ requestId, method, route }) => [requestId, method, route]),
      [[late.requestId, 'PUT', '/api/users/external/:externalId']],
    )
    assert.equal((await find()).status, 404)
    release()
    await untilSo(async () => (await find()).status === 200)
    assert.equal((await put()).status, 200)
  })

  test('a request is not ended as idle while its handler works (R18)', async () => {
    const app = await startTestService()
    after(() => app.stop())
    const ann = await app.user('ann')
    const proof = await app.signIn(ann, 'stateful')
    const [id] = await app.deliver({ to: ann, title: 'Slow' })
    replaceOperation(app.store, readNotification, async (_, run) => {
      await sleep(11_000)
      return run()
    })
    const { status } = await app.exchange(`/api/notifications/${id}`, {
      fields: [['cookie', proof.cookie ?? '']],
    })
    assert.equal(status, 200)
  })

  test('a write that still runs when a stop would disconnect it gets 503 before (R9, R18)', async (t) => {
    const { app, put, begun, release } = await startSlowService(t)
    const refused = put()
    await begun
    const stopped = app.stop()
    const { status, message } = refusalIn(await refused)
    release()
    await stopped
    assert.equal(status, 503)
    assert.match(message, /the outcome is unknown$/)
  })
})
