import assert from 'node:assert/strict'
import { at, newId, type PromiseOf } from '../../contract/world.ts'
import { revokeTokens, type TokenRevocation, tokenRevocations } from '../tokens.store.ts'

export function tokenPromises(promise: PromiseOf): void {
  promise(
    'revokes a sign-in, and lists the revocation until its tokens have expired (T7)',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const one = { userId: ann.id, signInId: newId(), expiresAt: at(900) }
      const other = { userId: ben.id, signInId: newId(), expiresAt: at(1_100) }
      for (const [n, revocation] of [one, other].entries())
        await world.store.write(revokeTokens, { ...revocation, at: at(n + 1) })
      const listedAt = (seconds: number) => world.store.read(tokenRevocations, at(seconds))
      assert.deepEqual(sorted(await listedAt(3)), sorted([rowOf(one), rowOf(other)]))
      assert.deepEqual(sorted(await listedAt(899)), sorted([rowOf(one), rowOf(other)]))
      assert.deepEqual(await listedAt(900), [rowOf(other)])
      assert.deepEqual(await listedAt(1_100), [])
    },
  )

  promise('keeps the latest of many concurrent revocations', async (world) => {
    const ann = await world.addUser('ann')
    const signInId = newId()
    const moments = [5, 1, 9, 3, 7, 2, 8]
    const revoke = (seconds: number) =>
      world.store.write(revokeTokens, {
        userId: ann.id,
        signInId,
        at: at(seconds),
        expiresAt: at(900 + seconds),
      })
    await Promise.all(moments.map(revoke))
    assert.deepEqual(await world.store.read(tokenRevocations, at(9)), [
      rowOf({ userId: ann.id, signInId, expiresAt: at(909) }),
    ])
  })

  promise(
    'keeps a revocation for a day after it expired, because the clock may be set back (R8)',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const day = 24 * 3_600
      const signInId = newId()
      const revoke = (userId: string, seconds: number) =>
        world.store.write(revokeTokens, {
          userId,
          signInId,
          at: at(seconds),
          expiresAt: at(seconds + 960),
        })
      await revoke(ann.id, 0)
      await revoke(ben.id, day)
      const listed = async () =>
        (await world.store.read(tokenRevocations, at(0))).map(({ userId }) => userId)
      assert.deepEqual((await listed()).toSorted(), [ann.id, ben.id].toSorted())
      await revoke(ben.id, day + 960)
      assert.deepEqual(await listed(), [ben.id])
    },
  )
}

function rowOf(
  revocation: Pick<TokenRevocation, 'userId' | 'signInId' | 'expiresAt'>,
): TokenRevocation {
  return { ...revocation, firstGeneration: 0, exceptSignInId: null }
}

function sorted(revocations: TokenRevocation[]): TokenRevocation[] {
  return revocations.toSorted((a, b) => (a.userId < b.userId ? -1 : 1))
}
