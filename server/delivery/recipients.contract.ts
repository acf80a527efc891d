import assert from 'node:assert/strict'
import { at, newId, type PromiseOf, refusedId, type World } from '../contract/world.ts'
import { readInbox } from '../inbox/inbox.store.ts'
import { emptyInbox } from '../inbox/inbox-state.ts'
import { putUsers } from '../users/put-users.store.ts'
import { findUserByExternalId, listUsers, updateUser } from '../users/users.store.ts'
import { deliver } from './delivery.store.ts'

const issuer = 'https://id.example'
const external = (externalId: string) => ({ externalId })

export function recipientPromises(promise: PromiseOf): void {
  promise(
    'delivers by external id, compared byte by byte and separately for each issuer',
    async (world) => {
      const ids = new Map<string, string>()
      for (const externalId of ['aB', 'Ab', 'a/b'])
        ids.set(externalId, await put(world, externalId))
      const foreign = await put(world, 'aB', issuer)
      for (const [externalId, userId] of ids) {
        const { results } = await world.deliver({ to: [external(externalId)], title: externalId })
        assert.deepEqual(results[0]?.userId, userId)
      }
      const { results } = await world.deliver({
        to: [{ externalId: 'aB', issuer }],
        title: 'foreign',
      })
      assert.equal(results[0]?.userId, foreign)
      for (const [externalId, userId] of ids)
        assert.deepEqual(await titlesOf(world, userId), [externalId])
      assert.deepEqual(await titlesOf(world, foreign), ['foreign'])
      const unknown = ['ab', 'AB', 'aB ', ''].map(external)
      assert.deepEqual(await world.store.write(deliver, world.letter({ to: unknown })), {
        unknown: [0, 1, 2, 3],
      })
    },
  )

  promise(
    'creates the user of an unknown external id together with the notification',
    async (world) => {
      const to = [external('new'), { externalId: 'new', issuer }]
      for (const key of [null, 'deploy']) {
        const { results } = await world.deliver({
          to,
          title: 'Hello',
          key,
          createsUsers: true,
          at: at(7),
        })
        assert.deepEqual(
          results.map(({ status }) => status),
          ['delivered', 'delivered'],
        )
      }
      for (const its of ['', issuer]) {
        const user = await world.store.read(findUserByExternalId, {
          issuer: its,
          externalId: 'new',
        })
        assert.deepEqual(
          [user?.username, user?.displayName, user?.disabledAt, user?.createdAt],
          [null, null, null, at(7)],
        )
        assert.deepEqual(await titlesOf(world, user?.id ?? ''), ['Hello', 'Hello'])
        const { unread, version } = await world.store.read(readInbox, user?.id ?? '')
        assert.deepEqual([unread, version], [2, 2])
      }
    },
  )

  promise(
    'creates no user without newUserId, and none for an unknown username or id',
    async (world) => {
      const ann = await world.addUser('ann')
      const { results } = await world.deliver({ to: [ann, external('unknown')] })
      assert.deepEqual(results[1], { userId: null, id: null, status: 'unknown_recipient' })
      const to = [ann, { username: 'unknown' }, { userId: newId() }]
      assert.equal(
        (await world.deliver({ to, createsUsers: true })).results[2]?.status,
        'unknown_recipient',
      )
      assert.equal((await world.store.read(listUsers, { after: '', limit: 9 })).length, 1)
    },
  )

  promise('delivers once to a user that is named twice, by any of the names', async (world) => {
    const userId = await put(world, 'known')
    const username = 'ann'
    await world.store.write(updateUser, { userId, username })
    const to = [external('known'), { userId }, { username }, external('new'), external('new')]
    for (const key of [null, 'deploy']) {
      const { results } = await world.deliver({ to, key, createsUsers: true })
      assert.deepEqual([results[1], results[2]], [results[0], results[0]])
      assert.deepEqual(results[4], results[3])
    }
    assert.equal((await world.store.read(readInbox, userId)).total, 2)
    assert.equal((await world.store.read(listUsers, { after: '', limit: 9 })).length, 2)
  })

  promise(
    'if no recipient is known, stores nothing and returns the positions of all',
    async (world) => {
      const idempotency = { key: 'k1', bodyHash: 'b1' }
      const to = [{ username: 'unknown' }, { userId: newId() }, external('unknown')]
      for (const key of [null, 'deploy'])
        assert.deepEqual(await world.store.write(deliver, world.letter({ to, idempotency, key })), {
          unknown: [0, 1, 2],
        })
      const ann = await world.addUser('ann')
      const other = { to: [ann], idempotency: { key: 'k1', bodyHash: 'b2' } }
      assert.equal((await world.deliver(other)).results[0]?.status, 'delivered')
      assert.equal(await world.store.write(deliver, world.letter({ to, idempotency })), 'mismatch')
    },
  )

  promise(
    '"refuse" stores nothing and creates no user if one recipient is unknown, and returns the positions of the unknown (U7)',
    async (world) => {
      const ann = await world.addUser('ann')
      const idempotency = { key: 'k1', bodyHash: 'b1' }
      const to = [external('new'), ann, { username: 'later' }, external('other')]
      const letter = { to, idempotency, unknownRecipients: 'refuse', createsUsers: true } as const
      for (const key of [null, 'deploy'])
        assert.deepEqual(await world.store.write(deliver, world.letter({ ...letter, key })), {
          unknown: [0, 2, 3],
        })
      const none = world.letter({ ...letter, createsUsers: false })
      assert.deepEqual(await world.store.write(deliver, none), { unknown: [0, 2, 3] })
      assert.deepEqual(await world.store.read(readInbox, ann.id), emptyInbox)
      assert.equal(
        await world.store.read(findUserByExternalId, { issuer: '', ...external('new') }),
        undefined,
      )
      await world.store.write(updateUser, { userId: ann.id, username: 'later' })
      for (const externalId of ['new', 'other']) await put(world, externalId)
      const { results } = await world.deliver(letter)
      assert.deepEqual(results[2], results[1])
      assert.equal((await world.store.read(readInbox, ann.id)).total, 1)
    },
  )

  promise(
    'deliveries at the same time with the same external ids create each user once, and reach that user',
    async (world) => {
      const names = Array.from({ length: 30 }, (_, n) => external(`${n}`))
      await Promise.all(
        Array.from({ length: 12 }, (_, n) =>
          world.deliver({
            to: n % 2 === 0 ? names : names.toReversed(),
            title: `${n}`,
            key: n % 3 === 0 ? `key ${n}` : null,
            createsUsers: true,
          }),
        ),
      )
      const users = await world.store.read(listUsers, { after: '', limit: 100 })
      assert.equal(users.length, 30)
      for (const { id } of users) assert.equal((await world.store.read(readInbox, id)).total, 12)
    },
  )

  promise('creates no user if the delivery fails', async (world) => {
    const ann = await world.addUser('ann')
    await world.send(ann)
    const letter = { to: [external('new'), ann], createsUsers: true, ids: [newId(), refusedId] }
    await assert.rejects(world.deliver(letter))
    assert.equal(
      await world.store.read(findUserByExternalId, { issuer: '', ...external('new') }),
      undefined,
    )
  })
}

/** Returns the user's id. */
async function put(world: World, externalId: string, its = ''): Promise<string> {
  const [one] = await world.store.write(putUsers, {
    issuer: its,
    at: at(0),
    users: [{ newId: newId(), externalId }],
  })
  return one?.user.id ?? assert.fail('putUsers returned no user')
}

async function titlesOf(world: World, userId: string): Promise<string[]> {
  return world.titles({ id: userId, username: '', passwordHash: '' })
}
