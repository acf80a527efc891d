// Each attempt ends when the test ends it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { CarillonError } from '../basics/errors.ts'
import { HashQueue } from './passwords.ts'

function queue({ maxAtOnce = 2, maxWaiting = 64, maxWaitMs = 60_000, refusalDelayMs = 0 } = {}) {
  const hashQueue = new HashQueue({ maxAtOnce, maxWaiting, maxWaitMs, refusalDelayMs })
  const started: string[] = []
  const refused: string[] = []
  const running: (() => void)[] = []
  return {
    hashQueue,
    started,
    refused,
    /** `started` and `refused` list it by `name`. */
    attempt(
      name: string,
      address: string | undefined,
      account: string,
      { signal, device }: Presented = {},
    ) {
      const work = () => {
        started.push(name)
        return new Promise<void>((resolve) => running.push(resolve))
      }
      hashQueue
        .run({ address, account, device, ...(signal && { signal }) }, work)
        .catch((error: unknown) => {
          assert.ok(error instanceof CarillonError, String(error))
          refused.push(`${name}: ${error.code}`)
        })
    },
    /** The attempt that began first ends. */
    async end(count = 1) {
      for (let n = 0; n < count; n++) {
        running.shift()?.()
        await nextTurn()
      }
    },
    get running() {
      return running.length
    },
  }
}

type Presented = { signal?: AbortSignal; device?: string | undefined }
const others = Array.from({ length: 20 }, (_, n) => `other ${n}`)

const attemptsBefore = (started: readonly string[], names: readonly string[]) =>
  Math.max(...names.map((name) => started.indexOf(name))) - names.length

type Flood = {
  what: string
  attacker(n: number): [address: string, account: string, presented?: Presented]
  /** Before the others come; the attacker is never idle after that. */
  begun?: number
  mostBefore?: number
  deviceOf?(name: string): string | undefined
}
const oneAddress = '192.0.2.1'
const ownDevices = {
  attacker: (n: number): ReturnType<Flood['attacker']> => [
    oneAddress,
    'eve',
    { device: `own ${n % 90}` },
  ],
  begun: 90,
  mostBefore: 2 * others.length + 4,
}
const floods: Flood[] = [
  { what: '200 attempts from one address at one account', attacker: () => [oneAddress, 'ann'] },
  {
    what: '200 attempts from one address at an account each',
    attacker: (n) => [oneAddress, `made up ${n}`],
  },
  {
    what: '200 attempts from one address at the accounts of the others',
    attacker: (n) => [oneAddress, others[n % 20] as string],
  },
  {
    what: 'guesses at one account from 200 addresses',
    attacker: (n) => [`192.0.${n >> 8}.${n & 255}`, 'ann'],
  },
  { what: '90 own devices of one user', ...ownDevices },
  {
    what: '90 own devices of one user, beside known devices,',
    ...ownDevices,
    deviceOf: (name) => `device of ${name}`,
  },
]

for (const { what, attacker, begun = 200, mostBefore = 8, deviceOf } of floods)
  test(`${what} refuse none of 20 other users, and take at most ${mostBefore} turns before them (A12)`, async () => {
    const { attempt, end, started, refused } = queue()
    for (let n = 0; n < begun; n++) attempt('attacker', ...attacker(n))
    await end()
    for (const [n, name] of others.entries())
      attempt(name, `203.0.113.${n}`, name, { device: deviceOf?.(name) })
    for (let n = begun; n < begun + 60; n++) {
      attempt('attacker', ...attacker(n))
      await end()
    }
    assert.deepEqual(
      refused.filter((name) => !name.startsWith('attacker')),
      [],
    )
    assert.ok(attemptsBefore(started, others) <= mostBefore, started.join(', '))
  })

test('the owner of an account that one address attacks runs second at the latest', async () => {
  const { attempt, end, started } = queue({ maxAtOnce: 1 })
  for (let n = 0; n < 64; n++) attempt('attacker', '192.0.2.1', 'ann')
  attempt('ann', '203.0.113.7', 'ann')
  await end(2)
  assert.ok(started.slice(0, 3).includes('ann'), started.join(', '))
})

test('addresses take turns, and within an address its accounts do', async () => {
  const { attempt, end, started } = queue({ maxAtOnce: 1 })
  attempt('first', 'x', 'x')
  for (const name of ['a1', 'a2', 'a3']) attempt(name, 'A', 'ann')
  for (const name of ['b1', 'b2']) attempt(name, 'A', 'ben')
  attempt('c1', 'B', 'carl')
  attempt('c2', 'B', 'carl')
  await end(8)
  assert.deepEqual(started, ['first', 'a1', 'c1', 'b1', 'c2', 'a2', 'b2', 'a3'])
})

test('a full queue refuses the oldest of the address with the most waiting', async () => {
  const { attempt, refused, hashQueue } = queue({ maxAtOnce: 1, maxWaiting: 5 })
  attempt('running', 'A', 'ann')
  for (const name of ['a1', 'a2', 'a3']) attempt(name, 'A', name)
  attempt('b1', 'B', 'ben')
  attempt('c1', 'C', 'carl')
  await nextTurn()
  assert.deepEqual(refused, ['a1: UNAVAILABLE'])
  attempt('a4', 'A', 'dora')
  attempt('d1', 'D', 'emma')
  await nextTurn()
  assert.deepEqual(refused, ['a1: UNAVAILABLE', 'a2: UNAVAILABLE', 'a3: UNAVAILABLE'])
  // Each address has one waiting attempt now: the oldest is refused.
  attempt('e1', 'E', 'fred')
  await nextTurn()
  assert.deepEqual(refused.at(-1), 'b1: UNAVAILABLE')
  assert.equal(hashQueue.waiting, 4)
})

test('a full queue refuses the oldest of the account that the most addresses wait for', async () => {
  const { attempt, refused } = queue({ maxAtOnce: 1, maxWaiting: 5 })
  attempt('running', 'A', 'ann')
  for (const address of ['A', 'B', 'C']) attempt(address, address, 'ann')
  attempt('ben', 'D', 'ben')
  attempt('carl', 'E', 'carl')
  await nextTurn()
  assert.deepEqual(refused, ['A: UNAVAILABLE'])
})

test('a full queue refuses the largest /48, in it the largest /56, and in that the largest /64 (A21)', async () => {
  const { attempt, refused } = queue({ maxAtOnce: 1, maxWaiting: 13 })
  attempt('running', '2001:db8::1', 'ann')
  // A /48 with six attempts: a /56 of which has three, from two of its /64.
  const six = ['0:100::1', '0:200::1', '0:200::2', '0:301::1', '0:302::1', '0:302::2']
  for (const address of six) attempt(address, `2001:db8:${address}`, address)
  // A /64 with four attempts.
  for (let n = 1; n <= 4; n++) attempt(`four ${n}`, `2001:db8:4::${n}`, `four ${n}`)
  attempt('ben', '192.0.2.1', 'ben')
  await nextTurn()
  assert.deepEqual(refused, ['0:302::1: UNAVAILABLE'])
})

test('the networks of one /56 take one turn together, and within it they take turns (A21)', async () => {
  const { attempt, end, started } = queue({ maxAtOnce: 1 })
  attempt('running', 'A', 'ann')
  const flood = Array.from({ length: 8 }, (_, n) => `2001:db8:0:1${n % 4}::${n}`)
  for (const [n, address] of flood.entries()) attempt(`flood ${n}`, address, `made up ${n}`)
  for (const name of ['ben', 'carl', 'dora']) attempt(name, `address of ${name}`, name)
  await end(8)
  assert.deepEqual(started.slice(1, 5), ['flood 0', 'ben', 'carl', 'dora'])
  assert.deepEqual(started.slice(5), ['flood 1', 'flood 2', 'flood 3', 'flood 4'])
})

test('every second turn is that of a known device, however many others wait, and of others if none waits (A21)', async () => {
  const { attempt, end, started } = queue({ maxAtOnce: 1 })
  attempt('running', 'A', 'ann')
  for (let n = 0; n < 30; n++) attempt(`flood ${n}`, `address ${n}`, `made up ${n}`)
  for (const name of ['ben', 'carl', 'dora'])
    attempt(name, '2001:db8::1', name, { device: `device of ${name}` })
  await end(8)
  assert.deepEqual(started, [
    'running',
    'ben',
    'flood 0',
    'carl',
    'flood 1',
    'dora',
    'flood 2',
    'flood 3',
    'flood 4',
  ])
})

test('each half has at most 48 of the 64 places; a full one refuses in the half that is further above 16, if equal the others (A21)', async () => {
  const { attempt, refused, hashQueue } = queue({ maxAtOnce: 1 })
  const refusedNow = () => refused.splice(0).map((name) => name.replace(/ \d+: UNAVAILABLE$/, ''))
  const stranger = (n: number) => attempt(`stranger ${n}`, `address ${n}`, `made up ${n}`)
  const known = (n: number) =>
    attempt(`known ${n}`, `home ${n}`, `user ${n}`, { device: `device ${n}` })
  attempt('running', 'A', 'ann')
  for (let n = 0; n < 60; n++) stranger(n)
  await nextTurn()
  assert.deepEqual([hashQueue.waiting, refusedNow()], [48, Array(12).fill('stranger')])
  for (let n = 0; n < 16; n++) known(n)
  await nextTurn()
  assert.deepEqual(
    [hashQueue.waiting, refusedNow()],
    [64, []],
    'a quarter was free for known devices',
  )
  // 48 and 16 become 32 and 32.
  for (let n = 16; n < 32; n++) known(n)
  await nextTurn()
  assert.deepEqual([hashQueue.waiting, refusedNow()], [64, Array(16).fill('stranger')])
  known(32)
  await nextTurn()
  assert.deepEqual(
    [hashQueue.waiting, refusedNow()],
    [64, ['known']],
    'the known devices are further above 16',
  )
  stranger(60)
  await nextTurn()
  assert.deepEqual(
    [hashQueue.waiting, refusedNow()],
    [64, ['stranger']],
    'the others are further above 16',
  )
})

test('the half of the known devices has at most 48 places, and leaves the others 16 (A12)', async () => {
  const { attempt, refused, hashQueue } = queue({ maxAtOnce: 1 })
  attempt('running', 'A', 'ann')
  for (let n = 0; n < 60; n++)
    attempt(`known ${n}`, '192.0.2.1', `user ${n}`, { device: `device ${n}` })
  await nextTurn()
  assert.deepEqual([hashQueue.waiting, refused.length], [48, 12])
  for (let n = 0; n < 16; n++) attempt(`stranger ${n}`, `address ${n}`, `made up ${n}`)
  await nextTurn()
  assert.deepEqual([hashQueue.waiting, refused.length], [64, 12])
})

test('equally full halves: one of the others is refused (A21)', async () => {
  const { attempt, refused } = queue({ maxAtOnce: 1, maxWaiting: 3 })
  attempt('running', 'A', 'ann')
  attempt('known 1', 'B', 'ben', { device: 'device 1' })
  attempt('known 2', 'C', 'carl', { device: 'device 2' })
  attempt('stranger 1', 'D', 'dora')
  attempt('stranger 2', 'E', 'emma')
  await nextTurn()
  assert.deepEqual(refused, ['stranger 1: UNAVAILABLE'])
})

test('a third known device of an account waits among the others (A12)', async () => {
  const { attempt, end, started } = queue({ maxAtOnce: 1 })
  attempt('running', 'A', 'ann')
  for (let n = 1; n <= 4; n++) attempt(`own ${n}`, 'home', 'eve', { device: `device ${n}` })
  attempt('stranger', 'elsewhere', 'made up')
  attempt('ben', 'B', 'ben', { device: 'device of ben' })
  await end(6)
  // In turns: of the known devices own 1, ben and own 2; of the others own 3, the stranger and own 4.
  assert.deepEqual(started, ['running', 'own 1', 'own 3', 'ben', 'stranger', 'own 2', 'own 4'])
})

test('a signed-in user is a network of its own: neither waits with the network nor loses its place to a flood there (A12)', async () => {
  const { attempt, end, started, refused } = queue({ maxAtOnce: 1, maxWaiting: 8 })
  attempt('running', 'A', 'ann')
  for (let n = 0; n < 20; n++) attempt(`flood ${n}`, '192.0.2.1', 'ben')
  attempt('ben', undefined, 'ben', { device: 'sign-in of ben' })
  attempt('carl', undefined, 'carl')
  await end(3)
  assert.deepEqual(started.slice(0, 4), ['running', 'ben', 'flood 15', 'carl'])
  assert.ok(
    refused.every((name) => name.startsWith('flood')),
    refused.join(', '),
  )
})

test('a device token has one place among the known devices; its other attempts wait among all others (A21)', async () => {
  const { attempt, end, started, refused } = queue({ maxAtOnce: 1, maxWaiting: 8 })
  attempt('running', 'A', 'ann')
  for (let n = 0; n < 10; n++)
    attempt(`stolen ${n}`, `address ${n}`, 'eve', { device: 'token of eve' })
  attempt('ben', 'home', 'ben', { device: 'token of ben' })
  await end(3)
  assert.deepEqual(started, ['running', 'stolen 0', 'stolen 4', 'ben'])
  assert.equal(refused.length, 3)
})

test('an attempt whose client disconnects is removed, and another takes its place in the queue', async () => {
  const { attempt, end, started, refused, hashQueue } = queue({ maxAtOnce: 1, maxWaiting: 2 })
  const gone = new AbortController()
  attempt('running', 'A', 'ann')
  attempt('gone', 'B', 'ben', gone)
  attempt('waits', 'C', 'carl')
  gone.abort()
  await nextTurn()
  assert.deepEqual([hashQueue.waiting, refused], [1, ['gone: TIMEOUT']])
  attempt('came gone', 'D', 'dora', gone)
  attempt('comes', 'E', 'emma')
  await end(3)
  assert.deepEqual(started, ['running', 'waits', 'comes'])
  assert.deepEqual(refused, ['gone: TIMEOUT', 'came gone: TIMEOUT'])
})

test('an attempt that has waited for the maximum time is refused', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { attempt, refused, hashQueue } = queue({ maxAtOnce: 1, maxWaitMs: 10_000 })
  attempt('running', 'A', 'ann')
  attempt('waits', 'B', 'ben')
  t.mock.timers.tick(10_000)
  await nextTurn()
  assert.deepEqual([hashQueue.waiting, refused], [0, ['waits: UNAVAILABLE']])
})

test('refusals are delayed, and take no place in the queue', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { attempt, refused, hashQueue } = queue({
    maxAtOnce: 1,
    maxWaiting: 1,
    refusalDelayMs: 200,
  })
  for (let n = 0; n < 7; n++) attempt('attacker', 'A', 'ann')
  await nextTurn()
  assert.deepEqual([hashQueue.waiting, refused.length], [1, 0])
  t.mock.timers.tick(200)
  await nextTurn()
  assert.deepEqual([hashQueue.waiting, refused.length], [1, 5])
})

test('runs at most `maxAtOnce` at the same time, also after failures', async () => {
  const hashQueue = new HashQueue({
    maxAtOnce: 2,
    maxWaiting: 6,
    maxWaitMs: 60_000,
    refusalDelayMs: 0,
  })
  const turn = (n: number) => ({ address: `${n}`, account: `${n}` })
  let now = 0
  let maxRunning = 0
  const fails = async () => {
    maxRunning = Math.max(maxRunning, ++now)
    await nextTurn()
    now--
    throw new Error('broken')
  }
  for (let round = 0; round < 3; round++)
    await Promise.all(
      Array.from({ length: 6 }, (_, n) => assert.rejects(hashQueue.run(turn(n), fails), /broken/)),
    )
  assert.deepEqual([maxRunning, now, hashQueue.waiting], [2, 0, 0])
  assert.equal(await hashQueue.run(turn(0), async () => 'done'), 'done')
})
