import assert from 'node:assert/strict'
import { at, newId, type PromiseOf, type World } from '../contract/world.ts'
import {
  addFactor as addStoredFactor,
  factorsOf,
  factorsSealedOtherwise,
  resealFactors,
} from './factors.store.ts'

export function sealedTextPromises(promise: PromiseOf): void {
  promise(
    'lists the factors that were sealed otherwise, in batches, and no passkey',
    async (world) => {
      const people = await Promise.all(['ann', 'ben', 'cid'].map((name) => world.addUser(name)))
      for (const { id } of people) await addFactor(world, { userId: id, sealedSecret: 'old..text' })
      await addFactor(world, { userId: people[0]?.id ?? '', sealedSecret: 'new..text' })
      await addFactor(world, { userId: people[0]?.id ?? '' })
      const { store } = world
      const batch = (after: { userId: string; id: string }) =>
        store.read(factorsSealedOtherwise, { prefix: 'new..', after, limit: 2 })
      const first = await batch({ userId: '', id: '' })
      const rest = await batch(first[1] ?? { userId: '', id: '' })
      assert.deepEqual([first.length, rest.length], [2, 1])
      const users = [...first, ...rest].map(({ userId }) => userId)
      assert.deepEqual(users, people.map(({ id }) => id).toSorted())
      for (const { sealedSecret } of [...first, ...rest]) assert.equal(sealedSecret, 'old..text')
    },
  )

  promise(
    'replaces sealed secrets, each only if it is still the one that was read',
    async (world) => {
      const { store } = world
      const { id: userId } = await world.addUser('ann')
      const one = await addFactor(world, { userId, sealedSecret: 'old..1' })
      const other = await addFactor(world, { userId, sealedSecret: 'old..2' })
      const factors = [
        { userId, id: one, from: 'old..1', to: 'new..1' },
        { userId, id: other, from: 'another', to: 'new..2' },
        { userId: newId(), id: one, from: 'old..1', to: 'new..3' },
      ]
      assert.equal(await store.write(resealFactors, { factors }), 1)
      assert.equal(await store.write(resealFactors, { factors }), 0)
      const sealed = (await store.read(factorsOf, userId)).factors.map((factor) => [
        factor.id,
        factor.sealedSecret,
      ])
      assert.deepEqual(Object.fromEntries(sealed), { [one]: 'new..1', [other]: 'old..2' })
    },
  )
}

async function addFactor(
  world: World,
  { userId, sealedSecret }: { userId: string; sealedSecret?: string },
) {
  const id = newId()
  const times = { createdAt: at(0), confirmedAt: at(1) }
  const kind = sealedSecret === undefined ? ('passkey' as const) : ('totp' as const)
  const factor = {
    id,
    kind,
    label: 'phone',
    ...times,
    ...(sealedSecret !== undefined && { sealedSecret }),
  }
  await world.store.write(addStoredFactor, {
    userId,
    factor,
    maxFactors: 10,
    recoveryCodeHashes: [],
  })
  return id
}
