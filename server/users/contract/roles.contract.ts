import assert from 'node:assert/strict'
import { at, newId, type PromiseOf } from '../../contract/world.ts'
import { addLink, findLink } from '../../links/links.store.ts'
import { listOperators, setRole } from '../access/roles.store.ts'
import { disableUser } from '../access/user-changes.store.ts'
import { deleteUser } from '../erasure/erasure.store.ts'
import { findUser } from '../users.store.ts'

export function rolePromises(promise: PromiseOf): void {
  promise(
    'gives a role, lists who has it, and takes it as long as another enabled operator is left',
    async (world) => {
      const { store } = world
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      assert.deepEqual(await store.read(listOperators), [])
      for (const { id: userId } of [ann, ben])
        assert.equal(await store.write(setRole, { userId, role: 'operator' }), 'done')
      assert.deepEqual(
        (await store.read(listOperators)).map(({ id }) => id).sort(),
        [ann.id, ben.id].sort(),
      )
      assert.equal(await store.write(setRole, { userId: ann.id, role: null }), 'done')
      assert.equal(await store.write(setRole, { userId: ben.id, role: null }), 'last-operator')
      assert.equal((await store.read(findUser, ben.id))?.role, 'operator')
      assert.equal(await store.write(setRole, { userId: newId(), role: 'operator' }), 'absent')
    },
  )

  promise(
    'the last operator is neither disabled nor erased, and a disabled operator counts for nothing',
    async (world) => {
      const { store } = world
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      for (const { id: userId } of [ann, ben])
        await store.write(setRole, { userId, role: 'operator' })
      assert.equal(await store.write(disableUser, { userId: ann.id, at: at(1) }), 'done')
      assert.equal(await store.write(disableUser, { userId: ben.id, at: at(1) }), 'last-operator')
      assert.equal(await store.write(deleteUser, { userId: ben.id, at: at(1) }), 'last-operator')
      assert.equal((await store.read(findUser, ben.id))?.disabledAt, null)
      assert.equal(await store.write(deleteUser, { userId: ann.id, at: at(1) }), 'done')
    },
  )

  promise(
    'of two calls at the same time that take the role of the last two operators, one is refused',
    async (world) => {
      const { store } = world
      const both = [await world.addUser('ann'), await world.addUser('ben')]
      for (const { id: userId } of both) await store.write(setRole, { userId, role: 'operator' })
      const outcomes = await Promise.all([
        store.write(setRole, { userId: both[0]?.id ?? '', role: null }),
        store.write(disableUser, { userId: both[1]?.id ?? '', at: at(1) }),
      ])
      assert.deepEqual(outcomes.sort(), ['done', 'last-operator'])
    },
  )

  promise('a link that was made before does not lead to an operator', async (world) => {
    const { store } = world
    const { id: userId } = await world.addUser('ann')
    const link = {
      userId,
      purpose: 'reset' as const,
      tokenHash: 'hash',
      at: at(1),
      expiresAt: at(9),
      email: null,
    }
    await store.write(addLink, { ...link, returnTo: undefined })
    assert.ok(await store.read(findLink, 'hash'))
    await store.write(setRole, { userId, role: 'operator' })
    assert.equal(await store.read(findLink, 'hash'), undefined)
  })
}
