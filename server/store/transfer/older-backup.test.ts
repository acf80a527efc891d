// A backup that an older Carillon made restores into both engines: the rows are those that a migration of the older database
// would have given.

import assert from 'node:assert/strict'
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { readDatabaseUrl } from '../../config/database-url.ts'
import { usualPartitions } from '../open.ts'
import { connect } from '../sqlite/database.ts'
import { openSqliteStore } from '../sqlite/store.ts'
import { newFolder } from '../sqlite/testing/folder.ts'
import { backUp } from './backup.ts'
import { type Digest, digestsOf } from './digest.ts'
import { writeDump } from './dump.ts'
import { openEndpoint } from './endpoint/open.ts'
import { openSqliteFile } from './endpoint/sqlite.ts'
import { asOf, currentMigrations } from './endpoint/tables.ts'
import { restoreBackup } from './restore.ts'
import { carillon } from './testing/command.ts'
import { makeEarlierBackup } from './testing/earlier-backup.ts'
import { digestsAt, emptyPlace, filledPlace } from './testing/filled.ts'
import { makeOlderDatabase } from './testing/older-database.ts'

const report = () => {}
const at = '2026-01-01T00:00:00.000Z'
const earlierSchemas = currentMigrations.slice(0, -1)
const restore = (file: string, to: string) =>
  restoreBackup({ file, to: readDatabaseUrl(to), partitions: usualPartitions, report })

type Older = { sqlite: string; portable: string; migrated: string; digests: Digest[] }

/** Backups of a database of `schema`, the first also migrated since; `digests` is what a migration makes of that database. */
async function olderBackups(t: TestContext, schema: string): Promise<Older> {
  const folder = await newFolder(t)
  const file = (name: string) => join(folder, name)
  await makeOlderDatabase(t, file('carillon.db'), { schema, from: await filledPlace(t) })
  copyFileSync(file('carillon.db'), file('sqlite'))
  const endpoint = openSqliteFile(file('carillon.db'))
  assert.ok(endpoint)
  const rows = { batchesAfter: () => asOf(endpoint.batchesAfter(null), schema), counts: () => endpoint.counts() }
  writeFileSync(file('portable'), '')
  await writeDump(file('portable'), { source: rows, schema, engine: 'sqlite', takenAt: at, onRows: report })
  await makeEarlierBackup(file('sqlite'), await digestsOf(rows.batchesAfter()))
  await endpoint.close()
  copyFileSync(file('sqlite'), file('migrated'))
  for (const name of ['carillon.db', 'migrated']) await (await openSqliteStore(file(name))).store.close()
  const digests = await digestsAt(`sqlite:${file('carillon.db')}`)
  return { sqlite: file('sqlite'), portable: file('portable'), migrated: file('migrated'), digests }
}

test('a backup of each earlier schema restores into both engines as if it had been migrated', async (t) => {
  assert.ok(earlierSchemas.length > 0)
  for (const schema of earlierSchemas) {
    const { digests, ...files } = await olderBackups(t, schema)
    for (const [form, file] of Object.entries(files))
      for (const engine of ['sqlite', 'postgres'] as const) {
        const to = await emptyPlace(t, engine)
        assert.deepEqual(await restore(file, to), digests, `${schema}, ${form}`)
        assert.deepEqual(await digestsAt(to), digests, `${schema}, ${form}, ${engine}`)
      }
  }
})

test('an interrupted restore of an older backup continues', async (t) => {
  for (const schema of earlierSchemas) {
    const { digests, sqlite, portable } = await olderBackups(t, schema)
    for (const file of [sqlite, portable]) {
      const to = await emptyPlace(t, 'sqlite')
      const endEarly = ({ done }: { done: number }) => assert.ok(done < 20, 'killed')
      await assert.rejects(
        restoreBackup({ file, to: readDatabaseUrl(to), partitions: usualPartitions, report: endEarly }),
        /killed/,
      )
      assert.deepEqual(await restore(file, to), digests)
    }
  }
})

test('an older backup that was changed is refused, whether it was migrated or not', async (t) => {
  for (const schema of earlierSchemas) {
    const { sqlite, migrated } = await olderBackups(t, schema)
    for (const [file, change] of [
      [sqlite, 'delete from read_mark'],
      [migrated, "update producer set name = 'x'"],
      [migrated, 'update user set credential_generation = 1'],
    ] as const) {
      const kept = `${file}.kept`
      copyFileSync(file, kept)
      const database = connect(file)
      database.exec(change)
      database.close()
      await assert.rejects(restore(file, await emptyPlace(t, 'sqlite')), / has changed since it was taken: /, change)
      copyFileSync(kept, file)
    }
  }
})

test('a backup of a database that was restored from an older backup restores as well', async (t) => {
  const { portable, digests } = await olderBackups(t, earlierSchemas[0] ?? '')
  const [to, again] = [await emptyPlace(t, 'sqlite'), await emptyPlace(t, 'sqlite')]
  await restore(portable, to)
  const file = join(await newFolder(t), 'backup')
  const endpoint = await openEndpoint(readDatabaseUrl(to))
  await backUp(endpoint, { file, at, report })
  await endpoint.close()
  assert.deepEqual(await restore(file, again), digests)
})

test('the command restores an older backup, and the service opens what it made', async (t) => {
  const { portable } = await olderBackups(t, earlierSchemas[0] ?? '')
  const to = await emptyPlace(t, 'sqlite')
  const restored = await carillon(['restore', portable, '--to', to])
  assert.deepEqual([restored.status, restored.stdout.split('\n')[0]?.endsWith('counts and checksums agree')], [0, true])
  const listed = await carillon(['user', 'list', '--json'], { CARILLON_DATABASE_URL: to })
  assert.equal(listed.status, 0, listed.stderr)
})
