import assert from 'node:assert/strict'
import { at, newId, type Person, type PromiseOf, type World } from '../contract/world.ts'
import { revokeTokens, tokenRevocations } from '../tokens/tokens.store.ts'
import { setPassword } from '../users/access/user-changes.store.ts'
import { findUser } from '../users/users.store.ts'
import { findSession, type SessionKey, signInOfSession, touchSession } from './sessions.store.ts'
import { revokeIssuedTokens } from './sign-ins.store.ts'

const revocationExpiresAt = at(965)

export function sessionTokenPromises(promise: PromiseOf): void {
  promise(
    'requests for a token, also at the same time, get the sign-in of the session as it is, with the generation that the user has now',
    async (world) => {
      const ann = await world.addUser('ann')
      await world.store.write(setPassword, { userId: ann.id, passwordHash: 'new hash', at: at(1) })
      const session = await world.signIn({ ...ann, passwordHash: 'new hash' }, { seconds: 3 })
      await world.store.write(touchSession, { ...session, at: at(9) })
      const signInId = (await world.store.read(findSession, session))?.signInId
      const found = {
        signInId,
        credentialGeneration: 1,
        signInGeneration: 0,
        createdAt: at(3),
        lastSeenAt: at(9),
      }
      const calls = Array.from({ length: 10 }, () => world.store.write(signInOfSession, session))
      assert.deepEqual(await Promise.all(calls), Array(10).fill(found))
    },
  )

  promise(
    'gives no sign-in to a session that is unknown, ended or under another user’s id',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const ended = await world.signIn(ann)
      const alive = await world.signIn(ann)
      await world.endSessions([ended])
      for (const key of [ended, { ...alive, userId: ben.id }, { ...alive, secretHash: 'made up' }])
        assert.equal(await world.store.write(signInOfSession, key), undefined)
    },
  )

  const ends: Record<
    string,
    (world: World, of: { ann: Person; session: SessionKey }) => Promise<unknown>
  > = {
    'a sign-out': (world, { session }) => world.endSessions([session], { seconds: 5 }),
    'a sign-in that replaces it': (world, { ann, session }) =>
      world.signIn(ann, { replaces: [session], seconds: 5 }),
  }
  for (const [how, end] of Object.entries(ends))
    promise(`the end of a session by ${how} revokes the tokens of its sign-in`, async (world) => {
      const { ann, session, signInId } = await withTokens(world)
      const other = await withTokens(world, ann)
      await end(world, { ann, session })
      assert.deepEqual(await world.store.read(tokenRevocations, at(6)), [
        {
          userId: ann.id,
          signInId,
          expiresAt: revocationExpiresAt,
          firstGeneration: 0,
          exceptSignInId: null,
        },
      ])
      assert.ok(await world.store.read(findSession, other.session))
    })

  promise('the end of a session without tokens revokes nothing', async (world) => {
    const session = await world.signIn(await world.addUser('ann'))
    await world.endSessions([session])
    assert.deepEqual(await world.store.read(tokenRevocations, at(0)), [])
  })

  promise(
    'a revocation of a sign-in’s tokens ends the session of that sign-in, and no other',
    async (world) => {
      const { ann, session, signInId } = await withTokens(world)
      const other = await withTokens(world, ann)
      const plain = await world.signIn(ann)
      const bens = await withTokens(world)
      const revocation = { at: at(5), expiresAt: revocationExpiresAt }
      await world.store.write(revokeTokens, { userId: ann.id, signInId, ...revocation })
      await world.store.write(revokeTokens, {
        userId: ann.id,
        signInId: bens.signInId,
        ...revocation,
      })
      assert.equal(await world.store.read(findSession, session), undefined)
      for (const alive of [other.session, plain, bens.session])
        assert.ok(await world.store.read(findSession, alive))
    },
  )

  promise('a session and its sign-in that end at the same time, end', async (world) => {
    for (let round = 0; round < 20; round++) {
      const { ann, session, signInId } = await withTokens(world)
      const one = await withTokens(world, ann)
      await Promise.all([
        world.endSessions([session, one.session]),
        world.store.write(revokeTokens, {
          userId: ann.id,
          signInId,
          at: at(5),
          expiresAt: revocationExpiresAt,
        }),
        world.store.write(signInOfSession, session),
      ])
      for (const ended of [session, one.session])
        assert.equal(await world.store.read(findSession, ended), undefined)
      const revoked = (await world.store.read(tokenRevocations, at(6))).filter(
        ({ userId }) => userId === ann.id,
      )
      assert.deepEqual(
        revoked.map((row) => row.signInId).toSorted(),
        [signInId, one.signInId].toSorted(),
      )
    }
  })

  promise(
    'revokes the issued tokens of a user by a generation, whatever the clock says, and no other',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const { session } = await withTokens(world, ann)
      for (const [index, seconds] of [9, 5].entries()) {
        const change = { userId: ann.id, at: at(seconds) }
        assert.equal(await world.store.write(revokeIssuedTokens, change), 'done')
        const found = await world.store.read(findUser, ann.id)
        assert.deepEqual([found?.issuedGeneration, found?.credentialGeneration], [index + 1, 0])
        const row = { userId: ann.id, signInId: 'issued', expiresAt: at(969), exceptSignInId: null }
        assert.deepEqual(await world.store.read(tokenRevocations, at(9)), [
          { ...row, firstGeneration: index + 1 },
        ])
      }
      assert.ok(await world.store.read(findSession, session))
      assert.equal((await world.store.read(findUser, ben.id))?.issuedGeneration, 0)
    },
  )

  promise(
    'each of several revocations at the same time raises the issued generation',
    async (world) => {
      const ann = await world.addUser('ann')
      const change = { userId: ann.id, at: at(5) }
      await Promise.all(
        Array.from({ length: 10 }, () => world.store.write(revokeIssuedTokens, change)),
      )
      assert.equal((await world.store.read(findUser, ann.id))?.issuedGeneration, 10)
      assert.equal((await world.store.read(tokenRevocations, at(6)))[0]?.firstGeneration, 10)
    },
  )

  promise(
    'returns "absent" for the issued tokens of an unknown user, and revokes nothing',
    async ({ store }) => {
      assert.equal(await store.write(revokeIssuedTokens, { userId: newId(), at: at(5) }), 'absent')
      assert.deepEqual(await store.read(tokenRevocations, at(0)), [])
    },
  )
}

/** Of a new user if none is given. */
async function withTokens(world: World, person?: Person) {
  const ann = person ?? (await world.addUser(newId()))
  const session = await world.signIn(ann)
  const found = await world.store.write(signInOfSession, session)
  return { ann, session, signInId: found?.signInId ?? '' }
}
