// When the wall clock is set back by an hour, sessions, tokens and streams still end in time (R8).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { EventReader } from '../../support/event-source/event-source.ts'
import { CarillonProcess, Folder, firstSignInOf } from '../../support/processes/carillon-process.ts'
import { untilSo } from '../../support/processes/nodes.ts'
import { UserOfService } from '../../support/processes/user-of-service.ts'
import { type Proof, variants } from '../../support/service.ts'

const shift = fileURLToPath(new URL('../../support/processes/shifted-date.ts', import.meta.url))
/** A machine pauses for less while the test signs in and opens streams. */
const lifeMs = 15_000
const leewayMs = 60_000

const env = {
  CARILLON_TOKEN_LIFETIME: '15s',
  CARILLON_SESSION_IDLE: '15s',
  CARILLON_SESSION_LIFETIME: '15s',
}

test('after the clock is set back by an hour, sessions, tokens and streams end at most 60 s late, and one line warns (R8)', async (t) => {
  using folder = new Folder()
  await using running = await CarillonProcess.ready(folder, {
    env,
    nodeOptions: ['--import', shift],
  })
  const user = new UserOfService(running.url, firstSignInOf(folder))
  const statusOf = async (headers: Proof) =>
    (await user.request({ path: '/api/notifications', headers })).status
  const proofs = [await user.signIn('stateful'), await user.signIn('stateless')]
  const from = performance.now()
  const streams = await Promise.all(proofs.map((proof) => EventReader.of(running.url, proof)))
  for (const proof of proofs) assert.equal(await statusOf(proof), 200)
  running.child.kill('SIGUSR2')
  await untilSo(async () => running.stderr.includes('set back'))
  for (const [n, proof] of proofs.entries()) {
    await untilSo(async () => (await statusOf(proof)) === 401, lifeMs + leewayMs)
    await streams[n]?.ended(leewayMs)
    t.diagnostic(`${variants[n]}: over after ${(performance.now() - from).toFixed(0)} ms`)
  }
  user.close()
  const warnings = running.lines.filter(({ msg }) => msg.startsWith('The clock was set back'))
  assert.equal(warnings.length, 1)
  assert.ok(Math.abs(Number(warnings[0]?.aheadMs) - 3_600_000) < 60_000)
})
