import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { updateUser } from '../../../server/users/users.store.ts'
import { MailServer } from '../../support/network/mail-server.ts'
import { startTestService } from '../../support/service.ts'

const mailServer = await MailServer.start()
const env = { CARILLON_SMTP_URL: mailServer.url }
const app = await startTestService({ env })
after(async () => {
  await app.stop()
  await mailServer.stop()
})

const isSoak = process.env.SOAK !== undefined
const rounds = isSoak ? 1_000 : 100
/** The AUC of equal times is within 4 standard deviations of one half: 0.16 with 100 of each, and 0.05 with 1,000. */
const maxDistance = isSoak ? 0.05 : 0.16

function auc(a: readonly number[], b: readonly number[]): number {
  const wins = a.flatMap((x) => b.map((y) => (Math.sign(x - y) + 1) / 2))
  return wins.reduce<number>((sum, win) => sum + win, 0) / wins.length
}

async function millisecondsOf(username: string): Promise<number> {
  const from = performance.now()
  const { status } = await app.post('/password/forgot', { username })
  const took = performance.now() - from
  assert.equal(status, 202)
  return took
}

test('a known and an unknown user cannot be told apart by the time of the response (A1)', async (t) => {
  const ann = await app.user()
  await app.store.write(updateUser, { userId: ann.id, email: 'ann@example.org' })
  const times: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] }
  const names = { known: ann.username, unknown: ann.username.replace(/.$/, 'x') }
  while (times.known.length + times.unknown.length < 2 * rounds) {
    // In a fixed order, what a request leaves behind would be a difference.
    const kind = Math.random() < 0.5 ? 'known' : 'unknown'
    // So that each request is within the limits, and no limit hides a difference.
    app.pass(24 * 3_600_000)
    times[kind].push(await millisecondsOf(names[kind]))
    // The work of this request must not slow the next one.
    if (kind === 'known') await mailServer.received(times.known.length)
    await sleep(5)
  }
  const area = auc(times.known, times.unknown)
  t.diagnostic(`AUC ${area.toFixed(3)}`)
  assert.ok(Math.abs(area - 0.5) <= maxDistance, `AUC ${area.toFixed(3)}`)
})
