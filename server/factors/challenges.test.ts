import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../basics/ids.ts'
import { replaceOperation, stubStore } from '../store/testing/operations.ts'
import { findChallenge, makeChallenge } from './challenges.ts'
import {
  addChallenge,
  type Challenge,
  type ChallengeKey,
  findChallenge as findStoredChallenge,
} from './factors.store.ts'

test('a challenge is found for its own purpose and for no other (A18)', async () => {
  const added: (ChallengeKey & Challenge & { expiresAt: number })[] = []
  const store = stubStore()
  replaceOperation(store, addChallenge, async (one) => added.push(one) > 0)
  replaceOperation(store, findStoredChallenge, async (key) =>
    added.find((one) => one.userId === key.userId && one.hash === key.hash),
  )
  const dependencies = { store, users: { now: () => 1_000 } }
  const userId = newId(1_000)
  const challenge = await makeChallenge(dependencies, {
    userId,
    purpose: 'second-factor',
    data: { variant: 'stateful' },
  })
  assert.equal(added[0]?.expiresAt, 1_000 + 5 * 60_000)
  assert.equal(JSON.stringify(added).includes(challenge), false, 'only the hash is stored')
  assert.deepEqual((await findChallenge(dependencies, challenge, 'second-factor'))?.data, {
    variant: 'stateful',
  })
  for (const purpose of ['provider', '', 'spent'])
    assert.equal(await findChallenge(dependencies, challenge, purpose), undefined, purpose)
  for (const other of [
    challenge.slice(0, -1),
    challenge.slice(36),
    `${newId(1_000)}${challenge.slice(36)}`,
  ])
    assert.equal(await findChallenge(dependencies, other, 'second-factor'), undefined, other)
})
