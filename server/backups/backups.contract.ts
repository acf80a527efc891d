import assert from 'node:assert/strict'
import { at, type PromiseOf, type World } from '../contract/world.ts'
import {
  claimBackup,
  endBackup,
  forgetBackup,
  lastBackupAt,
  renewBackup,
  scheduledBackups,
} from './backups.store.ts'

const dueAt = at(0)
const claim = ({ store }: World, node: string, seconds: number) =>
  store.write(claimBackup, { dueAt, node, path: `/backups/${node}-${seconds}`, at: at(seconds) })

export function backupPromises(promise: PromiseOf): void {
  promise(
    'a backup that is due is claimed by one of several nodes, until it was not renewed for five minutes',
    async (world) => {
      const claims = await Promise.all(['a', 'b', 'c'].map((name) => claim(world, name, 1)))
      assert.equal(claims.filter(Boolean).length, 1)
      const [{ node = '', path = '' } = {}] = await world.store.read(scheduledBackups)
      const renew = (seconds: number) =>
        world.store.write(renewBackup, { dueAt, path, at: at(seconds) })
      assert.ok(await renew(200))
      assert.equal(await claim(world, 'd', 499), false)
      assert.ok(await claim(world, 'd', 501))
      assert.equal(await renew(502), false, `${node} has lost the claim`)
      await world.store.write(endBackup, { dueAt, path, at: at(503), bytes: 5, failure: null })
      const [row] = await world.store.read(scheduledBackups)
      assert.deepEqual(
        [row?.node, row?.bytes, row?.endedAt],
        ['d', null, null],
        'the end of a lost claim changes nothing',
      )
    },
  )

  promise(
    'a backup that failed can be claimed again after an hour, and one that succeeded never',
    async (world) => {
      assert.equal(await world.store.read(lastBackupAt), undefined)
      await claim(world, 'a', 1)
      const end = (path: string, seconds: number, bytes: number | null) =>
        world.store.write(endBackup, {
          dueAt,
          path,
          at: at(seconds),
          bytes,
          failure: bytes === null ? 'disk full' : null,
        })
      await end('/backups/a-1', 10, null)
      assert.equal(await world.store.read(lastBackupAt), 0)
      assert.equal(await claim(world, 'b', 3_609), false)
      assert.ok(await claim(world, 'b', 3_611))
      const [again] = await world.store.read(scheduledBackups)
      assert.deepEqual([again?.failure, again?.endedAt], [null, null])
      await end('/backups/b-3611', 3_620, 5)
      assert.equal(await claim(world, 'a', 90_000), false)
      assert.equal(await world.store.read(lastBackupAt), at(3_620))
      await world.store.write(forgetBackup, dueAt)
      assert.deepEqual(await world.store.read(scheduledBackups), [])
    },
  )
}
