import assert from 'node:assert/strict'
import { recount } from '../contract/random/random.ts'
import { at, isoAt, type Person, type PromiseOf, type World } from '../contract/world.ts'
import { changesSince } from '../inbox/inbox.store.ts'
import { deleteUser } from '../users/erasure/erasure.store.ts'
import { addUser } from '../users/users.store.ts'
import { changePreferences, putCategory, readPreferences } from './preferences.store.ts'

async function mute(
  { store }: World,
  { id: userId }: Person,
  mutes: Readonly<Record<string, string | null>>,
) {
  const named = Object.entries(mutes).map(([category, mutedUntil]) => ({ category, mutedUntil }))
  assert.equal(
    await store.write(changePreferences, { userId, choices: named, now: isoAt(0) }),
    'done',
  )
}

const statuses = async (delivered: ReturnType<World['deliver']>) =>
  (await delivered).results.map(({ status }) => status)

const declare = ({ store }: World, application: string, name: string, mandatory: 0 | 1) =>
  store.write(putCategory, { application, name, label: '"A"', description: null, mandatory })

export function preferencePromises(promise: PromiseOf): void {
  promise('what a user has muted and what the inbox has are listed by name', async (world) => {
    const ann = await world.addUser('ann')
    for (const category of ['c', 'a', 'B']) await world.send(ann, 'Hi', { category })
    await mute(world, ann, { c: 'forever', a: 'forever', B: 'forever' })
    const { present, choices } =
      (await world.store.read(readPreferences, { userId: ann.id, now: isoAt(0) })) ?? assert.fail()
    for (const found of [present, [...choices.keys()]]) assert.deepEqual(found, ['B', 'a', 'c'])
  })

  promise('what is muted arrives in changes as archived', async (world) => {
    const ann = await world.addUser('ann')
    await mute(world, ann, { '': 'forever' })
    const id = await world.send(ann)
    const changes = await world.store.read(changesSince, { userId: ann.id, version: 0, limit: 9 })
    assert.ok(changes !== 'reset')
    assert.deepEqual(
      changes.changes.map(({ type }) => type),
      ['archived'],
    )
    assert.equal((await world.find(ann, id))?.archivedAt, isoAt(0))
  })

  promise(
    'a category that the application of the producer declares as mandatory is not muted',
    async (world) => {
      const ann = await world.addUser('ann', 'shop')
      await mute(world, ann, { '': 'forever', a: 'forever' })
      await declare(world, 'club', 'a', 1)
      const send = (application: string, category: string | null = 'a') =>
        statuses(world.deliver({ to: [ann], category, application }))
      assert.deepEqual(await send('shop'), ['muted'])
      await declare(world, 'shop', 'a', 1)
      assert.deepEqual(await send('shop'), ['delivered'])
      assert.deepEqual(
        [await send(''), await send('shop', 'b'), await send('shop', null)],
        Array(3).fill(['muted']),
      )
      // What the service itself reports about the account.
      const own = { producerId: 'carillon', category: 'security' }
      assert.deepEqual(await statuses(world.deliver({ to: [ann], ...own })), ['delivered'])
      await declare(world, 'shop', 'a', 0)
      assert.deepEqual(await send('shop'), ['muted'])
    },
  )

  promise(
    'mute against count: a delivery during a change of mutes is muted or not, and each count is right',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      let muted = 0
      for (let round = 0; round < 10; round++) {
        const letters = Array.from({ length: 8 }, (_, n) =>
          world.deliver({
            to: n % 4 ? [ann] : [ben, ann],
            category: n % 2 ? 'a' : 'b',
            at: at(round),
          }),
        )
        const change = mute(
          world,
          ann,
          round % 2 ? { a: null, '': null } : { [round % 4 ? '' : 'a']: 'forever' },
        )
        const outcomes = await Promise.all(letters)
        await change
        muted += outcomes
          .flatMap(({ results }) => results)
          .filter(({ status }) => status === 'muted').length
      }
      const { total, unread, archived, lastSeq } = (await recount(world, ann)).inbox
      assert.deepEqual([total, unread, archived, lastSeq], [80 - muted, 80 - muted, muted, 80])
      await recount(world, ben)
    },
  )

  promise('a change replaces only what it names, and removes what has ended', async (world) => {
    const ann = await world.addUser('ann')
    await mute(world, ann, { a: 'forever', b: isoAt(5), c: isoAt(9) })
    const read = async () => {
      const found = await world.store.read(readPreferences, { userId: ann.id, now: isoAt(0) })
      return Object.fromEntries(
        Array.from(found?.choices.values() ?? [], ({ category, mutedUntil }) => [
          category,
          mutedUntil,
        ]),
      )
    }
    const change = {
      userId: ann.id,
      choices: [{ category: 'c', mutedUntil: 'forever' }],
      now: isoAt(5),
    }
    await world.store.write(changePreferences, change)
    assert.deepEqual(await read(), { a: 'forever', c: 'forever' })
    await mute(world, ann, { a: null, c: null, d: null })
    assert.deepEqual(await read(), {})
  })

  promise('erasing a user removes what the user has muted', async (world) => {
    const ann = await world.addUser('ann')
    await mute(world, ann, { a: 'forever' })
    await world.store.write(deleteUser, { userId: ann.id, at: at(5) })
    assert.equal(
      await world.store.write(changePreferences, { userId: ann.id, now: isoAt(6) }),
      'absent',
    )
    await world.store.write(addUser, { ...ann, displayName: null, createdAt: at(7) })
    const found = await world.store.read(readPreferences, { userId: ann.id, now: isoAt(0) })
    assert.deepEqual(found?.choices, new Map())
    assert.deepEqual(await statuses(world.deliver({ to: [ann], category: 'a' })), ['delivered'])
  })
}
