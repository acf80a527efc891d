import assert from 'node:assert/strict'
import { at, isoAt, newId, type Person, type PromiseOf } from '../../contract/world.ts'
import { archiveRead, markAllRead } from '../bulk/bulk.store.ts'
import { explainNotification } from '../examined/explain.store.ts'
import { markSeen } from '../marks.store.ts'
import { actsOf } from './places.contract.ts'

export function explainPromises(promise: PromiseOf): void {
  promise(
    'says when a notification was sent and replaced, how often it became the newest, and whether it was read alone or by a read-all',
    async (world) => {
      const { store } = world
      const ann = await world.addUser('ann')
      const first = await world.send(ann, 'First', { at: at(1) })
      const second = await world.send(ann, 'Second')
      const of = (id: string, { id: userId } = ann) =>
        store.read(explainNotification, { userId, id })
      const fresh = await of(first)
      assert.ok(fresh && 'seq' in fresh)
      const { sentAt, readAt, archivedAt, snoozedUntil, bulk, expiresAt, count } = fresh
      assert.deepEqual([sentAt, count], [isoAt(1), 1])
      for (const none of [readAt, archivedAt, snoozedUntil, bulk, expiresAt])
        assert.equal(none, null)
      await actsOf(world, ann).read(first, 2)
      await store.write(markAllRead, { userId: ann.id, throughId: null, at: at(3) })
      const timesOf = (found: Awaited<ReturnType<typeof of>>) =>
        found && 'seq' in found ? [found.readAt, found.bulk] : assert.fail('it is gone')
      assert.deepEqual(timesOf(await of(first)), [isoAt(2), null])
      assert.deepEqual(timesOf(await of(second)), [isoAt(3), 'read'])
      const keyed = await world.send(ann, 'First', { key: 'k', at: at(1) })
      await world.send(ann, 'Second', { key: 'k', at: at(2), renotify: true })
      const again = await of(keyed)
      assert.ok(again && 'seq' in again)
      assert.deepEqual([again.sentAt, again.replacedAt, again.count], [isoAt(1), isoAt(2), 2])
    },
  )

  promise(
    'says whether it was seen, and when it was archived, alone or by an archive-read, and until when it is snoozed',
    async (world) => {
      const { store } = world
      const ann = await world.addUser('ann')
      const ids = [await world.send(ann), await world.send(ann), await world.send(ann)]
      const [alone = '', together = '', snoozed = ''] = ids
      const of = async (id: string) => {
        const found = await store.read(explainNotification, { userId: ann.id, id })
        if (!found || !('seq' in found)) return assert.fail('it is gone')
        const { archivedAt, bulk, snoozedUntil, seq, seenThrough } = found
        return { archivedAt, bulk, snoozedUntil, isSeen: seq <= seenThrough }
      }
      await store.write(markSeen, { userId: ann.id, throughSeq: 2 })
      await actsOf(world, ann).archive(alone, 1)
      await actsOf(world, ann).snooze(snoozed, 2, 60)
      await actsOf(world, ann).read(together, 3)
      await store.write(archiveRead, { userId: ann.id, at: at(4) })
      const none = { archivedAt: null, bulk: null, snoozedUntil: null, isSeen: true }
      assert.deepEqual(await of(alone), { ...none, archivedAt: isoAt(1) })
      assert.deepEqual(await of(together), { ...none, archivedAt: isoAt(4), bulk: 'archive' })
      assert.deepEqual(await of(snoozed), { ...none, snoozedUntil: isoAt(60), isSeen: false })
    },
  )

  promise(
    'says when and why a notification was removed, and nothing of an unknown one or another user’s',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const id = await world.send(ann)
      const of = ({ id: userId }: Person, one = id) =>
        world.store.read(explainNotification, { userId, id: one })
      const unknown = [await of(ben), await of(ann, newId()), await of(ann, '')]
      assert.deepEqual(unknown, [undefined, undefined, undefined])
      await actsOf(world, ann).remove(id, 9)
      assert.deepEqual({ ...(await of(ann)) }, { removedAt: isoAt(9), reason: 'deleted' })
    },
  )
}
