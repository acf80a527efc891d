// No false success (R2, R3), reads still work, and writes again when there is space.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { recount } from '../../contract/random/random.ts'
import { at, isUnavailable, type Person, World } from '../../contract/world.ts'
import { markAllRead } from '../../inbox/bulk/bulk.store.ts'
import { contentOf } from '../../inbox/notification-json.ts'
import { findSession, touchSession } from '../../sessions/sessions.store.ts'
import { connect } from './database.ts'
import { assertIntact, newFolder } from './testing/folder.ts'
import { openWorld } from './testing/open-world.ts'
import { OtherProcess } from './testing/other-process.ts'

const content = contentOf({ title: 'x'.repeat(8_000) })

test('on a full disk no failed commit is acknowledged, reads still work, and writes work again when there is space (R2, R3)', async (t) => {
  const path = join(await newFolder(t), 'carillon.db')
  // No file may grow beyond 0.5 or 1 MiB (the unit of ulimit depends on the shell).
  await using other = await OtherProcess.start({ fileSizeLimit: 1_024 })
  await other.open(path)
  const world = await World.on(other.store)
  const ann = await world.addUser('ann')

  const sent = await sendUntilRefused(world, ann)
  const atOnce = await Promise.allSettled(
    Array.from({ length: 40 }, () => world.send(ann, 'Hi', { content })),
  )
  for (const one of atOnce)
    if (one.status === 'fulfilled') sent.push(one.value)
    else saysUnknown(one.reason)
  assert.ok(atOnce.some(({ status }) => status === 'rejected'))
  assert.deepEqual(await world.ids(ann), sent.toReversed())
  await recount(world, ann)

  emptyLog(path)
  sent.push(await world.send(ann))
  await world.store.write(markAllRead, { userId: ann.id, throughId: null, at: 0 })
  assert.deepEqual(await world.ids(ann), sent.toReversed())
  await other.kill()

  await using opened = await openWorld(t, path)
  assert.deepEqual(await opened.world.ids(ann), sent.toReversed())
  assert.equal((await recount(opened.world, ann)).inbox.unread, 0)
  assertIntact(path)
})

test('a write that fails at any page leaves nothing behind, and a concurrent write gets its true outcome (R3)', async (t) => {
  const path = join(await newFolder(t), 'carillon.db')
  await using other = await OtherProcess.start({
    nodeOptions: ['--import', import.meta.resolve('./testing/writer-tap.ts')],
  })
  await other.open(path)
  const world = await World.on(other.store)
  const people = [
    await world.addUser('ann'),
    await world.addUser('ben'),
    await world.addUser('cay'),
  ]
  const session = await world.signIn(people[0] ?? assert.fail())
  const inboxes = () => Promise.all(people.map((person) => world.inboxOf(person)))
  // The pages that migrations have freed would be used first.
  await other.queryWriter('vacuum')
  const [{ page_count: pages }] = (await other.queryWriter('pragma page_count')) as [
    { page_count: number },
  ]
  let attempts = 0
  for (let isTold = false; !isTold; attempts++) {
    await other.queryWriter(`pragma max_page_count = ${pages + attempts}`)
    const before = await inboxes()
    const usedAt = at(1 + attempts)
    const letter = { to: people, content, idempotency: { key: 'k1', bodyHash: 'b1' } }
    const [touched, delivered] = await Promise.allSettled([
      world.store.write(touchSession, { ...session, at: usedAt }),
      world.deliver(letter),
    ])
    isTold = delivered.status === 'fulfilled'
    if (delivered.status === 'rejected') {
      // It failed before the commit, so nothing of it can have been stored.
      assert.ok(isUnavailable(delivered.reason), delivered.reason)
      assert.equal(delivered.reason.message, 'The store cannot do this now. Try again in a moment.')
      assert.deepEqual(await inboxes(), before)
    }
    // If both were in one commit, SQLite rolled back all of it.
    const isTouched = (await world.store.read(findSession, session))?.lastSeenAt === usedAt
    assert.equal(isTouched, touched.status === 'fulfilled')
  }
  assert.ok(attempts > 3, `${attempts} attempts`)
  for (const person of people) assert.equal((await recount(world, person)).inbox.total, 1)
})

/** A part of the log may have been written. */
function saysUnknown(error: unknown): void {
  assert.ok(isUnavailable(error), String(error))
  assert.equal(error.message, 'The store cannot do this now; the outcome is unknown')
}

async function sendUntilRefused(world: World, person: Person): Promise<string[]> {
  const sent: string[] = []
  for (let refusals = 0; refusals < 3; ) {
    assert.ok(sent.length < 1_000, 'the disk did not get full')
    try {
      sent.push(await world.send(person, 'Hi', { content }))
    } catch (error) {
      saysUnknown(error)
      refusals++
    }
  }
  return sent
}

/** A process without a limit copies the log into the database. */
function emptyLog(path: string): void {
  const database = connect(path)
  const [checkpoint] = database.prepare('pragma wal_checkpoint(truncate)').all()
  assert.equal(checkpoint?.busy, 0)
  database.close()
}
