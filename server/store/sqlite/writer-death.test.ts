import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { isUnavailable, runs } from '../../contract/world.ts'
import { markRead } from '../../inbox/marks.store.ts'
import { findUser } from '../../users/users.store.ts'
import { newFolder } from './testing/folder.ts'
import { openWorld } from './testing/open-world.ts'
import { OtherProcess } from './testing/other-process.ts'

const moreThanOneCommitTakes = 5_000

test('when the writer thread dies, every waiting call is rejected at once and none is acknowledged', async (t) => {
  await using opened = await openWorld(t)
  const { world, writer } = opened
  const ann = await world.addUser('ann')
  const [kept] = await world.sendTimes(1, ann)
  const waiting = Array.from({ length: moreThanOneCommitTakes }, () => world.send(ann))
  await new Promise(setImmediate)
  const killedAt = performance.now()
  const dead = writer.terminate()
  const settled = await Promise.allSettled(waiting)
  assert.ok(performance.now() - killedAt < 60_000)
  await dead
  const refused = settled.filter((one) => one.status === 'rejected')
  assert.ok(refused.length > 0)
  for (const { reason } of refused) {
    assert.ok(isUnavailable(reason), reason)
    assert.equal(reason.message, 'The store went away; the outcome is unknown')
  }
  const acknowledged = settled.filter((one) => one.status === 'fulfilled').map(({ value }) => value)
  const there = new Set(await world.ids(ann))
  for (const id of [kept ?? '', ...acknowledged]) assert.ok(there.has(id))
})

test('after the writer thread died, the store reports the failure, refuses writes, still reads, and closes', async (t) => {
  await using opened = await openWorld(t)
  const { world, store, writer } = opened
  const ann = await world.addUser('ann')
  const id = await world.send(ann, 'Still here')
  await store.check()
  await writer.terminate()
  assert.match((await store.failed).message, /writer thread/)
  await assert.rejects(world.send(ann), isUnavailable)
  await assert.rejects(store.write(markRead, { userId: ann.id, id, at: 0 }), isUnavailable)
  await assert.rejects(store.check(), isUnavailable)
  assert.deepEqual(await world.titles(ann), ['Still here'])
  assert.equal((await store.read(findUser, ann.id))?.username, ann.username)
})

test('the store closes if its writer thread dies during the last writes', async (t) => {
  await using opened = await openWorld(t)
  const { world, store, writer } = opened
  const ann = await world.addUser('ann')
  const waiting = Promise.allSettled(
    Array.from({ length: moreThanOneCommitTakes }, () => world.send(ann)),
  )
  const closing = store.close()
  await new Promise(setImmediate)
  await writer.terminate()
  await closing
  const settled = await waiting
  assert.ok(settled.some(({ status }) => status === 'rejected'))
})

test('closing the store during the once-a-second check is not a failure', async (t) => {
  const path = join(await newFolder(t), 'carillon.db')
  await using other = await OtherProcess.start({
    nodeOptions: ['--import', import.meta.resolve('./testing/hurried-timers.ts')],
  })
  assert.deepEqual(await other.openAndClose(path, runs(40)), [])
})
