import assert from 'node:assert/strict'
import { Follower } from '../../contract/random/follower.ts'
import { recount } from '../../contract/random/random.ts'
import { at, type Person, type PromiseOf, type World } from '../../contract/world.ts'
import { markAllRead } from '../bulk/bulk.store.ts'
import { actsOf, countsOf, placesOf } from './places.contract.ts'

const day = 24 * 3_600

/** The service itself sends it (reach/notices.ts). */
const own = { producerId: 'carillon', category: 'security' }
const notify = (world: World, person: Person, seconds = 0) =>
  world.send(person, 'Your password was changed', { ...own, at: at(seconds) })

export function securityNoticePromises(promise: PromiseOf): void {
  promise(
    'a security notice of the service is neither archived, snoozed nor removed for 24 hours, read or not; then it is',
    async (world) => {
      const ann = await world.addUser('ann')
      const act = actsOf(world, ann)
      const ids = [await notify(world, ann), await notify(world, ann), await notify(world, ann)]
      const [read = '', marked = ''] = ids
      await act.read(read, 1)
      await act.read(marked, 1)
      await act.unread(marked)
      const before = await world.inboxOf(ann)
      for (const id of ids)
        assert.deepEqual(
          [
            await act.archive(id, day - 1),
            await act.snooze(id, day - 1, 2 * day),
            await act.remove(id, day - 1),
          ],
          ['held', 'held', 'held'],
        )
      assert.deepEqual(await world.inboxOf(ann), before)
      assert.deepEqual(
        [
          await act.archive(ids[0], day),
          await act.snooze(ids[1], day, 2 * day),
          await act.remove(ids[2], day),
        ],
        ['done', 'done', 'done'],
      )
      await recount(world, ann)
      const others = [
        await world.send(ann, 'A producer', { category: 'security' }),
        await world.send(ann, 'The service', { producerId: 'carillon', category: 'other' }),
      ]
      for (const id of others) assert.equal(await act.remove(id, 1), 'done')
    },
  )

  promise(
    'an archive-read passes over them, clients see them stay, and an undo takes back exactly what it archived',
    async (world) => {
      const ann = await world.addUser('ann')
      const act = actsOf(world, ann)
      const old = await notify(world, ann, -day)
      const alone = await notify(world, ann)
      const other = await world.send(ann, 'Other', { category: 'security' })
      const together = await notify(world, ann)
      await act.read(alone, 1)
      await world.store.write(markAllRead, { userId: ann.id, throughId: null, at: at(2) })
      const unread = await notify(world, ann)
      const ids = [old, alone, other, together, unread]
      await act.seen(2)
      const follower = await Follower.of(world, ann)
      await act.archiveRead(3)
      const after = ['archived 3', 'read', 'archived 3', 'read', 'unread']
      assert.deepEqual(await placesOf(world, ann, ids), after)
      assert.deepEqual(await countsOf(world, ann), {
        total: 3,
        unread: 1,
        unseen: 2,
        archived: 2,
        snoozed: 0,
      })
      await recount(world, ann)
      await follower.catchUp(9)
      assert.equal(await act.undo(5), 'done')
      await recount(world, ann)
      assert.deepEqual(await placesOf(world, ann, ids), ['read', 'read', 'read', 'read', 'unread'])
      await follower.catchUp(9)
      await act.archiveRead(6)
      await act.archiveRead(2 * day)
      assert.deepEqual(await placesOf(world, ann, ids), [
        ...['archived 6', `archived ${2 * day}`, 'archived 6', `archived ${2 * day}`, 'unread'],
      ])
      await recount(world, ann)
    },
  )

  promise(
    'neither retention nor the maximum of an inbox removes them; others go in their place',
    async (world) => {
      const ann = await world.addUser('ann')
      const limits = { inboxMax: 1, retentionMs: 1_000 }
      const held: string[] = []
      for (let n = 0; n < 60; n++) held.push(await notify(world, ann))
      await actsOf(world, ann).read(held[0] ?? '', 0)
      await world.send(ann, 'Other')
      await world.upkeep(5, { inboxMax: 60 }).sweep()
      assert.deepEqual(new Set(await world.ids(ann)), new Set(held))
      await world.upkeep(day - 1, limits).sweep()
      assert.deepEqual(new Set(await world.ids(ann)), new Set(held))
      await recount(world, ann)
      await world.upkeep(day, { inboxMax: 1 }).sweep()
      assert.deepEqual(await world.ids(ann), [held[59]])
      await world.upkeep(day, limits).sweep()
      assert.deepEqual(await world.ids(ann), [])
      await recount(world, ann)
    },
  )
}
