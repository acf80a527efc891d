import assert from 'node:assert/strict'
import { readInbox, readPage } from '../inbox/inbox.store.ts'
import { addProducer, listProducers } from '../producers/producers.store.ts'
import { endSessions } from '../sessions/sessions.store.ts'
import { findUser } from '../users/users.store.ts'
import { at, isUnavailable, newId, type PromiseOf, refusedId } from './world.ts'

export function lifecyclePromises(promise: PromiseOf): void {
  promise(
    'of many concurrent writes each succeeds or fails alone, and is there after the store is opened again (law 5)',
    async (world) => {
      const ann = await world.addUser('ann')
      await world.send(ann, 'Earlier')
      const letters = Array.from({ length: 60 }, (_, n) => ({
        to: [ann],
        title: `no. ${n}`,
        ids: [n % 3 === 1 ? refusedId : newId()],
        idempotency: { key: `k${n}`, bodyHash: 'b1' },
      }))
      const settled = await Promise.allSettled([
        ...letters.map((letter) => world.deliver(letter)),
        world.store.write(addProducer, { ...producer, id: world.producerId }),
        world.store.write(addProducer, { ...producer, id: newId() }),
      ])
      const expected = letters.map((_, n) => (n % 3 === 1 ? 'rejected' : 'fulfilled'))
      assert.deepEqual(
        settled.map(({ status }) => status),
        [...expected, 'rejected', 'fulfilled'],
      )
      const stored = letters.filter(({ ids }) => ids[0] !== refusedId).map(({ title }) => title)
      assert.deepEqual(new Set(await world.titles(ann)), new Set([...stored, 'Earlier']))
      assert.equal((await world.store.read(readInbox, ann.id)).version, 41)
      assert.equal((await world.store.read(listProducers)).length, 2)
      const { history } = world.store
      await world.reopen()
      assert.equal(world.store.history, history)
      assert.equal((await world.store.read(readInbox, ann.id)).total, 41)
      assert.equal((await world.store.read(listProducers)).length, 2)
    },
  )

  promise('completes the writes in progress before it closes', async (world) => {
    const ann = await world.addUser('ann')
    const writing = Array.from({ length: 100 }, () => world.send(ann))
    await Promise.all([world.store.close(), ...writing])
    await world.reopen()
    assert.equal((await world.store.read(readInbox, ann.id)).total, 100)
  })

  promise('can be closed more than once', async ({ store }) => {
    await Promise.all([store.close(), store.close()])
    await store.close()
  })

  promise('refuses every call after it is closed, as UNAVAILABLE', async ({ store }) => {
    await store.check()
    await store.close()
    const late = [
      () => store.check(),
      () => store.read(findUser, newId()),
      () => store.read(readPage, { userId: newId(), page: 1, limit: 1, status: 'all' }),
      () =>
        store.write(endSessions, {
          keys: [{ userId: newId(), familyHash: 'any', secretHash: 'any' }],
          at: at(0),
        }),
    ]
    for (const act of late) await assert.rejects(act, isUnavailable)
  })

  promise('does not report a failure when it is closed', async ({ store }) => {
    await store.close()
    const first = await Promise.race([
      store.failed,
      new Promise((resolve) => setTimeout(resolve, 20, 'no failure')),
    ])
    assert.equal(first, 'no failure')
  })
}

const producer = {
  name: 'app',
  secretHash: 'hash',
  scopes: ['send'],
  createdAt: at(0),
  expiresAt: null,
}
