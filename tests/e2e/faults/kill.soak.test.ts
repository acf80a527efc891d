// Kills a service at random moments under load: everything acknowledged is there, and any other
// request can be repeated and takes effect once (R1, D1-D3). SOAK=1 kills 500 times.
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { SqliteBehind } from '../../support/network/database-behind.ts'
import { CarillonProcess, Folder, firstSignInOf } from '../../support/processes/carillon-process.ts'
import { idIn, UserOfService } from '../../support/processes/user-of-service.ts'
import type { Proof } from '../../support/service.ts'

// At this limit no sign-in of a round ends a session of that round or of the one before.
const env = { CARILLON_SESSIONS_PER_USER: '1000' }
const rounds = process.env.SOAK === undefined ? 20 : 500

class Ledger {
  /** Id of the notification by idempotency key, which is also its title. */
  readonly delivered = new Map<string, string>()
  readonly unsureDeliveries = new Set<string>()
  readonly read = new Set<string>()
  readonly unsureReads = new Set<string>()
  readonly sessions: Proof[] = []
  readonly signedOut: Proof[] = []
  /** The ids that were acknowledged in this round. */
  fresh: string[] = []
}

async function untilKilled(act: () => Promise<void>, killed: AbortSignal): Promise<void> {
  while (!killed.aborted)
    try {
      await act()
    } catch (error) {
      // The connection broke. Any other error is a defect of this test or a wrong response.
      if (
        (error as NodeJS.ErrnoException).code === undefined ||
        error instanceof assert.AssertionError
      )
        throw error
      return
    }
}

let deliveries = 0

type Load = { proof: Proof; killed: AbortSignal }

async function load(user: UserOfService, ledger: Ledger, { proof, killed }: Load): Promise<void> {
  const deliver = async () => {
    const key = `delivery-${++deliveries}`
    ledger.unsureDeliveries.add(key)
    const response = await user.deliver(key, key)
    assert.equal(response.status, 201, response.text)
    ledger.unsureDeliveries.delete(key)
    ledger.delivered.set(key, idIn(response))
    ledger.fresh.push(idIn(response))
  }
  const read = async () => {
    const id = ledger.fresh[randomInt(ledger.fresh.length + 1)]
    if (id === undefined || ledger.read.has(id)) return sleep(1)
    ledger.unsureReads.add(id)
    assert.equal(
      (
        await user.request({
          method: 'PATCH',
          path: `/api/notifications/${id}/read`,
          headers: proof,
        })
      ).status,
      204,
    )
    ledger.unsureReads.delete(id)
    ledger.read.add(id)
  }
  const signInAndOut = async () => {
    const kept = await user.signIn()
    const ended = await user.signIn()
    ledger.sessions.push(kept)
    assert.equal(
      (await user.request({ method: 'POST', path: '/logout', headers: ended })).status,
      204,
    )
    ledger.signedOut.push(ended)
  }
  const acts = [...Array(16).fill(deliver), ...Array(6).fill(read), ...Array(2).fill(signInAndOut)]
  await Promise.all(acts.map((act) => untilKilled(act, killed)))
}

/** Repeats every unacknowledged request twice; both responses must name the same notification. */
async function retry(user: UserOfService, ledger: Ledger, proof: Proof): Promise<void> {
  for (const key of ledger.unsureDeliveries) {
    const first = await user.deliver(key, key)
    const second = await user.deliver(key, key)
    assert.deepEqual([first.status, second.status], [201, 201])
    assert.equal(idIn(first), idIn(second))
    ledger.delivered.set(key, idIn(first))
  }
  for (const id of ledger.unsureReads) {
    assert.equal(
      (
        await user.request({
          method: 'PATCH',
          path: `/api/notifications/${id}/read`,
          headers: proof,
        })
      ).status,
      204,
    )
    ledger.read.add(id)
  }
  ledger.unsureDeliveries.clear()
  ledger.unsureReads.clear()
}

/** `before` is how many other notifications were in the inbox at the start. */
async function isKept(
  user: UserOfService,
  ledger: Ledger,
  { proof, before }: { proof: Proof; before: number },
) {
  for (const id of ledger.fresh) {
    const response = await user.request({ path: `/api/notifications/${id}`, headers: proof })
    assert.equal(response.status, 200, `${id} was acknowledged and is lost`)
    if (ledger.read.has(id))
      assert.equal(response.json().data.read, true, `${id} was read and is not`)
  }
  for (const session of ledger.sessions.splice(0))
    assert.equal(
      (await user.request({ path: '/api/me', headers: session })).status,
      200,
      'a session is lost',
    )
  for (const session of ledger.signedOut.splice(0))
    assert.equal(
      (await user.request({ path: '/api/me', headers: session })).status,
      401,
      'an ended session lives',
    )
  await retry(user, ledger, proof)
  const { data } = (
    await user.request({ path: '/api/notifications/counts', headers: proof })
  ).json()
  assert.equal(data.total, before + ledger.delivered.size, 'not exactly one of each')
  assert.equal(data.unread, data.total - ledger.read.size)
}

async function isSound(folder: Folder): Promise<void> {
  const file = new SqliteBehind(folder.path)
  assert.deepEqual(await file.rows('pragma integrity_check'), [{ integrity_check: 'ok' }])
  await file.close()
}

test(`killed ${rounds} times under load, the service keeps everything that it acknowledged, once, and is ready again soon (R1)`, async (t) => {
  using folder = new Folder()
  const ledger = new Ledger()
  const readyAfterMs: number[] = []
  let device: Proof = {}
  let kept = 0
  for (let round = 0; round <= rounds; round++) {
    const startedAt = performance.now()
    await using running = await CarillonProcess.ready(folder, { env })
    const user = new UserOfService(running.url, firstSignInOf(folder))
    assert.equal((await user.request({ path: '/readyz' })).status, 200)
    readyAfterMs.push(performance.now() - startedAt)
    // Sign-ins that a kill cut off count as failures: on a known device until one succeeds, but of an address for an hour.
    user.device = device
    const proof = await user.signIn()
    device = user.device
    await isKept(user, ledger, { proof, before: 1 })
    await isSound(folder)
    if (round === rounds) {
      const titles = (await user.inbox(proof)).map(({ title }) => title)
      assert.equal(titles.pop(), 'Welcome to Carillon')
      assert.deepEqual(titles.sort(), [...ledger.delivered.keys()].sort())
      user.close()
      break
    }
    kept += ledger.fresh.length
    ledger.fresh = []
    const killed = new AbortController()
    const working = load(user, ledger, { proof, killed: killed.signal })
    await sleep(randomInt(20, 500))
    await running.end('SIGKILL')
    killed.abort()
    await working
    user.close()
  }
  const [first = 0] = readyAfterMs
  readyAfterMs.sort((a, b) => a - b)
  const median = readyAfterMs[Math.floor(readyAfterMs.length / 2)] ?? 0
  t.diagnostic(
    `${kept + ledger.fresh.length} deliveries acknowledged under load, ${ledger.delivered.size} in all`,
  )
  t.diagnostic(
    `ready again after ${median.toFixed(0)} ms, at most ${readyAfterMs.at(-1)?.toFixed(0)} ms`,
  )
  assert.ok(ledger.delivered.size > rounds && ledger.read.size > rounds, 'the load was too low')
  // On a slow machine the limit is twice the time of the first start, which had nothing to recover.
  assert.ok(
    median < Math.min(4_000, Math.max(2_000, 2 * first)),
    `ready again after ${median} ms, first after ${first} ms`,
  )
})
