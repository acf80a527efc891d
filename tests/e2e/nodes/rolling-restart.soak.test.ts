// The processes of a service restart one after another; behind a load balancer that checks /readyz
// no request fails (R9).
import assert from 'node:assert/strict'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Nodes, untilSo } from '../../support/processes/nodes.ts'
import { UserOfService } from '../../support/processes/user-of-service.ts'
import { Balancer } from '../../support/proxies/balancer.ts'

const rounds = process.env.SOAK === undefined ? 1 : 20

const times = rounds === 1 ? 'a rolling restart' : `${rounds} rolling restarts`

for (const keepAlive of [true, false])
  test(`${times} of three nodes under load, behind a balancer that ${keepAlive ? 'reuses connections' : 'connects for each request'}: 0 failed requests (R9)`, async (t) => {
    let tries = 1
    while (!(await goesUnnoticed(t, { keepAlive, isLast: tries === 3 }))) tries++
  })

/**
 * Returns false if this process, which is also the balancer, was blocked for longer than the drain
 * grace of half a second, and could not see that a node was not ready.
 */
async function goesUnnoticed(
  t: TestContext,
  { keepAlive, isLast }: { keepAlive: boolean; isLast: boolean },
): Promise<boolean> {
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  await using nodes = await Nodes.on('PostgreSQL', { settings: { CARILLON_DRAIN_GRACE: '500ms' } })
  const all = [await nodes.add(), await nodes.add(), await nodes.add()]
  await using balancer = await Balancer.before(
    all.map(({ port }) => port),
    { keepAlive },
  )
  const user = new UserOfService(balancer.url, nodes.firstSignIn, { connections: 16 })
  t.after(() => user.close())
  const session = await user.signIn('stateful')
  const token = await user.signIn('stateless')

  const statuses = new Map<string, number>()
  const delivered: string[] = []
  let isOver = false
  const count = (act: string, { status, text }: { status: number; text: string }) => {
    const line = status < 300 ? `${act}: ${status}` : `${act}: ${status} ${text}`
    statuses.set(line, (statuses.get(line) ?? 0) + 1)
  }
  const acts = [
    async () =>
      count('list, session', await user.request({ path: '/api/notifications', headers: session })),
    async () =>
      count('list, token', await user.request({ path: '/api/notifications', headers: token })),
    async () => count('read-all', await user.post('/api/notifications/read-all', {}, session)),
    async () => {
      const title = `No. ${delivered.length}`
      delivered.push(title)
      count('delivery', await user.deliver(title))
    },
    async () => {
      const proof = await user.signIn()
      count('sign-out', await user.request({ method: 'POST', path: '/logout', headers: proof }))
    },
  ]
  const work = async (act: () => Promise<void>) => {
    while (!isOver) await act()
  }
  delay.reset()
  const working = Promise.all([...acts, ...acts].map(work))
  working.catch(() => {})

  for (let round = 0; round < rounds; round++)
    for (const node of all) {
      await sleep(300)
      assert.equal((await node.process.end('SIGTERM')).status, 0)
      await untilSo(async () => !balancer.isReady(node.port))
      await node.again()
      await untilSo(async () => balancer.isReady(node.port))
    }
  const before = balancer.responses
  await sleep(300)
  isOver = true
  const failure = await working.then(
    () => undefined,
    (error: unknown) => error,
  )
  const hasFailed = failure || [...statuses.keys()].some((line) => !/: 20[014]$/.test(line))
  if (hasFailed && delay.max > 250e6 && !isLast) return false
  if (failure) throw failure

  t.diagnostic(`${JSON.stringify([...statuses])}`)
  for (const [line, lines] of statuses) assert.match(line, /: 20[014]$/, `${lines} times`)
  assert.equal(statuses.size, acts.length)
  for (const [index, responses] of balancer.responses.entries())
    assert.ok(responses > (before[index] ?? 0), `node ${index} gets no requests after its restart`)
  const titles = (await user.inbox(session)).map(({ title }) => title)
  assert.deepEqual(titles.sort(), [...delivered, 'Welcome to Carillon'].sort())
  return true
}
