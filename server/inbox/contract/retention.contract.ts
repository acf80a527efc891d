// These promises hold whichever node acts, and if two do at the same time.
import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import { newId as idAt } from '../../basics/ids.ts'
import { recount } from '../../contract/random/random.ts'
import { at, isoAt, type Person, type PromiseOf, type World } from '../../contract/world.ts'
import { explainNotification } from '../examined/explain.store.ts'
import { changesSince, readInbox } from '../inbox.store.ts'
import type { RemovalReason } from '../inbox-state.ts'
import { contentOf } from '../notification-json.ts'
import { countOld, shrink } from '../retention.store.ts'
import { actsOf } from './places.contract.ts'

const day = 24 * 3_600
async function changesAfter({ store }: World, { id }: Person, version: number) {
  return store.read(changesSince, { userId: id, version, limit: 10_000 })
}

/** Titles are newest first. */
async function isLeft(world: World, person: Person, titles: readonly string[]) {
  const { items } = await recount(world, person)
  assert.deepEqual(
    items.map(({ title }) => title),
    titles,
  )
}

async function isRemoved(
  world: World,
  person: Person,
  version: number,
  ids: readonly string[],
  reason: RemovalReason,
) {
  const found = await changesAfter(world, person, version)
  assert.ok(found !== 'reset')
  assert.deepEqual(
    found.changes
      .flatMap((change) => (change.type === 'removed' ? [[change.id, change.reason]] : []))
      .sort(),
    ids.map((id) => [id, reason]).sort(),
  )
}

const versionOf = async ({ store }: World, { id }: Person) =>
  (await store.read(readInbox, id)).version

export function retentionPromises(promise: PromiseOf): void {
  promise(
    'wakes what was snoozed when its time has come, once, as the newest and unread',
    async (world) => {
      const ann = await world.addUser('ann')
      const early = await world.send(ann, 'early')
      const late = await world.send(ann, 'late')
      await world.send(ann, 'other')
      await actsOf(world, ann).snooze(early, 0, 60)
      await actsOf(world, ann).snooze(late, 0, 61)
      const version = await versionOf(world, ann)
      await world.upkeep(59).turn()
      assert.equal(await versionOf(world, ann), version)
      await Promise.all(
        [world.upkeep(60), world.upkeep(60), world.upkeep(60)].map((one) => one.turn()),
      )
      assert.equal(await versionOf(world, ann), version + 1)
      const [newest] = await world.list(ann, { status: 'inbox' })
      assert.deepEqual([newest?.id, newest?.seq, newest?.read], [early, 4, false])
      const changes = await changesAfter(world, ann, version)
      assert.deepEqual(changes !== 'reset' && changes.changes.map(({ type }) => type), ['created'])
      await recount(world, ann)
    },
  )

  promise(
    'notifications whose snoozes end at the same moment keep their order in the list',
    async (world) => {
      const ann = await world.addUser('ann')
      const ids = [
        await world.send(ann, 'one'),
        await world.send(ann, 'two'),
        await world.send(ann, 'three'),
      ]
      for (const id of ids.toReversed()) await actsOf(world, ann).snooze(id, 0, 60)
      await world.upkeep(60).turn()
      await isLeft(world, ann, ['three', 'two', 'one'])
    },
  )

  promise('removes what has expired, wherever it is, and a client learns why', async (world) => {
    const ann = await world.addUser('ann')
    const content = (title: string, seconds: number) =>
      contentOf({ title, expiresAt: isoAt(seconds) })
    const ids: string[] = []
    for (const seconds of [60, 61, 61, 61])
      ids.push(await world.send(ann, '', { content: content(`${seconds}`, seconds) }))
    await world.send(ann, 'stays')
    const [first = '', archived = '', snoozed = '', read = ''] = ids
    await actsOf(world, ann).archive(archived, 1)
    await actsOf(world, ann).snooze(snoozed, 1, 61)
    await actsOf(world, ann).read(read, 1)
    const version = await versionOf(world, ann)
    await world.upkeep(59).turn()
    await isRemoved(world, ann, version, [], 'expired')
    await world.upkeep(60).turn()
    await isRemoved(world, ann, version, [first], 'expired')
    await Promise.all([1, 2, 3].map(() => world.upkeep(61).turn()))
    await isRemoved(world, ann, version, ids, 'expired')
    await isLeft(world, ann, ['stays'])
    assert.equal(await versionOf(world, ann), version + 4)
  })

  promise(
    'removes what is too old once, and a client learns why, also if nodes do it at the same time',
    async (world) => {
      const ann = await world.addUser('ann')
      const send = (title: string, seconds: number) =>
        world.send(ann, title, { at: at(seconds), ids: [idAt(at(seconds))] })
      const read = await send('read', 0)
      await send('unread', 0)
      const archived = await send('archived', 1)
      await send('read later', day)
      await actsOf(world, ann).read(read, 5)
      await actsOf(world, ann).archive(archived, 5)
      const version = await versionOf(world, ann)
      const limits = { retentionMs: day * 1_000, retentionUnreadMs: 2 * day * 1_000 }
      await Promise.all([1, 2, 3].map(() => world.upkeep(day + 2, limits).sweep()))
      await isRemoved(world, ann, version, [read, archived], 'retention')
      await isLeft(world, ann, ['read later', 'unread'])
      assert.equal(await versionOf(world, ann), version + 2)
    },
  )

  promise(
    'counts what a retention would remove, by user and month, and what is snoozed never',
    async (world) => {
      const ann = await world.addUser('ann')
      const read = await world.send(ann)
      await world.send(ann)
      const snoozed = await world.send(ann)
      await actsOf(world, ann).read(read, 5)
      await actsOf(world, ann).snooze(snoozed, 5, 99 * day)
      const count = async (readBefore: string, unreadBefore: string) =>
        (await world.store.read(countOld, { readBefore, unreadBefore })).filter(
          ({ userId }) => userId === ann.id,
        )
      const old = { userId: ann.id, lastSentIn: isoAt(0).slice(0, 7), read: 1, unread: 1 }
      assert.deepEqual(await count(isoAt(day), isoAt(day)), [old])
      assert.deepEqual(await count(isoAt(day), ''), [{ ...old, unread: 0 }])
      assert.deepEqual(await count('', ''), [])
    },
  )

  promise(
    'lists removals to a client that is behind, in pages; more than 1,000 of one moment are a reset',
    async (world) => {
      const ann = await world.addUser('ann')
      const ids = await world.sendTimes(1_601, ann)
      const before = await versionOf(world, ann)
      await world.upkeep(1, { inboxMax: 600 }).sweep()
      await world.upkeep(1 + 60, { inboxMax: 0 }).sweep()
      await isLeft(world, ann, [])
      assert.equal(await versionOf(world, ann), before + 1_601)
      const first = { userId: ann.id, version: before, limit: 1 }
      assert.equal(await world.store.read(changesSince, first), 'reset')
      assert.equal(await changesAfter(world, ann, before), 'reset')
      const removed = new Set<string>()
      let version = before + 1
      for (let more = true; more; ) {
        const found = await world.store.read(changesSince, { userId: ann.id, version, limit: 500 })
        assert.ok(found !== 'reset')
        for (const change of found.changes) if (change.type === 'removed') removed.add(change.id)
        version = found.changes.at(-1)?.version ?? Number.NaN
        more = found.more
      }
      assert.deepEqual([removed.size, version], [1_600, before + 1_601])
      for (const [id, seconds] of [[ids[0], 1] as const, [ids.at(-1), 61] as const])
        assert.deepEqual(
          {
            ...(await world.store.read(explainNotification, { userId: ann.id, id: id ?? '' })),
          },
          { removedAt: isoAt(seconds), reason: 'retention' },
        )
    },
  )

  promise(
    'retention against list: every page that is read meanwhile has what its counters say',
    async (world) => {
      const ann = await world.addUser('ann')
      await world.sendTimes(400, ann)
      for (let n = 0; n < 5; n++) await world.send(ann, 'new', { at: at(day) })
      let isOver = false
      const totals = new Set<number>()
      const reading = async () => {
        while (!isOver) {
          const { items, total, inbox } = await world.page({
            userId: ann.id,
            page: 1,
            limit: 500,
            status: 'inbox',
          })
          assert.deepEqual([JSON.parse(items).length, inbox.unread], [total, total])
          totals.add(total)
          // On SQLite a read ends in the same turn of the event loop.
          await setImmediate()
        }
      }
      const readers = Promise.all([reading(), reading()])
      await world
        .upkeep(day, { retentionMs: 1_000 })
        .sweep()
        .finally(() => {
          isOver = true
        })
      await readers
      assert.ok(totals.size > 1, 'no page was read during the work')
      await isLeft(world, ann, ['new', 'new', 'new', 'new', 'new'])
    },
  )

  promise(
    'keeps at most so many in an inbox: the oldest read ones go first, then the oldest others',
    async (world) => {
      const ann = await world.addUser('ann')
      const ids: string[] = []
      for (const title of ['1', '2', '3', '4', '5', '6']) ids.push(await world.send(ann, title))
      const act = actsOf(world, ann)
      await act.snooze(ids[0], 1, 99)
      await act.read(ids[2], 1)
      await act.archive(ids[4], 1)
      for (const [inboxMax, titles] of [
        [5, ['6', '5', '4', '2', '1']],
        [4, ['6', '4', '2', '1']],
        [2, ['6', '4']],
      ] as const) {
        await world.upkeep(2, { inboxMax }).sweep()
        await isLeft(world, ann, titles)
      }
    },
  )

  promise('keeps each inbox that a delivery fills at its maximum', async (world) => {
    const people = await world.addUsers(3)
    const nodes = [1, 2].map(() => world.upkeep(1, { inboxMax: 2 }))
    for (const title of ['1', '2', '3', '4']) {
      const trims = nodes.map((node) => node.trim())
      await world.deliver({ to: people, title })
      await Promise.all(trims)
    }
    await nodes[0]?.trim()
    for (const person of people) await isLeft(world, person, ['4', '3'])
  })

  promise(
    'wakes and removes what is due while an inbox with far too many is emptied',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      await world.sendTimes(500, ann)
      await world.send(ben, '', { content: contentOf({ title: 'expires', expiresAt: isoAt(1) }) })
      // Emptying goes on after the turn only, which must not wait for it.
      const { promise: turned, resolve: goOn } = Promise.withResolvers<void>()
      const write = async (operation: unknown, input: unknown) => {
        if (operation === shrink) await turned
        return world.store.write(operation as typeof shrink, input as Parameters<typeof shrink>[0])
      }
      const { read } = world.store
      const slow = Object.assign(Object.create(world), { store: { read, write } }) as World
      const node = slow.upkeep(2, { inboxMax: 1 })
      const trimmed = node.trim()
      await node.turn()
      await isLeft(world, ben, [])
      assert.equal((await world.inboxOf(ann)).inbox.total, 500)
      goOn()
      await trimmed
      assert.equal((await world.inboxOf(ann)).inbox.total, 1)
    },
  )

  promise(
    'keeps a removal for 30 days; a client that is behind an older one gets a reset',
    async (world) => {
      const ann = await world.addUser('ann')
      await world.send(ann, 'first')
      const version = await versionOf(world, ann)
      await world.upkeep(2, { retentionMs: 1_000 }).sweep()
      await world.send(ann, 'second')
      await world.upkeep(2 + 30 * day).sweep()
      assert.notEqual(await changesAfter(world, ann, version), 'reset')
      await world.upkeep(3 + 30 * day).sweep()
      assert.equal(await changesAfter(world, ann, version), 'reset')
      assert.notEqual(await changesAfter(world, ann, version + 1), 'reset')
    },
  )
}
