import assert from 'node:assert/strict'
import { at, newId, type Person, type PromiseOf, type World } from '../contract/world.ts'
import { revokeTokens, tokenRevocations } from '../tokens/tokens.store.ts'
import { disableUser, setPassword } from '../users/access/user-changes.store.ts'
import { findCredentials, findUser } from '../users/users.store.ts'
import { findSession, type SessionKey } from './sessions.store.ts'
import { endOtherSignIns } from './sign-ins.store.ts'

const revocationExpiresAt = at(965)
/** `own`: the session of the sign-in. `signInGeneration`: of its token. */
type End = {
  exceptSignInId: string
  exceptGeneration?: number
  seconds?: number
  own?: SessionKey
  signInGeneration?: number
}
const noSession: SessionKey = { userId: '', familyHash: 'none', secretHash: 'none' }

export function signInPromises(promise: PromiseOf): void {
  const ends = {
    endOtherSignIns: (world: World, ann: Person, { seconds = 5, ...given }: End) =>
      world.store.write(endOtherSignIns, {
        userId: ann.id,
        proof: proofOf(ann, given),
        at: at(seconds),
      }),
    setPassword: (world: World, ann: Person, { seconds = 5, ...given }: End) => {
      const change = { userId: ann.id, at: at(seconds) }
      const rotation = { ...change, ...proofOf(ann, given), confirmedAt: null }
      return world.store.write(setPassword, { ...change, passwordHash: 'new', rotation })
    },
  }

  for (const [name, end] of Object.entries(ends)) {
    promise(
      `${name} ends every session and token of a user except those of one session (S20)`,
      async (world) => {
        const ann = await world.addUser('ann')
        const ben = await world.addUser('ben')
        const signInId = newId()
        const own = await world.signIn(ann, { signInId })
        const other = await world.signIn(ann)
        const bens = await world.signIn(ben)
        assert.equal(await end(world, ann, { exceptSignInId: signInId, own }), 'done')
        assert.equal(await world.store.read(findSession, other), undefined)
        for (const alive of [own, bens]) assert.ok(await world.store.read(findSession, alive))
        assert.deepEqual(await world.store.read(tokenRevocations, at(6)), [
          { ...everySignInOf(ann), firstGeneration: 1, exceptSignInId: signInId },
        ])
        assert.deepEqual(await generationsOf(world, ann, ben), [1, 0])
      },
    )

    promise(
      `${name} spares a token of the user’s generation, and each time a spared one, earlier or later`,
      async (world) => {
        const ann = await world.addUser('ann')
        const session = await world.signIn(ann)
        const except = { exceptSignInId: newId(), exceptGeneration: 0 }
        for (const [index, seconds] of [9, 5].entries()) {
          assert.equal(
            await end(world, ann, { ...except, seconds, signInGeneration: index }),
            'done',
          )
          assert.equal(await world.store.read(findSession, session), undefined)
          const row = (await world.store.read(tokenRevocations, at(6))).find(
            (one) => one.signInId === null,
          )
          assert.deepEqual(
            [row?.firstGeneration, row?.exceptSignInId],
            [index + 1, except.exceptSignInId],
          )
        }
        assert.equal(
          await end(world, ann, { ...except, exceptGeneration: 2, signInGeneration: 2 }),
          'done',
        )
      },
    )

    promise(
      `${name} changes nothing if the excepted sign-in has ended: no sign-in is revived (S20)`,
      async (world) => {
        const ann = await world.addUser('ann')
        const kept = newId()
        const ended = newId()
        const revoked = newId()
        const own = await world.signIn(ann, { signInId: kept })
        const other = await world.signIn(ann, { signInId: ended })
        await world.store.write(revokeTokens, {
          userId: ann.id,
          signInId: revoked,
          at: at(4),
          expiresAt: revocationExpiresAt,
        })
        assert.equal(await ends.endOtherSignIns(world, ann, { exceptSignInId: kept, own }), 'done')
        const before = [
          await world.store.read(findCredentials, ann.username),
          await world.store.read(tokenRevocations, at(6)),
        ]
        const refused: End[] = [
          { exceptSignInId: ended, own: other },
          { exceptSignInId: ended, exceptGeneration: 0 },
          { exceptSignInId: revoked, exceptGeneration: 1 },
          { exceptSignInId: newId() },
          { exceptSignInId: newId(), exceptGeneration: 0 },
        ]
        for (const except of refused) assert.equal(await end(world, ann, except), 'outdated')
        assert.deepEqual(
          [
            await world.store.read(findCredentials, ann.username),
            await world.store.read(tokenRevocations, at(6)),
          ],
          before,
        )
        assert.ok(await world.store.read(findSession, own))
        assert.equal(await world.store.read(findSession, other), undefined)
      },
    )

    promise(
      `of two sign-ins that each call ${name} at the same time, one is left`,
      async (world) => {
        for (let round = 0; round < 10; round++) {
          const ann = await world.addUser(newId())
          const signIns = [newId(), newId()]
          const sessions = [
            await world.signIn(ann, { signInId: signIns[0] }),
            await world.signIn(ann, { signInId: signIns[1] }),
          ]
          const outcomes = await Promise.all(
            signIns.map((exceptSignInId, n) =>
              end(world, ann, { exceptSignInId, own: sessions[n] as SessionKey }),
            ),
          )
          assert.deepEqual(outcomes.toSorted(), ['done', 'outdated'])
          const alive = await Promise.all(
            sessions.map((session) => world.store.read(findSession, session)),
          )
          assert.deepEqual(
            alive.map((session) => session !== undefined),
            outcomes.map((outcome) => outcome === 'done'),
          )
        }
      },
    )
  }

  promise('a later change without an exception revokes the excepted sign-in too', async (world) => {
    for (const change of [setPassword, disableUser]) {
      const ann = await world.addUser(newId())
      const except = { exceptSignInId: newId(), exceptGeneration: 0 }
      await ends.endOtherSignIns(world, ann, except)
      await world.store.write(change, { userId: ann.id, passwordHash: 'new hash', at: at(4) })
      const row = (await world.store.read(tokenRevocations, at(0))).find(
        ({ userId }) => userId === ann.id,
      )
      assert.deepEqual([row?.firstGeneration, row?.exceptSignInId], [2, null])
    }
  })

  promise(
    'returns "outdated" for the other sign-ins of an unknown user, and revokes nothing',
    async (world) => {
      const proof = {
        userId: newId(),
        signInId: newId(),
        token: { generation: 0, signInGeneration: 0 },
      }
      const change = { userId: proof.userId, proof, at: at(5) }
      assert.equal(await world.store.write(endOtherSignIns, change), 'outdated')
      assert.deepEqual(await world.store.read(tokenRevocations, at(0)), [])
    },
  )
}

function proofOf({ id: userId }: Person, { exceptSignInId: signInId, ...given }: End) {
  const { exceptGeneration: generation, own = noSession, signInGeneration = 0 } = given
  if (generation !== undefined) return { userId, signInId, token: { generation, signInGeneration } }
  const { familyHash, secretHash } = own
  return {
    userId,
    signInId,
    session: { familyHash, secretHash, newHash: secretHash, lastSeenAt: at(0) },
  }
}

function everySignInOf({ id: userId }: Person) {
  return { userId, signInId: null, expiresAt: revocationExpiresAt }
}

async function generationsOf({ store }: World, ...people: Person[]) {
  const users = await Promise.all(people.map(({ id }) => store.read(findUser, id)))
  return users.map((user) => user?.credentialGeneration)
}
