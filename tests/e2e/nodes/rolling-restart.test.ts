// A service of several processes is restarted one process after the other (R9): who asks through a balancer that goes
// by /readyz notices nothing.
import assert from 'node:assert/strict'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Balancer } from '../../support/network/balancer.ts'
import { newDatabase } from '../../support/postgres.ts'
import { Nodes, untilSo } from '../../support/processes/nodes.ts'
import { UserOfService } from '../../support/processes/user-of-service.ts'

const rounds = process.env.SOAK === undefined ? 1 : 20

const times = rounds === 1 ? 'a rolling restart' : `${rounds} rolling restarts`

for (const keepAlive of [true, false])
  test(`R9: ${times} of three nodes under load, through a balancer ${keepAlive ? 'that keeps its connections' : 'that connects for each request'}: 0 failed requests`, async (t) => {
    for (let tries = 1; !(await goesUnnoticed(t, { keepAlive, isLast: tries === 3 })); tries++);
  })

/**
 * False where a request failed and this process, which is the balancer too, had stood still: it has the grace of half a second to see
 * that a node is not ready. The last try fails with what failed.
 */
async function goesUnnoticed(
  t: TestContext,
  { keepAlive, isLast }: { keepAlive: boolean; isLast: boolean },
): Promise<boolean> {
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  const database = await newDatabase()
  t.after(() => database.drop())
  await using nodes = new Nodes(database.url, { CARILLON_DRAIN_GRACE: '500ms' })
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
  const note = (act: string, { status, text }: { status: number; text: string }) => {
    const line = status < 300 ? `${act}: ${status}` : `${act}: ${status} ${text}`
    statuses.set(line, (statuses.get(line) ?? 0) + 1)
  }
  const acts = [
    async () => note('list, session', await user.request({ path: '/api/notifications', headers: session })),
    async () => note('list, token', await user.request({ path: '/api/notifications', headers: token })),
    async () => note('read-all', await user.post('/api/notifications/read-all', {}, session)),
    async () => {
      const title = `No. ${delivered.length}`
      delivered.push(title)
      note('delivery', await user.deliver(title))
    },
    async () => {
      const proof = await user.signIn()
      note('sign-out', await user.request({ method: 'POST', path: '/logout', headers: proof }))
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
  const before = balancer.answered
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
  for (const [line, count] of statuses) assert.match(line, /: 20[014]$/, `${count} times`)
  assert.equal(statuses.size, acts.length)
  for (const [index, count] of balancer.answered.entries())
    assert.ok(count > (before[index] ?? 0), `node ${index} has no turn after its restart`)
  const titles = (await user.inbox(session)).map(({ title }) => title)
  assert.deepEqual(titles.sort(), [...delivered, 'Welcome to Carillon'].sort())
  return true
}
