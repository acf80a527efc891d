// Calls that meet in the same rows wait for each other in one order, never in a circle: a circle is broken by PostgreSQL
// after a second, and one of the two is told that the store cannot do it.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { newDatabase } from '../../../../tests/support/postgres.ts'
import { at, newId, runs, World } from '../../contract/world.ts'
import { openPostgresStore } from '../store.ts'

const { url, drop } = await newDatabase()
const { store } = await openPostgresStore(url, { partitions: 3 })
after(async () => {
  await store.close()
  await drop()
})
const world = await World.on(store)

test('deliveries with and without a key, to people of whom some were never told anything', async () => {
  for (let round = 0; round < runs(30); round++) {
    const people = await Promise.all(['ann', 'ben', 'cid', 'dan'].map((name) => world.addUser(`${name} ${round}`)))
    // Those of whom inboxes are taken first have one, the next have none, and so on.
    const inOrder = people.toSorted((a, b) => (a.id < b.id ? -1 : 1))
    await Promise.all(inOrder.filter((_, n) => n % 2 === 0).map((person) => world.send(person)))
    const letters = Array.from({ length: 8 }, (_, n) => ({
      to: n % 3 === 0 ? people.toReversed() : people,
      key: n % 2 === 0 ? 'build' : null,
      category: 'ci',
    }))
    await Promise.all(letters.map((letter) => world.deliver(letter)))
  }
})

test('sign-outs while cutoffs expire', async () => {
  const ann = await world.addUser('ann')
  const day = 24 * 3_600
  const cut = (seconds: number) =>
    store.revokeTokens({ userId: ann.id, signInId: newId(), notBefore: at(seconds), expiresAt: at(seconds) + 1 })
  for (let round = 0; round < runs(5); round++) {
    await Promise.all(Array.from({ length: 50 }, () => cut(round * 2 * day)))
    await Promise.all(Array.from({ length: 50 }, () => cut((round * 2 + 1) * day + 5)))
  }
  assert.ok((await store.tokenRevocations(0)).length <= 100, 'what expired stays')
})
