// Beside the contract: group commit, and writes of other processes on the same file.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { storeContract } from '../../contract/store.contract.ts'
import { isUnavailable, newId, runs, World } from '../../contract/world.ts'
import { deliver } from '../../delivery/delivery.store.ts'
import { readInbox } from '../../inbox/inbox.store.ts'
import { contentOf } from '../../inbox/notification-json.ts'
import { openStore } from '../../open-store.ts'
import { signingKey } from '../../tokens/contract/signing-keys.contract.ts'
import { addSigningKey } from '../../tokens/signing-keys.store.ts'
import type { ChangeSignal } from '../events.ts'
import { tableNames } from '../transfer/rows.ts'
import { connect } from './database.ts'
import { commitsIn, newFolder } from './testing/folder.ts'
import { openWorld } from './testing/open-world.ts'
import { OtherProcess } from './testing/other-process.ts'

storeContract({
  name: 'SQLite',
  signalsWhenEmptied: true,
  async newPlace() {
    const folder = await mkdtemp(join(tmpdir(), 'carillon-'))
    const path = join(folder, 'carillon.db')
    return {
      open: async () => (await openStore({ engine: 'sqlite', path })).store,
      remove: () => rm(folder, { recursive: true }),
      empty: async () => empty(path),
    }
  },
})

/** A new file with its writer thread would take ten times the processor time. */
function empty(path: string): void {
  const database = connect(path)
  database.exec('pragma foreign_keys = off; pragma synchronous = off; begin immediate')
  for (const table of [...tableNames, 'scheduled_backup', 'node'])
    database.exec(`delete from ${table}`)
  database.exec('commit')
  database.close()
}

test('the writer thread commits to a write-ahead log and waits for the disk at every commit (law 5)', async (t) => {
  const path = join(await newFolder(t), 'carillon.db')
  await using other = await OtherProcess.start({
    nodeOptions: ['--import', import.meta.resolve('./testing/writer-tap.ts')],
  })
  await other.open(path)
  await other.store.write(addSigningKey, { key: signingKey('k1'), after: null })
  const pragmas = await other.queryWriter('select * from pragma_journal_mode, pragma_synchronous')
  const full = 2
  assert.deepEqual(pragmas, [{ journal_mode: 'wal', synchronous: full }])
})

test('256 concurrent writes share at most four commits (law 5)', async (t) => {
  await using opened = await openWorld(t)
  const { world, path } = opened
  const ann = await world.addUser('ann')
  const before = commitsIn(path)
  await Promise.all(Array.from({ length: 256 }, () => world.send(ann)))
  const shared = commitsIn(path) - before
  assert.ok(shared >= 1 && shared <= 4, `${shared} commits`)
  for (let n = 0; n < 5; n++) await world.send(ann)
  assert.equal(commitsIn(path) - before - shared, 5)
})

test('a read after a write sees it, even if the read transaction of the turn began before', async (t) => {
  await using opened = await openWorld(t)
  const { world } = opened
  const ann = await world.addUser('ann')
  let isWriting = true
  const readInEveryTurn = async () => {
    while (isWriting) {
      await world.store.read(readInbox, ann.id)
      await new Promise(setImmediate)
    }
  }
  const reading = Array.from({ length: 20 }, readInEveryTurn)
  for (let version = 1; version <= runs(50, 2_000); version++) {
    await world.send(ann)
    assert.equal((await world.store.read(readInbox, ann.id)).version, version)
  }
  isWriting = false
  await Promise.all(reading)
})

test('signals "anything" soon after another process wrote, and not for its own writes (law 8)', async (t) => {
  await using opened = await openWorld(t)
  const { world, path } = opened
  const ann = await world.addUser('ann')
  await using other = await OtherProcess.start()
  await other.open(path)
  const theirs = await World.on(other.store)
  const signals: ChangeSignal[] = []
  const isSignalled = async () => {
    while (signals.at(-1)?.about !== 'anything') await sleep(5)
  }
  world.store.onChange((signal) => signals.push(signal))
  await theirs.send(ann, 'First')
  await isSignalled()
  // The file is checked once a second. That signal may still be about what came before.
  await sleep(1_200)

  signals.length = 0
  await world.send(ann, 'From here')
  await sleep(1_200)
  assert.deepEqual(signals, [{ about: 'inbox', userId: ann.id }])

  await theirs.send(ann, 'From there')
  await isSignalled()
  assert.deepEqual(await world.titles(ann), ['From there', 'From here', 'First'])
})

test('refuses a delivery at once, as UNAVAILABLE, if deliveries to too many recipients are waiting', async (t) => {
  await using opened = await openWorld(t)
  const { world, store } = opened
  const ann = await world.addUser('ann')
  const letter = (index: number) => ({
    id: `letter ${index}`,
    producerId: world.producerId,
    idempotency: null,
    content: contentOf({ title: 'To many' }),
    createdAt: '2026-01-01T00:00:00.000Z',
    category: null,
    key: null,
    at: 1,
    recipients: Array.from({ length: 1_000 }, (_, to) => ({
      to: { userId: to === 0 ? ann.id : `unknown ${to}` },
      notificationId: newId(),
    })),
  })
  const outcomes = await Promise.allSettled(
    Array.from({ length: 60 }, (_, index) => store.write(deliver, letter(index))),
  )
  const refused = outcomes.filter(({ status }) => status === 'rejected')
  assert.ok(refused.length >= 20 && refused.length < 60, `${refused.length} of 60 were refused`)
  for (const outcome of outcomes)
    if (outcome.status === 'rejected') assert.ok(isUnavailable(outcome.reason))
  assert.equal((await store.read(readInbox, ann.id)).total, 60 - refused.length)
})

test('the check fails while another process holds the lock, and succeeds when a write is possible again', async (t) => {
  await using opened = await openWorld(t)
  const { world, store, path } = opened
  const ann = await world.addUser('ann')
  const other = connect(path)
  other.exec('begin immediate')
  await assert.rejects(world.send(ann, 'Hi'), isUnavailable)
  await assert.rejects(store.check(), isUnavailable)
  other.exec('rollback')
  other.close()
  await store.check()
  await world.send(ann, 'Hi')
})
