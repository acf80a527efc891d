import assert from 'node:assert/strict'
import { at, newId, type PromiseOf, type World } from '../contract/world.ts'
import { addChallenge, findChallenge } from '../factors/factors.store.ts'
import { signingKey } from '../tokens/contract/signing-keys.contract.ts'
import { addSigningKey, retireSigningKeys, signingKeys } from '../tokens/signing-keys.store.ts'
import { tokenRevocations } from '../tokens/tokens.store.ts'
import { endSignInsOf } from '../users/access/user-changes.store.ts'
import { findUser } from '../users/users.store.ts'
import { endEveryProof, raiseGenerations } from './everyone.store.ts'
import { addSession, findSession } from './sessions.store.ts'

export function everyonePromises(promise: PromiseOf): void {
  promise(
    'ends all proofs and challenges of one user, who is not disabled, and of no other user (S22)',
    async (world) => {
      const { store } = world
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const anns = await world.signIn(ann)
      const bens = await world.signIn(ben)
      const annWaits = await challengeOf(world, ann.id)
      const benWaits = await challengeOf(world, ben.id)
      assert.equal(await store.write(endSignInsOf, { userId: ann.id, at: at(5) }), 'done')
      assert.equal(await store.write(endSignInsOf, { userId: newId(), at: at(5) }), 'absent')
      assert.equal(await store.read(findSession, anns), undefined)
      assert.equal((await store.read(findSession, bens))?.userId, ben.id)
      assert.equal(await store.read(findChallenge, { ...annWaits, at: at(5) }), undefined)
      assert.ok(await store.read(findChallenge, { ...benWaits, at: at(5) }))
      const revoked = (await store.read(tokenRevocations, at(6))).map(({ userId, signInId }) => [
        userId,
        signInId,
      ])
      assert.deepEqual(revoked, [[ann.id, null]])
      const user = await store.read(findUser, ann.id)
      assert.deepEqual([user?.disabledAt, user?.credentialGeneration], [null, 1])
    },
  )

  promise(
    'ends every session but those of one user, and replaces the signing keys, in one step (S22)',
    async (world) => {
      const { store } = world
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const anns = await world.signIn(ann)
      const bens = [await world.signIn(ben), await world.signIn(ben)]
      const waits = await challengeOf(world, ann.id)
      await store.write(addSigningKey, { key: signingKey('k1'), after: null })
      await store.write(addSigningKey, {
        key: signingKey('k2', { createdAt: 2, startsAt: 2 }),
        after: 'k1',
      })
      await store.write(retireSigningKeys, { kids: ['k1'], at: at(3) })
      const key = signingKey('k3', { createdAt: 4, startsAt: 4 })
      assert.equal(await store.write(endEveryProof, { key, sparedUserId: ann.id }), 2)
      assert.equal((await store.read(findSession, anns))?.userId, ann.id)
      for (const session of bens) assert.equal(await store.read(findSession, session), undefined)
      assert.equal(await store.read(findChallenge, { ...waits, at: at(5) }), undefined)
      const kids = (await store.read(signingKeys)).map(({ kid }) => kid)
      assert.deepEqual(kids, ['k1', 'k3'], 'one that is retired stays in the list')
    },
  )

  promise(
    'raises the generation of all users in batches, each once, and ends what began meanwhile (S22)',
    async (world) => {
      const { store } = world
      const users = []
      for (const name of ['ann', 'ben', 'cho', 'dan', 'eve']) users.push(await world.addUser(name))
      const spared = users[1] ?? assert.fail()
      const sessions = await Promise.all(users.map((user) => world.signIn(user)))
      let after: string | undefined = ''
      let batches = 0
      while (after !== undefined) {
        after = await store.write(raiseGenerations, { after, limit: 2, sparedUserId: spared.id })
        batches++
      }
      assert.equal(batches, 4)
      for (const [n, { id }] of users.entries()) {
        assert.equal((await store.read(findUser, id))?.credentialGeneration, 1)
        const found = await store.read(findSession, sessions[n] ?? assert.fail())
        assert.equal(found?.userId, id === spared.id ? id : undefined)
      }
      const late = {
        userId: users[0]?.id ?? '',
        familyHash: newId(),
        secretHash: newId(),
        at: at(1),
        replaces: [],
      }
      const checkedBefore = {
        ...late,
        checkedGeneration: 0,
        signInId: newId(),
        device: null,
        address: null,
      }
      assert.equal(await store.write(addSession, checkedBefore), 'refused')
    },
  )
}

async function challengeOf({ store }: World, userId: string) {
  const key = { userId, hash: newId() }
  await store.write(addChallenge, {
    ...key,
    purpose: 'second-factor',
    data: '{}',
    expiresAt: at(300),
  })
  return key
}
