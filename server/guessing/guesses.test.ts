// However guesses are ordered, no more than the bound are evaluated (A9, A10), on two nodes with
// one store. A failing run prints its seed. SOAK=1 runs longer.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { newDatabase } from '../../tests/support/postgres.ts'
import { isSoak } from '../../tests/support/soak.ts'
import { CarillonError } from '../basics/errors.ts'
import { Sealing } from '../basics/secrets.ts'
import { readDatabaseUrl } from '../config/database-url.ts'
import { openStore } from '../open-store.ts'
import type { Store } from '../store/store.ts'
import { type Guesser, Guesses } from './guesses.ts'

const numRuns = isSoak ? 80 : 4
const second = 1_000
const hour = 3_600 * second
const day = 24 * hour

/** On SQLite both share the store that may open the file. */
async function nodesOn(engine: 'SQLite' | 'PostgreSQL'): Promise<[Store, Store]> {
  if (engine === 'PostgreSQL') {
    const { url, drop } = await newDatabase()
    const opened = [await openStore(readDatabaseUrl(url)), await openStore(readDatabaseUrl(url))]
    after(async () => {
      for (const { store } of opened) await store.close()
      await drop()
    })
    return opened.map((one) => one.store) as [Store, Store]
  }
  const folder = mkdtempSync(join(tmpdir(), 'carillon-guesses-'))
  const { store } = await openStore(readDatabaseUrl(`sqlite:${join(folder, 'carillon.db')}`))
  after(async () => {
    await store.close()
    rmSync(folder, { recursive: true })
  })
  return [store, store]
}

class World {
  now = Date.UTC(2026, 0, 1)
  readonly nodes: readonly Guesses[]
  /** Guesses of others. */
  readonly evaluated: number[] = []

  constructor(stores: readonly Store[]) {
    const sealing = new Sealing({ current: 'nine white storks on the roof, only for tests' })
    // The clock of the second node is a little behind.
    this.nodes = stores.map(
      (store, n) => new Guesses({ store, sealing, now: () => this.now - n * 40 }),
    )
  }

  /** 0 if it was evaluated. */
  async guess(on: number, guesser: Guesser): Promise<number> {
    try {
      const guesses = this.nodes[on] ?? assert.fail()
      await guesses.begin(guesses.of(guesser, 'password'))
      this.evaluated.push(this.now)
      return 0
    } catch (error) {
      assert.ok(error instanceof CarillonError && error.code === 'TOO_MANY_REQUESTS', String(error))
      assert.ok((error.retryAfter ?? 0) >= 1)
      return (error.retryAfter ?? 0) * second
    }
  }

  /** Wherever that time begins. */
  mostWithin(ms: number): number {
    let most = 0
    let from = 0
    for (const [n, at] of this.evaluated.entries()) {
      while ((this.evaluated[from] ?? at) <= at - ms) from++
      most = Math.max(most, n - from + 1)
    }
    return most
  }
}

/** Not at all, as long as the refusal says, or now and then longer than a count is kept. */
const waits = fc.oneof(
  { weight: 60, arbitrary: fc.constant<'as told' | number>('as told') },
  { weight: 6, arbitrary: fc.constant(0) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 2 * hour }) },
  { weight: 1, arbitrary: fc.integer({ min: day - hour, max: day + hour }) },
)
const nodes = fc.integer({ min: 0, max: 1 })
const steps = fc.array(
  fc.record({
    node: nodes,
    wait: waits,
    atOnce: fc.integer({ min: 1, max: 12 }),
    address: fc.integer({ min: 0, max: 255 }),
  }),
  { minLength: 120, maxLength: 200, size: 'max' },
)

let accounts = 0
/** Below 65,536: part of an address. */
let networks = 0

// The contract has simultaneous guesses on each engine.
for (const engine of isSoak ? (['SQLite', 'PostgreSQL'] as const) : (['SQLite'] as const)) {
  const stores = await nodesOn(engine)

  test(`no order of guesses from any addresses evaluates more than 100 of one account in 24 hours; the owner on a known device is never delayed (${engine}, A9, A10)`, async (t) => {
    let highest = 0
    await fc.assert(
      fc.asyncProperty(steps, fc.boolean(), async (all, isKnown) => {
        const world = new World(stores)
        const name = `account ${++accounts}`
        const account = isKnown ? name : { unknownName: name }
        const owner = { account: name, address: '198.18.0.1', device: `device of ${name}` }
        for (const { node, wait, atOnce, address } of all) {
          const guesses = Array.from({ length: atOnce }, (_, n) =>
            world.guess((node + n) % 2, { account, address: `198.18.1.${(address + n) % 256}` }),
          )
          const delays = await Promise.all(guesses)
          world.now += wait === 'as told' ? Math.max(...delays) : wait
          const own = world.nodes[node] ?? assert.fail()
          await own.succeed(await own.begin(own.of(owner, 'password')))
        }
        highest = Math.max(highest, world.mostWithin(day))
        assert.ok(world.mostWithin(day) <= 100, `${world.mostWithin(day)} were evaluated`)
      }),
      { numRuns },
    )
    t.diagnostic(`at most ${highest} in 24 hours`)
    assert.ok(highest > 50, 'the guessers did not try hard enough')
  })

  test(`no order of guesses at any accounts evaluates more of one address than 100 and then 100 an hour (${engine}, A10)`, async (t) => {
    let highest = 0
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const world = new World(stores)
        const network = ++networks
        for (const { node, wait, atOnce, address } of all) {
          const guesses = Array.from({ length: atOnce }, (_, n) =>
            world.guess((node + n) % 2, {
              account: { unknownName: `name ${++accounts}` },
              // Any address of the /64.
              address: `2001:db8:${network.toString(16)}:1:${address}::${n}`,
            }),
          )
          const delays = await Promise.all(guesses)
          world.now += wait === 'as told' ? Math.max(...delays) : wait
        }
        for (const hours of [1, 2, 24])
          assert.ok(
            world.mostWithin(hours * hour) <= 101 + 100 * hours,
            `${world.mostWithin(hours * hour)} in ${hours} h`,
          )
        highest = Math.max(highest, world.mostWithin(hour))
      }),
      { numRuns },
    )
    t.diagnostic(`at most ${highest} in an hour`)
    assert.ok(highest > 100, 'the guessers did not try hard enough')
  })
}

test('a guesser who never misses a moment gets 98 guesses in the first 24 hours, and fewer in each later 24 hours', async () => {
  const [store] = await nodesOn('SQLite')
  const world = new World([store])
  const account = 'a patient guess'
  while (world.now < Date.UTC(2026, 0, 4))
    world.now += await world.guess(0, { account, address: '198.18.0.1' })
  const first = world.evaluated.filter((at) => at < Date.UTC(2026, 0, 2)).length
  assert.deepEqual([first, world.mostWithin(day)], [98, 98])
})

test('a right sign-in of the owner on an unknown device ends the count of the account, and not that of account and address (A9, A10)', async () => {
  const [store] = await nodesOn('SQLite')
  const world = new World([store])
  const account = 'a busy owner'
  const owner = { account, address: '198.18.0.1' }
  const signIn = async () => {
    const [node = assert.fail()] = world.nodes
    await node.succeed(await node.begin(node.of(owner, 'password')))
  }
  let addresses = 0
  for (let round = 0; round < 30; round++) {
    const guesses = [1, 2, 3, 4].map(() =>
      world.guess(0, { account, address: `198.18.1.${++addresses}` }),
    )
    assert.deepEqual(await Promise.all(guesses), [0, 0, 0, 0])
    await signIn()
  }
  assert.equal(world.mostWithin(day), 120, 'by 120 addresses, with the help of the owner')
  world.now += 2 * day
  world.evaluated.length = 0
  const end = world.now + 2 * day
  while (world.now < end) {
    world.now += await world.guess(0, { account, address: '198.18.2.1' })
    await signIn()
  }
  assert.equal(world.mostWithin(day), 98, 'by one address')
})

test('a /56 of IPv6 has four times the guesses of a /64, and a /48 sixteen times, at once and later (A21)', async () => {
  const [store] = await nodesOn('SQLite')
  const world = new World([store])
  /** 256 of each /56. */
  const addressIn = (n: number) => `2001:db8:56:${n.toString(16)}::${n.toString(16)}`
  const guess = (n: number) =>
    world.guess(0, { account: { unknownName: `name ${++accounts}` }, address: addressIn(n) })
  const areEvaluated = async (count: number, from: number, addresses: number) => {
    for (let n = 0; n < count; n += 50) {
      const some = Array.from({ length: 50 }, (_, m) => guess(from + ((n + m) % addresses)))
      assert.deepEqual(await Promise.all(some), Array(50).fill(0), `${n}`)
    }
  }
  await areEvaluated(400, 0, 256)
  assert.equal(await guess(0), 9 * second, 'of the /56')
  await areEvaluated(1_200, 256, 1_200)
  assert.equal(await guess(0x2000), 3 * second, 'of the /48')
  world.now += 3 * second
  assert.deepEqual(
    [await guess(0x2000), await guess(0), await guess(0x2001)],
    [0, 6 * second, 2 * second],
  )
  const other = { account: { unknownName: `name ${++accounts}` }, address: '2001:db8:57::1' }
  assert.equal(await world.guess(0, other), 0)
})
