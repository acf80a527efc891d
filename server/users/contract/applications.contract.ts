// Each application has its own external ids, users and notification keys (U6).
import assert from 'node:assert/strict'
import { at, type Letter, newId, type PromiseOf, type World } from '../../contract/world.ts'
import { deliver } from '../../delivery/delivery.store.ts'
import type { Recipient } from '../../delivery/delivery.ts'
import {
  addProducer,
  findProducer,
  listProducers,
  rotateProducer,
} from '../../producers/producers.store.ts'
import { putUsers } from '../put-users.store.ts'
import {
  addUser,
  findCredentials,
  findUser,
  findUserByExternalId,
  findUserByUsername,
  listUsers,
  type User,
} from '../users.store.ts'

const issuer = 'https://id.example'
const externalId = 'customer-42'
const unknown = { userId: null, id: null, status: 'unknown_recipient' }

export function applicationPromises(promise: PromiseOf): void {
  promise(
    'an external id is another user for each application and issuer, and for none (U6)',
    async (world) => {
      const { store } = world
      const users = [
        await put(world, { application: 'shop' }),
        await put(world, { application: 'club' }),
        await put(world, { application: 'shop', issuer }),
        await put(world, { issuer }),
        await put(world, {}),
      ]
      assert.equal(new Set(users.map(({ id }) => id)).size, users.length)
      for (const user of users) {
        const { id, application, issuer: its } = user
        assert.deepEqual(await store.read(findUser, id), user)
        assert.deepEqual(
          await store.read(findUserByExternalId, { application, issuer: its, externalId }),
          user,
        )
        assert.deepEqual(await put(world, { application, issuer: its }), user)
      }
      assert.deepEqual(
        users.map((user) => [user.application, user.issuer]),
        [
          ['shop', ''],
          ['club', ''],
          ['shop', issuer],
          ['', issuer],
          ['', ''],
        ],
      )
    },
  )

  promise(
    'a user with a name belongs to the application, and no other has the same name',
    async ({ store }) => {
      const user = {
        username: 'ann',
        displayName: null,
        passwordHash: 'hash',
        createdAt: at(0),
        externalId,
      }
      const ann = { ...user, id: newId(), application: 'shop' }
      assert.equal(typeof (await store.write(addUser, ann)), 'object')
      assert.equal((await store.read(findUserByUsername, 'ann'))?.application, 'shop')
      assert.equal((await store.read(findCredentials, 'ann'))?.application, 'shop')
      assert.equal(
        await store.write(addUser, { ...user, id: newId(), application: 'club' }),
        'username-taken',
      )
      assert.equal(
        await store.write(addUser, { ...ann, id: newId(), username: 'bob' }),
        'external-id-taken',
      )
      assert.equal(
        typeof (await store.write(addUser, {
          ...user,
          id: newId(),
          username: 'bob',
          application: 'club',
        })),
        'object',
      )
    },
  )

  promise('lists the users of one application or with an external id, and all', async (world) => {
    const { store } = world
    const users = [
      await put(world, { application: 'shop' }),
      await put(world, { application: 'shop-2' }),
      await put(world, { application: 'shop', issuer }),
      await put(world, {}),
    ].toSorted((a, b) => (a.id < b.id ? -1 : 1))
    for (const application of ['shop', 'shop-2', 'sho', 'club'])
      for (const filter of [{}, { externalId }, { search: 'CUSTOMER' }])
        assert.deepEqual(
          await store.read(listUsers, { after: '', limit: 9, application, ...filter }),
          users.filter((user) => user.application === application),
        )
    assert.deepEqual(await store.read(listUsers, { after: '', limit: 9, application: '' }), users)
    await world.addUser('without an external id')
    assert.deepEqual(await store.read(listUsers, { after: '', limit: 9, externalId }), users)
    const next = { after: users[0]?.id ?? '', limit: 2, externalId }
    assert.deepEqual(await store.read(listUsers, next), users.slice(1, 3))
    const [first, second] = users.filter((user) => user.application === 'shop')
    const rest = await store.read(listUsers, {
      after: first?.id ?? '',
      limit: 9,
      application: 'shop',
    })
    assert.deepEqual(rest, [second])
  })

  promise(
    'a user of another application, or of none, is an unknown recipient, however named (U6)',
    async (world) => {
      const club = await put(world, { application: 'club' })
      const bob = await world.addUser('bob')
      const shop = await put(world, { application: 'shop' })
      const others: Recipient[] = [
        { userId: club.id },
        { userId: bob.id },
        { username: bob.username },
      ]
      for (const key of [null, 'order-1']) {
        const { results } = await world.deliver({
          to: [{ externalId }, ...others],
          key,
          application: 'shop',
        })
        assert.deepEqual(
          [results[0]?.userId, ...results.slice(1)],
          [shop.id, unknown, unknown, unknown],
        )
        const letter = world.letter({ to: others, key, application: 'shop' })
        assert.deepEqual(await world.store.write(deliver, letter), { unknown: [0, 1, 2] })
        const all = await world.deliver({ to: [{ userId: shop.id }, ...others], key })
        assert.equal(all.results.filter(({ status }) => status !== 'unknown_recipient').length, 4)
      }
      // At the same time, so that PostgreSQL delivers them in one statement.
      const sent = ['shop', 'club'].flatMap((application) =>
        [shop, club, bob].map((user) =>
          world.store.write(deliver, world.letter({ to: [{ userId: user.id }], application })),
        ),
      )
      const delivered = (await Promise.all(sent)).map(
        (outcome) => typeof outcome === 'object' && 'results' in outcome,
      )
      assert.deepEqual(delivered, [true, false, false, false, true, false])
    },
  )

  promise('a delivery creates users of its application', async (world) => {
    for (const application of ['shop', 'club', '']) {
      const to = [{ externalId }, { externalId, issuer }, { externalId }]
      const { results } = await world.deliver({ to, createsUsers: true, application, at: at(7) })
      assert.equal(results[2]?.userId, results[0]?.userId)
      for (const [n, its] of ['', issuer].entries()) {
        const user = await world.store.read(findUserByExternalId, {
          application,
          issuer: its,
          externalId,
        })
        assert.deepEqual([user?.id, user?.application], [results[n]?.userId, application])
      }
    }
    assert.equal((await world.store.read(listUsers, { after: '', limit: 9 })).length, 6)
  })

  promise(
    'a notification key is the one of its application: none replaces that of another (U6)',
    async (world) => {
      const { id: userId } = await put(world, { application: 'shop' })
      const send = (letter: Partial<Letter>) =>
        world.deliver({ to: [{ userId }], key: 'order-1', ...letter })
      await send({ title: 'of the shop', application: 'shop' })
      await send({ title: 'of none' })
      // The shop's key is stored like this.
      await send({ title: 'like the shop', key: '\u0001shop\u0001order-1' })
      await send({ title: 'of the shop again', application: 'shop' })
      await send({ title: 'of none again', renotify: true })
      const { items } = await world.page({ userId, page: 1, limit: 9, status: 'all' })
      assert.deepEqual(
        JSON.parse(items).map(({ title, key, count }: Record<string, unknown>) => [
          title,
          key,
          count,
        ]),
        [
          ['of none again', 'order-1', 2],
          ['like the shop', '\u0001shop\u0001order-1', 1],
          ['of the shop again', 'order-1', 1],
        ],
      )
    },
  )

  promise('a key keeps its application when it gets another secret', async ({ store }) => {
    const producer = {
      id: newId(),
      name: 'app',
      secretHash: 'h1',
      scopes: ['send'],
      createdAt: at(0),
      expiresAt: null,
    }
    await store.write(addProducer, { ...producer, application: 'shop' })
    await store.write(rotateProducer, {
      producerId: producer.id,
      secretHash: 'h2',
      previousUntil: at(9),
    })
    const found = await store.read(findProducer, producer.id)
    assert.deepEqual([found?.application, found?.secretHash], ['shop', 'h2'])
    assert.deepEqual(
      await store.read(listProducers).then((all) => all.find(({ id }) => id === producer.id)),
      found,
    )
  })
}

async function put(
  { store }: World,
  namespace: { application?: string; issuer?: string },
): Promise<User> {
  const users = [{ newId: newId(), externalId }]
  const [one] = await store.write(putUsers, { issuer: '', ...namespace, at: at(7), users })
  return one?.user ?? assert.fail('no user was put')
}
