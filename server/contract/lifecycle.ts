import assert from 'node:assert/strict'
import { markAllRead } from '../inbox/bulk/bulk.store.ts'
import { changesSince, readInbox, readPage } from '../inbox/inbox.store.ts'
import { markRead } from '../inbox/marks.store.ts'
import {
  addProducer,
  listProducers,
  revokeProducer,
  touchProducer,
} from '../producers/producers.store.ts'
import {
  endSessions,
  findSession,
  type SessionKey,
  touchSession,
} from '../sessions/sessions.store.ts'
import { signingKey } from '../tokens/contract/signing-keys.contract.ts'
import { addSigningKey, signingKeys } from '../tokens/signing-keys.store.ts'
import { revokeTokens, tokenRevocations } from '../tokens/tokens.store.ts'
import { disableUser } from '../users/access/user-changes.store.ts'
import { findCredentials, findUser, listUsers } from '../users/users.store.ts'
import {
  at,
  isUnavailable,
  newId,
  type Person,
  type PromiseOf,
  refusedId,
  type World,
} from './world.ts'

export function lifecyclePromises(promise: PromiseOf): void {
  promise(
    'every acknowledged write is there after the store is opened again (law 5)',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const session = await fillEveryTable(world, ann, ben)
      const before = await everything(world, [ann, ben], session)
      const { history } = world.store
      await world.reopen()
      assert.equal(world.store.history, history)
      assert.deepEqual(await everything(world, [ann, ben], session), before)
      assert.equal(before.revocations.length, 2)
      const again = { to: [ann, ben], title: 'Once', idempotency: { key: 'k1', bodyHash: 'b1' } }
      await world.deliver(again)
      assert.deepEqual(await everything(world, [ann, ben], session), before)
      await world.send(ann, 'One more')
      assert.equal(
        (await world.store.read(readInbox, ann.id)).version,
        (before.inboxes[0]?.inbox.version ?? 0) + 1,
      )
    },
  )

  promise('of many concurrent writes each succeeds or fails alone (law 5)', async (world) => {
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
    await world.reopen()
    assert.equal((await world.store.read(readInbox, ann.id)).total, 41)
  })

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

async function fillEveryTable(world: World, ann: Person, ben: Person): Promise<SessionKey> {
  const { store } = world
  await store.write(disableUser, { userId: (await world.addUser('cay')).id, at: at(1) })
  await store.write(revokeTokens, {
    userId: ann.id,
    signInId: newId(),
    at: at(2),
    expiresAt: at(901),
  })
  await store.write(addSigningKey, {
    key: signingKey('k1', { createdAt: 3, startsAt: 4 }),
    after: null,
  })
  await store.write(revokeProducer, { producerId: await world.addProducer('revoked'), at: at(4) })
  await store.write(touchProducer, { producerId: world.producerId, at: at(5) })
  const session = await world.signIn(ann)
  await store.write(touchSession, { ...session, at: at(6) })
  await world.deliver({ to: [ann, ben], title: 'Once', idempotency: { key: 'k1', bodyHash: 'b1' } })
  const read = await world.send(ann, 'Read', { category: 'build' })
  await store.write(markRead, { userId: ann.id, id: read, at: at(7) })
  await store.write(markAllRead, { userId: ann.id, throughId: null, at: at(8) })
  for (const title of ['Deploying', 'Deployed'])
    await world.send(ann, title, { key: 'deploy', category: title })
  return session
}

async function everything(world: World, people: Person[], session: SessionKey) {
  const { store } = world
  const perPerson = (read: (person: Person) => Promise<unknown>) => Promise.all(people.map(read))
  return {
    users: await store.read(listUsers, { after: '', limit: 10 }),
    credentials: await perPerson(({ username }) => store.read(findCredentials, username)),
    session: await store.read(findSession, session),
    revocations: await store.read(tokenRevocations, at(0)),
    signingKeys: await store.read(signingKeys),
    producers: await store.read(listProducers),
    inboxes: await Promise.all(people.map((person) => world.inboxOf(person))),
    changes: await perPerson(({ id }) =>
      store.read(changesSince, { userId: id, version: 0, limit: 100 }),
    ),
  }
}
