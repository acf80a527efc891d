import assert from 'node:assert/strict'
import { auditEntry, serviceSource } from '../../audit/entry.ts'
import { at, newId, type PromiseOf, type World } from '../../contract/world.ts'
import { deliver } from '../../delivery/delivery.store.ts'
import { markAllRead } from '../../inbox/bulk/bulk.store.ts'
import { readInbox } from '../../inbox/inbox.store.ts'
import { emptyInbox } from '../../inbox/inbox-state.ts'
import { findSession } from '../../sessions/sessions.store.ts'
import { addSealedKey, resealKeys, sealedKey } from '../../tokens/sealed-keys.store.ts'
import { erasedKey, revokeTokens, tokenRevocations } from '../../tokens/tokens.store.ts'
import { removeOldErased } from '../erasure/erased-ids.store.ts'
import { deleteUser } from '../erasure/erasure.store.ts'
import { addTokenUser, putUsers } from '../put-users.store.ts'
import { addUser, findCredentials, findUser, findUserByExternalId } from '../users.store.ts'

const revocationExpiresAt = at(965)
const erased = { key: 'a key', since: at(0) }

export function erasurePromises(promise: PromiseOf): void {
  promise(
    'erases a user with sessions, inbox and revocations, and no other user (U2)',
    async (world) => {
      const { store } = world
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const anns = await world.signIn(ann)
      const bens = await world.signIn(ben)
      await world.deliver({ to: [ann, ben], title: 'First', key: 'deploy', category: 'build' })
      await world.send(ann, 'Second')
      await store.write(markAllRead, { userId: ann.id, throughId: null, at: at(2) })
      await store.write(revokeTokens, {
        userId: ann.id,
        signInId: newId(),
        at: at(3),
        expiresAt: revocationExpiresAt,
      })
      const before = await world.inboxOf(ben)
      assert.equal(await store.write(deleteUser, { userId: ann.id, at: at(5) }), 'done')
      assert.equal(await store.read(findUser, ann.id), undefined)
      assert.equal(await store.read(findCredentials, ann.username), undefined)
      assert.equal(await store.read(findSession, anns), undefined)
      assert.deepEqual(await store.read(readInbox, ann.id), emptyInbox)
      assert.deepEqual(await world.inboxOf(ann), { inbox: emptyInbox, categories: {}, items: [] })
      assert.deepEqual(await world.inboxOf(ben), before)
      assert.equal((await store.read(findSession, bens))?.userId, ben.id)
      const revocation = {
        userId: erasedKey(ann.id),
        signInId: null,
        firstGeneration: 0,
        exceptSignInId: null,
      }
      assert.deepEqual(await store.read(tokenRevocations, at(6)), [
        { ...revocation, expiresAt: revocationExpiresAt },
      ])
      assert.equal(await store.write(deleteUser, { userId: ann.id, at: at(9) }), 'absent')
      assert.equal(await store.write(deleteUser, { userId: newId(), at: at(9) }), 'absent')
      assert.equal((await store.read(tokenRevocations, at(6))).length, 1)
    },
  )

  promise(
    'the username and the external id of an erased user are free for another user',
    async ({ store }) => {
      const ann = {
        username: 'ann',
        externalId: '1',
        displayName: null,
        createdAt: at(0),
        passwordHash: 'hash',
      }
      const id = newId()
      await store.write(addUser, { ...ann, id })
      await store.write(deleteUser, { userId: id, at: at(5) })
      assert.equal(typeof (await store.write(addUser, { ...ann, id: newId() })), 'object')
    },
  )

  promise('the outcome of a repeated delivery no longer names an erased user', async (world) => {
    const ann = await world.addUser('ann')
    const ben = await world.addUser('ben')
    const letter = {
      to: [ann, ben, { username: 'unknown' }],
      idempotency: { key: 'k1', bodyHash: 'b1' },
    }
    const first = await world.deliver(letter)
    await world.store.write(deleteUser, { userId: ann.id, at: at(5) })
    const unknown = { userId: null, id: null, status: 'unknown_recipient' }
    assert.deepEqual(await world.deliver(letter), {
      ...first,
      results: [unknown, first.results[1], unknown],
    })
  })

  promise(
    'a delivery at the same time is erased with the user, or does not find the user',
    async (world) => {
      for (let round = 0; round < 10; round++) {
        const ann = await world.addUser(`ann${round}`)
        const ben = await world.addUser(`ben${round}`)
        const letters = Array.from({ length: 8 }, (_, n) => {
          const idempotency = n % 4 < 2 ? null : { key: `${round}-${n}`, bodyHash: 'body' }
          return world.deliver({
            to: n % 2 ? [ann, ben] : [ben, ann],
            key: n % 3 ? null : `key ${n}`,
            idempotency,
          })
        })
        const erasure = world.store.write(deleteUser, { userId: ann.id, at: at(5) })
        await Promise.all([...letters, erasure])
        assert.equal(await erasure, 'done')
        assert.deepEqual(await world.store.read(readInbox, ann.id), emptyInbox)
        assert.equal((await world.store.read(readInbox, ben.id)).total, 8)
      }
    },
  )

  promise(
    'a delivery does not create a user whose external id was erased, also beside others (U7)',
    async (world) => {
      const ann = await world.addUser('ann')
      await eraseExternal(world, 'gone')
      const idempotency = { key: 'k1', bodyHash: 'b1' }
      const only = {
        to: [{ externalId: 'gone' }, { externalId: 'gone' }],
        createsUsers: true,
        erased,
        idempotency,
      }
      for (const key of [null, 'deploy'])
        assert.deepEqual(await world.store.write(deliver, world.letter({ ...only, key })), {
          unknown: [0, 1],
        })
      const to = [
        { externalId: 'gone' },
        ann,
        { externalId: 'new' },
        { externalId: 'gone', issuer: 'https://id.example' },
      ]
      const statuses = ['unknown_recipient', 'delivered', 'delivered', 'delivered']
      for (const key of [null, 'deploy']) {
        const { results } = await world.deliver({ to, createsUsers: true, erased, key })
        assert.deepEqual(
          results.map(({ status }) => status),
          statuses,
        )
      }
      assert.equal(await world.store.read(findUserByExternalId, { externalId: 'gone' }), undefined)
      const another = await world.deliver({
        to: only.to,
        createsUsers: true,
        erased,
        application: 'shop',
      })
      assert.equal(another.results[0]?.status, 'delivered')
      const known = await world.deliver({ to: [{ externalId: 'new' }], createsUsers: true, erased })
      assert.equal(known.results[0]?.status, 'delivered')
    },
  )

  promise('no token brings a user back whose external id was erased (U7)', async (world) => {
    const issuer = 'https://id.example'
    await eraseExternal(world, 'gone', issuer)
    const token = (externalId: string) => {
      const id = newId()
      const entry = auditEntry(serviceSource, { event: 'user-created', at: at(6), userId: id })
      return world.store.write(addTokenUser, { id, externalId, issuer, at: at(6), entry, erased })
    }
    assert.equal(await token('gone'), undefined)
    const created = await token('new')
    assert.equal(created?.externalId, 'new')
    assert.deepEqual(await token('new'), created)
    assert.equal(
      await world.store.read(findUserByExternalId, { issuer, externalId: 'gone' }),
      undefined,
    )
  })

  promise(
    'a creation on purpose forgets that the external id was erased, and says that it was (U7)',
    async (world) => {
      const { store } = world
      const create: Record<string, () => Promise<boolean | undefined>> = {
        async putUsers() {
          const put = () =>
            store.write(putUsers, {
              at: at(7),
              users: [{ newId: newId(), externalId: 'putUsers' }],
              erased,
            })
          const [first] = await put()
          const [second] = await put()
          assert.deepEqual([second?.created, second?.user.erased], [false, undefined])
          return first?.user.erased
        },
        async addUser() {
          const user = {
            id: newId(),
            username: newId(),
            displayName: null,
            createdAt: at(7),
            passwordHash: null,
          }
          const added = await store.write(addUser, { ...user, externalId: 'addUser', erased })
          return typeof added === 'object' && added.erased
        },
      }
      for (const [name, again] of Object.entries(create)) {
        await eraseExternal(world, name)
        assert.equal(await again(), true, name)
        const found = await store.read(findUserByExternalId, { externalId: name })
        // Erased without a MAC: the earlier one must not be there any more.
        await store.write(deleteUser, { userId: found?.id ?? '', at: at(8) })
        const { results } = await world.deliver({
          to: [{ externalId: name }],
          createsUsers: true,
          erased,
        })
        assert.equal(results[0]?.status, 'delivered', name)
      }
    },
  )

  promise(
    'an erased external id is remembered until it is too old, and then removed (U7)',
    async (world) => {
      await eraseExternal(world, 'gone')
      const letter = (since: number) =>
        world.store.write(
          deliver,
          world.letter({
            to: [{ externalId: 'gone' }],
            createsUsers: true,
            erased: { ...erased, since },
          }),
        )
      await world.store.write(removeOldErased, at(4))
      assert.deepEqual(await letter(at(4)), { unknown: [0] })
      await world.store.write(removeOldErased, at(5))
      assert.ok('results' in Object(await letter(at(0))))
      await eraseExternal(world, 'older')
      const older = {
        to: [{ externalId: 'older' }],
        createsUsers: true,
        erased: { ...erased, since: at(5) },
      }
      assert.equal((await world.deliver(older)).results[0]?.status, 'delivered')
    },
  )

  promise(
    'a user who is erased while deliveries and tokens would create the user stays erased (U7)',
    async (world) => {
      for (let round = 0; round < 10; round++) {
        const externalId = `gone${round}`
        const userId = newId()
        await world.store.write(putUsers, { at: at(1), users: [{ newId: userId, externalId }] })
        const named = { to: [{ externalId }], createsUsers: true, erased }
        const letters = Array.from({ length: 8 }, (_, n) => {
          const idempotency = n % 4 < 2 ? null : { key: `${round}-${n}`, bodyHash: 'body' }
          return world.store.write(
            deliver,
            world.letter({ ...named, key: n % 3 ? null : `key ${n}`, idempotency }),
          )
        })
        await Promise.all([
          ...letters,
          world.store.write(deleteUser, { userId, at: at(5), erased }),
        ])
        assert.equal(await world.store.read(findUserByExternalId, { externalId }), undefined)
        assert.deepEqual(await world.store.write(deliver, world.letter(named)), { unknown: [0] })
      }
    },
  )

  promise(
    'the first sealed key of erased ids stays, and is replaced only if it is the one that was read',
    async ({ store }) => {
      assert.equal(await store.read(sealedKey, 'erased-ids'), undefined)
      for (const sealed of ['first', 'second'])
        await store.write(addSealedKey, { purpose: 'erased-ids', sealed })
      await store.write(resealKeys, [{ from: 'second', to: 'third' }])
      assert.equal(await store.read(sealedKey, 'erased-ids'), 'first')
      await store.write(resealKeys, [{ from: 'first', to: 'third' }])
      assert.equal(await store.read(sealedKey, 'erased-ids'), 'third')
    },
  )
}

async function eraseExternal(world: World, externalId: string, issuer = ''): Promise<void> {
  const userId = newId()
  await world.store.write(putUsers, { issuer, at: at(1), users: [{ newId: userId, externalId }] })
  await world.store.write(deleteUser, { userId, at: at(5), erased })
}
