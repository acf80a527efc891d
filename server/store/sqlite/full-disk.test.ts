// A disk that is full (R2, R3): no false success, reads go on, and writes work again when there is room.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { recount } from '../contract/random/random.ts'
import { at, isUnavailable, type Person, World } from '../contract/world.ts'
import { connect } from './database.ts'
import { assertIntact, newFolder } from './testing/folder.ts'
import { openWorld } from './testing/open-world.ts'
import { OtherProcess } from './testing/other-process.ts'

const content = `"title":"${'x'.repeat(8_000)}","category":null,"key":null`

test('acknowledges nothing that failed at the commit, says that its outcome is unknown, reads on, and writes again when there is room (R2, R3)', async (t) => {
  const path = join(await newFolder(t), 'carillon.db')
  // No file of that process may pass half a MiB or one (by the shell), and the write-ahead log is what gets there.
  await using other = await OtherProcess.start({ fileSizeLimit: 1_024 })
  await other.open(path)
  const world = await World.on(other.store)
  const ann = await world.addUser('ann')

  const told = await tellUntilRefused(world, ann)
  const atOnce = await Promise.allSettled(Array.from({ length: 40 }, () => world.send(ann, 'Hi', { content })))
  for (const one of atOnce)
    if (one.status === 'fulfilled') told.push(one.value)
    else saysUnknown(one.reason)
  assert.ok(atOnce.some(({ status }) => status === 'rejected'))
  assert.deepEqual(await world.ids(ann), told.toReversed())
  await recount(world, ann)

  emptyLog(path)
  told.push(await world.send(ann))
  await world.store.markAllRead({ userId: ann.id, throughId: null, at: 0 })
  assert.deepEqual(await world.ids(ann), told.toReversed())
  await other.kill()

  await using opened = await openWorld(t, path)
  assert.deepEqual(await opened.world.ids(ann), told.toReversed())
  assert.equal((await recount(opened.world, ann)).inbox.unread, 0)
  assertIntact(path)
})

test('R3: at whichever page it is full, a write leaves nothing, and its neighbour hears the truth', async (t) => {
  const path = join(await newFolder(t), 'carillon.db')
  await using other = await OtherProcess.start({
    nodeOptions: ['--import', import.meta.resolve('./testing/writer-tap.ts')],
  })
  await other.open(path)
  const world = await World.on(other.store)
  const people = [await world.addUser('ann'), await world.addUser('ben'), await world.addUser('cay')]
  const session = await world.signIn(people[0] ?? assert.fail())
  const inboxes = () => Promise.all(people.map((person) => world.inboxOf(person)))
  const [{ page_count: pages }] = (await other.askWriter('pragma page_count')) as [{ page_count: number }]
  let attempts = 0
  for (let isTold = false; !isTold; attempts++) {
    await other.askWriter(`pragma max_page_count = ${pages + attempts}`)
    const before = await inboxes()
    const usedAt = at(1 + attempts)
    const letter = { to: people, content, idempotency: { key: 'k1', bodyHash: 'b1' } }
    const [touched, delivered] = await Promise.allSettled([
      world.store.touchSession({ ...session, at: usedAt }),
      world.deliver(letter),
    ])
    isTold = delivered.status === 'fulfilled'
    if (delivered.status === 'rejected') {
      // Refused before the commit, so nothing of it can have been kept.
      assert.ok(isUnavailable(delivered.reason), delivered.reason)
      assert.equal(delivered.reason.message, 'The store cannot do this now. Try again in a moment.')
      assert.deepEqual(await inboxes(), before)
    }
    // Where both were in one commit, SQLite takes all of it back.
    const isTouched = (await world.store.findSession(session))?.lastSeenAt === usedAt
    assert.equal(isTouched, touched.status === 'fulfilled')
  }
  assert.ok(attempts > 3, `${attempts} attempts`)
  for (const person of people) assert.equal((await recount(world, person)).inbox.total, 1)
})

/** An I/O error at the commit: that some of the log was written cannot be excluded. */
function saysUnknown(error: unknown): void {
  assert.ok(isUnavailable(error), String(error))
  assert.equal(error.message, 'The store cannot do this now; the outcome is unknown')
}

async function tellUntilRefused(world: World, person: Person): Promise<string[]> {
  const told: string[] = []
  for (let refusals = 0; refusals < 3; ) {
    assert.ok(told.length < 1_000, 'the disk does not get full')
    try {
      told.push(await world.send(person, 'Hi', { content }))
    } catch (error) {
      saysUnknown(error)
      refusals++
    }
  }
  return told
}

/** Makes room: moves what is in the write-ahead log into the database, from a process that has no limit. */
function emptyLog(path: string): void {
  const database = connect(path)
  const [answer] = database.prepare('pragma wal_checkpoint(truncate)').all()
  assert.equal(answer?.busy, 0)
  database.close()
}
