// The promises about erasing a user: no row of the user is left, and every proof ends in the same step.
import assert from 'node:assert/strict'
import { readInbox } from '../inbox/inbox.store.ts'
import { emptyInbox } from '../inbox/inbox-state.ts'
import { markAllRead } from '../inbox/marks.store.ts'
import { findSession } from '../sessions/sessions.store.ts'
import { at, newId, type PromiseOf } from '../store/contract/world.ts'
import { erasedKey, revokeTokens, tokenRevocations } from '../tokens/tokens.store.ts'
import { deleteUser } from './erasure.store.ts'
import { addUser, findCredentials, findUser } from './users.store.ts'

const revocationExpiresAt = at(3_600)

export function erasurePromises(promise: PromiseOf): void {
  promise('erases a user with sessions, inbox and revocations, and no other user (U2)', async (world) => {
    const { store } = world
    const [ann, ben] = [await world.addUser('ann'), await world.addUser('ben')]
    const [anns, bens] = [await world.signIn(ann), await world.signIn(ben)]
    await world.deliver({ to: [ann, ben], title: 'First', key: 'deploy', category: 'build' })
    await world.send(ann, 'Second')
    await store.write(markAllRead, { userId: ann.id, throughId: null, at: at(2) })
    await store.write(revokeTokens, { userId: ann.id, signInId: newId(), at: at(3), expiresAt: revocationExpiresAt })
    const before = await world.inboxOf(ben)
    assert.equal(await store.write(deleteUser, { userId: ann.id, at: at(5), revocationExpiresAt }), 'done')
    assert.equal(await store.read(findUser, ann.id), undefined)
    assert.equal(await store.read(findCredentials, ann.username), undefined)
    assert.equal(await store.read(findSession, anns), undefined)
    assert.deepEqual(await store.read(readInbox, ann.id), emptyInbox)
    assert.deepEqual(await world.inboxOf(ann), { inbox: emptyInbox, categories: {}, items: [] })
    assert.deepEqual(await world.inboxOf(ben), before)
    assert.equal((await store.read(findSession, bens))?.userId, ben.id)
    const revocation = { userId: erasedKey(ann.id), signInId: null, firstGeneration: 0, exceptSignInId: null }
    assert.deepEqual(await store.read(tokenRevocations, at(6)), [{ ...revocation, expiresAt: revocationExpiresAt }])
    assert.equal(await store.write(deleteUser, { userId: ann.id, at: at(9), revocationExpiresAt }), 'absent')
    assert.equal(await store.write(deleteUser, { userId: newId(), at: at(9), revocationExpiresAt }), 'absent')
    assert.equal((await store.read(tokenRevocations, at(6))).length, 1)
  })

  promise('the username and the external id of an erased user are free for another user', async ({ store }) => {
    const ann = { username: 'ann', externalId: '1', displayName: null, createdAt: at(0), passwordHash: 'hash' }
    const id = newId()
    await store.write(addUser, { ...ann, id })
    await store.write(deleteUser, { userId: id, at: at(5), revocationExpiresAt })
    assert.equal(await store.write(addUser, { ...ann, id: newId() }), 'added')
  })

  promise('the outcome of a repeated delivery no longer names an erased user', async (world) => {
    const [ann, ben] = [await world.addUser('ann'), await world.addUser('ben')]
    const letter = { to: [ann, ben, { username: 'unknown' }], idempotency: { key: 'k1', bodyHash: 'b1' } }
    const first = await world.deliver(letter)
    await world.store.write(deleteUser, { userId: ann.id, at: at(5), revocationExpiresAt })
    const unknown = { userId: null, id: null, status: 'unknown_recipient' }
    assert.deepEqual(await world.deliver(letter), { ...first, results: [unknown, first.results[1], unknown] })
  })

  promise('a delivery at the same time is erased with the user, or does not find the user', async (world) => {
    for (let round = 0; round < 10; round++) {
      const [ann, ben] = [await world.addUser(`ann${round}`), await world.addUser(`ben${round}`)]
      const letters = Array.from({ length: 8 }, (_, n) => {
        const idempotency = n % 4 < 2 ? null : { key: `${round}-${n}`, bodyHash: 'body' }
        return world.deliver({ to: n % 2 ? [ann, ben] : [ben, ann], key: n % 3 ? null : `key ${n}`, idempotency })
      })
      const erased = world.store.write(deleteUser, { userId: ann.id, at: at(5), revocationExpiresAt })
      await Promise.all([...letters, erased])
      assert.equal(await erased, 'done')
      assert.deepEqual(await world.store.read(readInbox, ann.id), emptyInbox)
      assert.equal((await world.store.read(readInbox, ben.id)).total, 8)
    }
  })
}
