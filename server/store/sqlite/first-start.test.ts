// By two processes at the same time, or by one that is killed (R12).
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { runs, World } from '../../contract/world.ts'
import { knownMigrations } from '../migrations.ts'
import { connect, Database } from './database.ts'
import { assertIntact, newFolder } from './testing/folder.ts'
import { openWorld } from './testing/open-world.ts'
import { OtherProcess } from './testing/other-process.ts'

const migrations = knownMigrations()

test('two processes open a new file at the same time, and each migration is applied once', async (t) => {
  const folder = await newFolder(t)
  await using one = await OtherProcess.start()
  await using two = await OtherProcess.start()
  for (let round = 0; round < runs(4, 240); round++) {
    const path = join(folder, `${round}.db`)
    const applied = await Promise.all([one.open(path), two.open(path)])
    assert.deepEqual(applied.flat().sort(), migrations)
    assert.deepEqual(ledgerOf(path), migrations)
    const first = await World.on(one.store)
    const second = await World.on(two.store)
    const [ann, ben] = await Promise.all([first.addUser('ann'), second.addUser('ben')])
    await Promise.all([first.send(ben, 'From one'), second.send(ann, 'From two')])
    assert.deepEqual(await first.titles(ann), ['From two'])
    await Promise.all([one.store.close(), two.store.close()])
  }
})

test('the next start completes a first start that was killed at any moment', async (t) => {
  const folder = await newFolder(t)
  const undisturbed = await killedAfter(10_000, join(folder, 'undisturbed.db'))
  // The file is written during the second range.
  const percent = fc.oneof(fc.integer({ min: 0, max: 110 }), fc.integer({ min: 80, max: 105 }))
  let rounds = 0
  await fc.assert(
    fc.asyncProperty(percent, async (hundredths) => {
      const path = join(folder, `${++rounds}.db`)
      await killedAfter((undisturbed * hundredths) / 100, path)
      await startsWell(path, await openWorld(t, path))
    }),
    { numRuns: runs(6, 280) },
  )
})

test('a first start that was killed while it set the application id leaves a file that the next start accepts', async (t) => {
  const path = join(await newFolder(t), 'carillon.db')
  const database = new Database(path)
  database.exec('pragma application_id = 0x43524c4e')
  database.close()
  writeFileSync(`${path}-journal`, journalOfAnEmptyFile())
  await startsWell(path, await openWorld(t, path))
  await startsWell(path, await openWorld(t, path))
})

/** Returns how long it ran. */
async function killedAfter(milliseconds: number, path: string): Promise<number> {
  const other = await OtherProcess.start()
  const startedAt = performance.now()
  const opening = other.open(path).catch(() => undefined)
  await Promise.race([opening, new Promise((resolve) => setTimeout(resolve, milliseconds).unref())])
  const took = performance.now() - startedAt
  await other.kill()
  await opening
  return took
}

async function startsWell(
  path: string,
  opened: Awaited<ReturnType<typeof openWorld>>,
): Promise<void> {
  await opened.world.send(await opened.world.addUser('ann'))
  await opened.store.close()
  assertIntact(path)
  assert.deepEqual(ledgerOf(path), migrations)
}

function ledgerOf(path: string): unknown[] {
  const database = connect(path)
  const rows = database.prepare('select name from migration').all()
  database.close()
  return rows.map(({ name }) => name)
}

/**
 * The rollback journal of a first commit that was interrupted: SQLite rolls back to an empty file.
 * https://sqlite.org/fileformat.html section 3
 */
function journalOfAnEmptyFile(): Buffer {
  const journal = Buffer.alloc(512)
  journal.write('d9d505f920a163d7', 0, 'hex')
  journal.writeUInt32BE(0, 16)
  journal.writeUInt32BE(512, 20)
  journal.writeUInt32BE(4_096, 24)
  return journal
}
