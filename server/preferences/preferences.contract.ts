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
  promise(
    'what a user has muted arrives archived and read, and is in no count of the list',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const cid = await world.addUser('cid')
      await world.deliver({ to: [ann, ben, cid], category: 'a' })
      await mute(world, ann, { a: 'forever' })
      await mute(world, ben, { '': isoAt(100) })
      const before = await Promise.all([ann, ben].map((person) => world.inboxOf(person)))
      const send = (to: Person[], category: string | null, seconds: number) =>
        statuses(world.deliver({ to, category, at: at(seconds) }))
      assert.deepEqual(await send([ann, ben, cid], 'a', 1), ['muted', 'muted', 'delivered'])
      assert.deepEqual(await send([ann], 'a', 2), ['muted'])
      assert.deepEqual(await send([ben], null, 3), ['muted'])
      for (const [n, person] of [ann, ben].entries()) {
        const { inbox, items, categories } = before[n] ?? assert.fail()
        const { version, lastSeq, archived } = inbox
        const after = {
          ...inbox,
          version: version + 2,
          lastSeq: lastSeq + 2,
          archived: archived + 2,
        }
        const found = await world.inboxOf(person)
        assert.deepEqual(
          [found.inbox, found.categories, found.items.slice(2)],
          [after, categories, items],
        )
        await recount(world, person)
      }
      const archived = await world.list(ann, { status: 'archived' })
      assert.deepEqual(
        archived.map(({ read, readAt, archivedAt }) => [read, readAt, archivedAt]),
        [2, 1].map((seconds) => [true, isoAt(seconds), isoAt(seconds)]),
      )
      assert.deepEqual(await send([ann], 'b', 4), ['delivered'])
      assert.deepEqual(await send([ann], null, 5), ['delivered'])
      assert.equal((await world.list(ann, { status: 'inbox' })).length, 3)
    },
  )

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
    'what replaces a notification in place is not muted; with `renotify` it becomes the newest in the archive',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const send = (seconds: number, renotify: boolean) =>
        statuses(
          world.deliver({
            to: [ann, ben],
            title: `at ${seconds}`,
            category: 'a',
            key: 'k',
            renotify,
            at: at(seconds),
          }),
        )
      await send(1, false)
      await mute(world, ann, { a: 'forever' })
      assert.deepEqual(await send(2, false), ['updated', 'updated'])
      assert.deepEqual(await send(3, true), ['muted', 'updated'])
      assert.deepEqual(await send(4, true), ['muted', 'updated'])
      const [one, another] = await world.list(ann)
      assert.equal(another, undefined)
      assert.deepEqual(
        [one?.title, one?.seq, one?.count, one?.readAt, one?.archivedAt],
        ['at 4', 3, 3, isoAt(4), isoAt(4)],
      )
      assert.equal((await world.list(ben, { status: 'unread' })).length, 1)
      for (const person of [ann, ben]) await recount(world, person)
      await mute(world, ann, { a: null })
      assert.deepEqual(await send(5, true), ['updated', 'updated'])
      assert.equal((await world.list(ann, { status: 'unread' })).length, 1)
      await recount(world, ann)
    },
  )

  promise('a mute ends at its time, and what was muted does not come back', async (world) => {
    const ann = await world.addUser('ann')
    await mute(world, ann, { a: isoAt(5) })
    const send = (moment: number) =>
      statuses(world.deliver({ to: [ann], category: 'a', at: moment }))
    assert.deepEqual(await send(at(5) - 1), ['muted'])
    assert.deepEqual(await send(at(5)), ['delivered'])
    await mute(world, ann, { a: 'forever' })
    assert.deepEqual(await send(at(6)), ['muted'])
    await mute(world, ann, { a: null })
    assert.deepEqual(await send(at(7)), ['delivered'])
    assert.equal((await world.list(ann, { status: 'inbox' })).length, 2)
    await recount(world, ann)
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
    'a repeated idempotency key has the first outcome, also after the end of a mute',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      await mute(world, ann, { '': 'forever' })
      const letter = { to: [ann, ben], idempotency: { key: 'k1', bodyHash: 'b1' } }
      const first = await world.deliver(letter)
      assert.deepEqual(await statuses(Promise.resolve(first)), ['muted', 'delivered'])
      await mute(world, ann, { '': null })
      assert.deepEqual(await world.deliver(letter), first)
      assert.equal((await world.list(ann, { status: 'all' })).length, 1)
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
