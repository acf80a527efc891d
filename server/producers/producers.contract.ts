import assert from 'node:assert/strict'
import { at, newId, type PromiseOf } from '../contract/world.ts'
import { explainNotification } from '../inbox/examined/explain.store.ts'
import {
  addProducer,
  countUses,
  findProducer,
  listProducers,
  revokeProducer,
  rotateProducer,
  touchProducer,
} from './producers.store.ts'

export function producerPromises(promise: PromiseOf): void {
  promise('finds a producer as it was added', async ({ store }) => {
    const expiring = {
      id: newId(),
      name: 'ci',
      secretHash: 'h1',
      scopes: ['send', 'users'],
      createdAt: at(1),
    }
    const bare = { id: newId(), name: 'ci', secretHash: 'h2', scopes: [], createdAt: at(2) }
    await store.write(addProducer, { ...expiring, expiresAt: at(99) })
    await store.write(addProducer, { ...bare, expiresAt: null })
    const fresh = {
      application: '',
      revokedAt: null,
      lastUsedAt: null,
      previousSecretHash: null,
      previousUntil: null,
      rate: null,
    }
    const found = { ...expiring, expiresAt: at(99), ...fresh, createsUsers: true }
    assert.deepEqual(await store.read(findProducer, expiring.id), found)
    assert.deepEqual(await store.read(findProducer, bare.id), {
      ...bare,
      expiresAt: null,
      ...fresh,
      createsUsers: false,
    })
    const limited = { ...expiring, id: newId(), rate: { quota: 600, seconds: 60 } }
    await store.write(addProducer, { ...limited, expiresAt: at(99) })
    assert.deepEqual(await store.read(findProducer, limited.id), { ...found, ...limited })
    const careful = { ...expiring, id: newId(), createsUsers: false }
    await store.write(addProducer, { ...careful, expiresAt: at(99) })
    assert.deepEqual(await store.read(findProducer, careful.id), { ...found, ...careful })
    assert.equal(await store.read(findProducer, newId()), undefined)
  })

  promise(
    'producers that are added at the same time each have their own notifications',
    async (world) => {
      const ann = await world.addUser('ann')
      for (let round = 0; round < 5; round++)
        for (const producerId of await Promise.all(
          ['a', 'b'].map((name) => world.addProducer(name)),
        )) {
          const id = await world.send(ann, 'Hi', { producerId })
          const found = await world.store.read(explainNotification, { userId: ann.id, id })
          assert.equal(found && 'seq' in found && found.senderId, producerId)
        }
    },
  )

  promise('lists producers, oldest first, including revoked ones', async (world) => {
    const third = await world.addProducer('third', { createdAt: at(30) })
    const first = await world.addProducer('first', { createdAt: at(10) })
    const second = await world.addProducer('second', { createdAt: at(20) })
    await world.store.write(revokeProducer, { producerId: second, at: at(40) })
    const listed = await world.store.read(listProducers)
    assert.deepEqual(
      listed.map(({ id }) => id),
      [world.producerId, first, second, third],
    )
    for (const producer of listed)
      assert.deepEqual(await world.store.read(findProducer, producer.id), producer)
  })

  promise(
    'revokes a producer’s key and no other; repeating the call keeps the first revokedAt',
    async (world) => {
      const revoked = await world.addProducer('a')
      const other = await world.addProducer('b')
      assert.equal(
        await world.store.write(revokeProducer, { producerId: revoked, at: at(5) }),
        'done',
      )
      assert.equal(
        await world.store.write(revokeProducer, { producerId: revoked, at: at(9) }),
        'done',
      )
      assert.equal(
        await world.store.write(revokeProducer, { producerId: newId(), at: at(9) }),
        'absent',
      )
      assert.equal((await world.store.read(findProducer, revoked))?.revokedAt, at(5))
      assert.equal((await world.store.read(findProducer, other))?.revokedAt, null)
    },
  )

  promise('records that a producer’s key was used, for that producer only', async (world) => {
    const used = await world.addProducer('a')
    const other = await world.addProducer('b')
    await world.store.write(touchProducer, { producerId: used, at: at(5) })
    await world.store.write(touchProducer, { producerId: newId(), at: at(6) })
    assert.equal((await world.store.read(findProducer, used))?.lastUsedAt, at(5))
    assert.equal((await world.store.read(findProducer, other))?.lastUsedAt, null)
  })

  promise(
    'adds up the uses of a key in a window of its rate, and begins again in a later one (L9)',
    async (world) => {
      const producerId = await world.addProducer('a')
      const other = await world.addProducer('b')
      const count = (window: number, uses: number, id = producerId) =>
        world.store.write(countUses, { producerId: id, window, uses })
      assert.deepEqual([await count(7, 3), await count(7, 2), await count(7, 1, other)], [3, 5, 1])
      assert.deepEqual([await count(8, 4), await count(7, 9), await count(8, 1)], [4, 0, 5])
      const totals = await Promise.all(Array.from({ length: 10 }, () => count(9, 1)))
      assert.deepEqual(
        totals.toSorted((one, next) => one - next),
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
      )
      assert.equal(await count(9, 1, newId()), 0)
    },
  )

  promise(
    'gives a producer a new secret, keeps the one before it, and neither for a revoked one',
    async (world) => {
      const { store } = world
      const rotated = await world.addProducer('a')
      const revoked = await world.addProducer('b')
      const before = await store.read(findProducer, rotated)
      const rotate = (producerId: string, secretHash: string, previousUntil: number) =>
        store.write(rotateProducer, { producerId, secretHash, previousUntil })
      assert.equal(await rotate(rotated, 'h2', at(50)), 'done')
      const once = {
        ...before,
        secretHash: 'h2',
        previousSecretHash: before?.secretHash,
        previousUntil: at(50),
      }
      assert.deepEqual(await store.read(findProducer, rotated), once)
      assert.equal(await rotate(rotated, 'h3', at(60)), 'done')
      const twice = { ...once, secretHash: 'h3', previousSecretHash: 'h2', previousUntil: at(60) }
      assert.deepEqual(await store.read(findProducer, rotated), twice)
      await store.write(revokeProducer, { producerId: revoked, at: at(5) })
      assert.equal(await rotate(revoked, 'h4', at(60)), 'absent')
      assert.equal(await rotate(newId(), 'h4', at(60)), 'absent')
      assert.equal((await store.read(findProducer, revoked))?.previousUntil, null)
    },
  )
}
