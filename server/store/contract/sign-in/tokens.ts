// The promises about token revocations and about the keys that sign tokens.
import assert from 'node:assert/strict'
import type { TokenRevocation } from '../../store.ts'
import { at, newId, type PromiseOf } from '../world.ts'

export function tokenPromises(promise: PromiseOf): void {
  promise(
    'revokes one sign-in or all of a user, and lists the revocation until the tokens have expired (T7)',
    async (world) => {
      const [ann, ben] = [await world.addUser('ann'), await world.addUser('ben')]
      const one = {
        userId: ann.id,
        signInId: newId(),
        notBefore: at(1),
        expiresAt: at(900),
        firstGeneration: 0,
        exceptSignInId: null,
      }
      const all = {
        userId: ann.id,
        signInId: null,
        notBefore: at(2),
        expiresAt: at(1_000),
        firstGeneration: 0,
        exceptSignInId: null,
      }
      const bens = {
        userId: ben.id,
        signInId: null,
        notBefore: at(3),
        expiresAt: at(1_100),
        firstGeneration: 0,
        exceptSignInId: null,
      }
      for (const revocation of [one, all, bens]) await world.store.revokeTokens(revocation)
      const listedAt = async (seconds: number) => sorted(await world.store.tokenRevocations(at(seconds)))
      assert.deepEqual(await listedAt(3), sorted([one, all, bens]))
      assert.deepEqual(await listedAt(899), sorted([one, all, bens]))
      assert.deepEqual(await listedAt(900), sorted([all, bens]))
      assert.deepEqual(await listedAt(1_100), [])
    },
  )

  promise('keeps the later times of two revocations of the same thing, in either order', async (world) => {
    const [ann, ben] = [await world.addUser('ann'), await world.addUser('ben')]
    const earlier = { signInId: null, notBefore: at(1), expiresAt: at(901) }
    const later = { signInId: null, notBefore: at(2), expiresAt: at(902) }
    for (const revocation of [earlier, later]) await world.store.revokeTokens({ userId: ann.id, ...revocation })
    for (const revocation of [later, earlier]) await world.store.revokeTokens({ userId: ben.id, ...revocation })
    assert.deepEqual(
      sorted(await world.store.tokenRevocations(at(3))),
      sorted([ann, ben].map(({ id }) => ({ userId: id, ...later, firstGeneration: 0, exceptSignInId: null }))),
    )
  })

  promise('keeps the latest of many concurrent revocations', async (world) => {
    const ann = await world.addUser('ann')
    const moments = [5, 1, 9, 3, 7, 2, 8]
    await Promise.all(
      moments.map((seconds) =>
        world.store.revokeTokens({
          userId: ann.id,
          signInId: null,
          notBefore: at(seconds),
          expiresAt: at(900 + seconds),
        }),
      ),
    )
    const latest = {
      userId: ann.id,
      signInId: null,
      notBefore: at(9),
      expiresAt: at(909),
      firstGeneration: 0,
      exceptSignInId: null,
    }
    assert.deepEqual(await world.store.tokenRevocations(at(9)), [latest])
  })

  promise('keeps a revocation for a day after it expired, because the clock may be set back (R8)', async (world) => {
    const [ann, ben] = [await world.addUser('ann'), await world.addUser('ben')]
    const day = 24 * 3_600
    const revoke = (userId: string, seconds: number) =>
      world.store.revokeTokens({ userId, signInId: null, notBefore: at(seconds), expiresAt: at(seconds + 960) })
    await revoke(ann.id, 0)
    await revoke(ben.id, day)
    const listed = async () => (await world.store.tokenRevocations(at(0))).map(({ userId }) => userId)
    assert.deepEqual((await listed()).toSorted(), [ann.id, ben.id].toSorted())
    await revoke(ben.id, day + 960)
    assert.deepEqual(await listed(), [ben.id])
  })

  promise(
    'does not change the first valid generation when tokens without one are revoked later (T7)',
    async (world) => {
      const ann = await world.addUser('ann')
      await world.store.setPassword({ userId: ann.id, passwordHash: 'new', at: at(1), revocationExpiresAt: at(901) })
      await world.store.revokeTokens({ userId: ann.id, signInId: null, notBefore: at(2), expiresAt: at(902) })
      const [revocation] = await world.store.tokenRevocations(at(3))
      assert.deepEqual([revocation?.firstGeneration, revocation?.notBefore], [1, at(2)])
    },
  )
}

function sorted(revocations: TokenRevocation[]): TokenRevocation[] {
  return revocations.toSorted((a, b) => a.notBefore - b.notBefore || (a.userId < b.userId ? -1 : 1))
}
