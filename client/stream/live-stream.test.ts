import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { TcpProxy } from '../../tests/support/network/tcp-proxy.ts'
import { startTestService, type TestService } from '../../tests/support/service.ts'
import { type Carillon, createCarillon, type StreamEvent } from '../carillon-client.ts'
import { failureOf, until } from '../testing/clients.ts'
import { Requests } from '../transport/requests.ts'
import { openStream } from './subscription.ts'

let service: TestService
before(async () => {
  service = await startTestService()
})
after(() => service.stop())

type Subscribe = Carillon['inbox']['subscribe']

/** `ended` resolves with the error that ended the stream. */
function follow(
  { inbox }: { inbox: { subscribe: Subscribe } },
  options: Parameters<Subscribe>[0] = {},
) {
  const events: StreamEvent[] = []
  const leave = new AbortController()
  const listening = async () => {
    for await (const event of inbox.subscribe({ signal: leave.signal, ...options }))
      events.push(event)
  }
  const ended = failureOf(listening())
  return {
    events,
    ended,
    seen: () => events.map((event) => `${event.type} ${event.version}`),
    count: (type: StreamEvent['type']) => events.filter((event) => event.type === type).length,
    async leave() {
      leave.abort()
      await ended
    },
  }
}

test('at least 200 notifications over randomly broken connections arrive once each, in order', async (t) => {
  const seed = Number(process.env.SEED ?? randomInt(2 ** 31))
  t.diagnostic(`SEED=${seed}`)
  let state = seed
  /** An LCG repeats its numbers for a seed. */
  const below = (bound: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * bound)
  }
  const ann = await service.user()
  await using proxy = await TcpProxy.to(Number(new URL(service.url).port))
  const { authorization = '' } = await service.signIn(ann, 'stateless')
  const auth = () => authorization.slice('Bearer '.length)
  const requests = new Requests({ baseUrl: proxy.urlFor(service.url) }, auth)
  // The server's `retry` is in seconds; the test needs shorter delays.
  const timing = {
    heartbeatMs: 15_000,
    connectMs: 15_000,
    retryMs: 20,
    maxRetryMs: 20,
    random: Math.random,
  }
  const following = follow({
    inbox: { subscribe: (options) => openStream(requests, options, timing) },
  })
  await until(() => following.count('hello') === 1)
  let disconnects = 0
  // Some connections end within an event.
  proxy.intercept = ({ direction, bytes }) => {
    if (direction === 'to server' || below(4) > 0) return undefined
    disconnects++
    return { pass: bytes.subarray(0, below(bytes.length)), disconnects: true }
  }
  let sent = 0
  for (; sent < 200 || disconnects < 10; sent += 4)
    await Promise.all(
      [1, 2, 3, 4].map((i) => service.deliver({ to: ann, title: `Number ${sent + i}` })),
    )
  proxy.intercept = undefined
  await until(() => following.count('created') >= sent)
  await sleep(50)
  await following.leave()
  const versions = following.events
    .filter(({ type }) => type === 'created')
    .map(({ version }) => version)
  assert.deepEqual(
    versions,
    Array.from({ length: sent }, (_, i) => i + 1),
  )
  t.diagnostic(`${disconnects} disconnects, ${following.count('hello')} connections`)
})

test('after its token expires the client calls `auth` again, and the stream continues without a gap', async () => {
  const ann = await service.user()
  let calls = 0
  const carillon: Carillon = createCarillon({
    baseUrl: service.url,
    async auth() {
      calls++
      const { username, password } = ann
      return (await carillon.login({ username, password, variant: 'stateless' })).token
    },
  })
  const following = follow(carillon)
  await until(() => following.count('hello') === 1)
  await service.deliver({ to: ann, title: 'One' })
  await until(() => following.count('created') === 1)
  service.pass(16 * 60_000)
  await until(() => following.count('hello') === 2)
  await service.deliver({ to: ann, title: 'Two' })
  await until(() => following.count('created') === 2)
  await following.leave()
  assert.deepEqual(following.seen(), ['hello 0', 'created 1', 'hello 1', 'created 2'])
  assert.equal(calls, 2)
})
