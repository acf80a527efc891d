import assert from 'node:assert/strict'
import { at, maxAtOnce, newId, type PromiseOf, type World } from '../contract/world.ts'
import { deleteUser } from '../users/erasure/erasure.store.ts'
import {
  clearGuesses,
  forgetGuesses,
  type GuessLimit,
  type GuessLimits,
  type GuessRefusal,
  guessRefusals,
  removeOldGuesses,
  reserveGuess,
} from './guesses.store.ts'

const day = 24 * 3_600_000
/** Two guesses are free; the third waits 10 s, every later one 20 s. */
const delaysMs = [0, 0, 10_000, 20_000]
const countOf = (key: string): GuessLimit => ({ key, delaysMs, keptMs: day })
const counted = (keys: readonly string[], seconds: number): GuessLimits => ({
  limits: keys.map(countOf),
  at: at(seconds),
})
/** Three at once, then one a minute. */
const rateOf = (key: string): GuessLimit => ({ key, intervalMs: 60_000, burst: 3 })
const rated = (key: string, seconds: number, keys: readonly string[] = []): GuessLimits => ({
  limits: [...keys.map(countOf), rateOf(key)],
  at: at(seconds),
})
const newKey = () => `key ${newId()}`

export function guessPromises(promise: PromiseOf): void {
  const untilOf = (refusals: readonly GuessRefusal[]) =>
    refusals.map(({ notBefore }) => (notBefore - at(0)) / 1_000).toSorted((a, b) => a - b)
  /** Seconds; empty if the guess was counted. */
  const guess = async ({ store }: World, limits: GuessLimits) =>
    untilOf(await store.write(reserveGuess, limits))

  promise(
    'counts guesses under a key, and refuses each one that comes before its delay has passed (A9)',
    async (world) => {
      const key = newKey()
      assert.deepEqual(await guess(world, counted([key], 0)), [])
      assert.deepEqual(await guess(world, counted([key], 1)), [])
      assert.deepEqual(await guess(world, counted([key], 1)), [11])
      assert.deepEqual(
        await guess(world, counted([key], 10)),
        [11],
        'a refused guess is not counted',
      )
      assert.deepEqual(await guess(world, counted([key], 11)), [])
      assert.deepEqual(await guess(world, counted([key], 30)), [31])
      assert.deepEqual(await guess(world, counted([key], 31)), [])
      assert.deepEqual(
        await guess(world, counted([key], 32)),
        [51],
        'the last delay is that of every later guess',
      )
    },
  )

  promise('returns the keys that would refuse a guess, and counts nothing', async ({ store }) => {
    const busy = newKey()
    const free = newKey()
    for (const seconds of [0, 0]) await store.write(reserveGuess, counted([busy], seconds))
    for (let n = 0; n < 3; n++)
      assert.deepEqual(await store.read(guessRefusals, counted([busy, free], 1)), [
        { key: busy, notBefore: at(10) },
      ])
    assert.deepEqual(await store.read(guessRefusals, counted([busy, free], 10)), [])
    assert.deepEqual(await store.write(reserveGuess, counted([busy], 10)), [])
  })

  promise(
    'counts a guess under all its keys or under none, and names every key that refuses it',
    async (world) => {
      const one = newKey()
      const two = newKey()
      const three = newKey()
      for (let n = 0; n < 2; n++) await guess(world, counted([one, two], 0))
      const refusals = await world.store.write(reserveGuess, rated(three, 5, [one, two]))
      assert.deepEqual(refusals.map(({ key }) => key).toSorted(), [one, two].toSorted())
      for (let n = 0; n < 3; n++)
        assert.deepEqual(await guess(world, rated(three, 5)), [], 'the refused one was not counted')
      assert.deepEqual(await guess(world, rated(three, 5)), [65])
      assert.deepEqual(await guess(world, rated(three, 10, [one])), [65])
      assert.deepEqual(
        await guess(world, counted([one], 10)),
        [],
        'nor under the key that accepted it',
      )
    },
  )

  promise(
    'allows by a rate as many at once as its burst, and then one in each interval (A10)',
    async (world) => {
      const key = newKey()
      for (let n = 0; n < 3; n++) assert.deepEqual(await guess(world, rated(key, 0)), [])
      assert.deepEqual(await guess(world, rated(key, 59)), [60])
      assert.deepEqual(await guess(world, rated(key, 60)), [])
      assert.deepEqual(await guess(world, rated(key, 60)), [120])
      for (let n = 0; n < 3; n++)
        assert.deepEqual(await guess(world, rated(key, 1_000)), [], 'the rate was empty again')
      assert.deepEqual(await guess(world, rated(key, 1_000)), [1_060])
    },
  )

  promise(
    'counts under several rates at once, each with its own burst and interval, and takes back from each (A21)',
    async (world) => {
      const narrow = newKey()
      const wide = newKey()
      const both = (key: string, seconds: number): GuessLimits => ({
        limits: [
          { key, intervalMs: 60_000, burst: 2 },
          { key: wide, intervalMs: 10_000, burst: 3 },
        ],
        at: at(seconds),
      })
      for (let n = 0; n < 2; n++) assert.deepEqual(await guess(world, both(narrow, 0)), [])
      assert.deepEqual(await guess(world, both(narrow, 0)), [60])
      assert.deepEqual(
        await guess(world, both(newKey(), 0)),
        [],
        'the refused one did not count for the wide one',
      )
      assert.deepEqual(await guess(world, both(newKey(), 0)), [10])
      assert.deepEqual(await guess(world, both(narrow, 0)), [10, 60])
      await world.store.write(clearGuesses, both(narrow, 0))
      assert.deepEqual(await guess(world, both(narrow, 0)), [])
      assert.deepEqual(await guess(world, both(narrow, 0)), [10, 60])
    },
  )

  promise(
    'counts as many of many guesses at the same time as of guesses one after the other (A9)',
    async (world) => {
      const account = newKey()
      const address = newKey()
      const outcomes = await Promise.all(
        Array.from({ length: maxAtOnce }, (_, n) =>
          guess(world, rated(address, 0, [account, `${account} ${n % 3}`])),
        ),
      )
      assert.equal(outcomes.filter((until) => until.length === 0).length, 2)
      assert.deepEqual(
        await guess(world, rated(address, 0)),
        [],
        'the refused ones did not count for the address',
      )
      assert.deepEqual(await guess(world, rated(address, 0)), [60])
    },
  )

  promise(
    'guesses at the same time under the same keys in another order do not block each other',
    async (world) => {
      const keys = Array.from({ length: 4 }, newKey)
      const outcomes = await Promise.all(
        Array.from({ length: maxAtOnce }, (_, n) =>
          guess(world, counted(n % 2 ? keys : keys.toReversed(), 0)),
        ),
      )
      assert.equal(outcomes.filter((until) => until.length === 0).length, 2)
    },
  )

  promise('begins a count again after the time that it is kept', async (world) => {
    const key = newKey()
    for (const seconds of [0, 0, 10]) await guess(world, counted([key], seconds))
    const kept = 10 + day / 1_000
    assert.deepEqual(await guess(world, counted([key], kept)), [])
    assert.deepEqual(await guess(world, counted([key], kept)), [])
    assert.deepEqual(await guess(world, counted([key], kept)), [kept + 10])
  })

  promise(
    'takes back a guess that was right: its counts are gone, and the rate has one guess less',
    async (world) => {
      const account = newKey()
      const other = newKey()
      const address = newKey()
      for (const keys of [[account], [account], [other]])
        await guess(world, rated(address, 0, keys))
      await world.store.write(clearGuesses, { limits: [countOf(account), rateOf(address)] })
      assert.deepEqual(await guess(world, rated(address, 0, [account])), [])
      assert.deepEqual(await guess(world, rated(address, 0)), [60])
      assert.deepEqual(await guess(world, counted([other], 0)), [])
      assert.deepEqual(
        await guess(world, counted([other], 0)),
        [10],
        'the counts of other keys stay',
      )
      await world.store.write(clearGuesses, { limits: [countOf(newKey())] })
    },
  )

  promise('removes the counts of every key with a prefix, and no other', async (world) => {
    const name = newKey()
    for (const key of [`${name} a`, `${name} b c`, `${name}x`])
      for (let n = 0; n < 2; n++) await guess(world, counted([key], 0))
    assert.equal(await world.store.write(forgetGuesses, { prefix: `${name} ` }), 'done')
    assert.equal(await world.store.write(forgetGuesses, { prefix: `${name} ` }), 'absent')
    assert.deepEqual(await guess(world, counted([`${name} a`, `${name} b c`], 0)), [])
    assert.deepEqual(await guess(world, counted([`${name}x`], 0)), [10])
  })

  promise(
    'begins a count again that is far in the future, because the clock was set back since (R8)',
    async (world) => {
      const key = newKey()
      const address = newKey()
      const later = 30 * 24 * 3_600
      for (let n = 0; n < 2; n++) await guess(world, rated(address, later, [key]))
      assert.deepEqual(await guess(world, rated(address, 0, [key])), [])
      assert.deepEqual(await guess(world, rated(address, 0, [key])), [])
      assert.deepEqual(await guess(world, counted([key], 0)), [10])
    },
  )

  promise(
    'a guess by a node whose clock is a little behind does not shorten a delay',
    async (world) => {
      const key = newKey()
      await guess(world, counted([key], 30))
      assert.deepEqual(
        await guess(world, counted([key], 10)),
        [],
        'nor does the clock ahead delay a free guess',
      )
      assert.deepEqual(await guess(world, counted([key], 20)), [40])
    },
  )

  promise('removes the counts that have begun again', async (world) => {
    const old = newKey()
    const recent = newKey()
    await guess(world, counted([old], 0))
    for (let n = 0; n < 2; n++) await guess(world, counted([recent], 100))
    await world.store.write(removeOldGuesses, at(50) + day)
    assert.equal(await world.store.write(forgetGuesses, { prefix: old }), 'absent')
    assert.deepEqual(await guess(world, counted([recent], 100)), [110])
  })

  promise('erasing a user removes the counts of the user (U2)', async (world) => {
    const ann = await world.addUser('ann')
    const ben = await world.addUser('ben')
    for (const { id } of [ann, ben])
      await guess(world, counted([`user ${id} password`, `user ${id} mail`], 0))
    await world.store.write(deleteUser, { userId: ann.id, at: at(1) })
    assert.equal(await world.store.write(forgetGuesses, { prefix: `user ${ann.id} ` }), 'absent')
    assert.equal(await world.store.write(forgetGuesses, { prefix: `user ${ben.id} ` }), 'done')
  })
}
