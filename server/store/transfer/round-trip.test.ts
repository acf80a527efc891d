import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { readDatabaseUrl } from '../../config/database-url.ts'
import { openStore, usualPartitions as partitions } from '../../open-store.ts'
import { newFolder } from '../sqlite/testing/folder.ts'
import { backUp, restoreBackup } from './backup.ts'
import { moveDatabase } from './move.ts'
import { checksumsAt, type Engine, emptyPlace, filledPlace, report } from './testing/filled.ts'

async function backedUp(t: TestContext, from: string): Promise<string> {
  const file = join(await newFolder(t), 'backup.gz')
  await backUp({ from: readDatabaseUrl(from), file, at: '2026-01-01T00:00:00.000Z', report })
  return file
}

async function restored(
  t: TestContext,
  { file, engine }: { file: string; engine: Engine },
): Promise<string> {
  const place = await emptyPlace(t, engine)
  await restoreBackup({ file, to: readDatabaseUrl(place), partitions, report })
  return place
}

async function moved(
  t: TestContext,
  { from, engine }: { from: string; engine: Engine },
): Promise<string> {
  const to = await emptyPlace(t, engine)
  const source = readDatabaseUrl(from)
  const target = readDatabaseUrl(to)
  await moveDatabase({ from: source, to: target, partitions, id: `to ${to}`, now: () => 0, report })
  return to
}

const openAt = async (url: string) => (await openStore(readDatabaseUrl(url))).store

test('a backup and a move carry every row between the engines, in each direction', async (t) => {
  const first = await filledPlace(t, { notifications: 2_500 })
  const expected = await checksumsAt(first)
  assert.deepEqual(
    expected.filter(({ rows }) => rows === 0),
    [],
    'every table has rows',
  )
  const onPostgres = await moved(t, { from: first, engine: 'postgres' })
  const ofSqlite = await backedUp(t, first)
  const ofPostgres = await backedUp(t, await moved(t, { from: onPostgres, engine: 'postgres' }))
  const places = [
    onPostgres,
    await restored(t, { file: ofPostgres, engine: 'postgres' }),
    await restored(t, { file: ofSqlite, engine: 'postgres' }),
    await restored(t, { file: ofSqlite, engine: 'sqlite' }),
  ]
  const back = await restored(t, { file: ofPostgres, engine: 'sqlite' })
  places.push(
    await moved(t, { from: back, engine: 'sqlite' }),
    await moved(t, { from: places[1] ?? '', engine: 'sqlite' }),
  )
  for (const place of places) assert.deepEqual(await checksumsAt(place), expected, place)
})

test('a restored database has a new history, since other changes can reach the same versions again', async (t) => {
  const from = await filledPlace(t)
  const file = await backedUp(t, from)
  const places = [
    from,
    await restored(t, { file, engine: 'sqlite' }),
    await restored(t, { file, engine: 'postgres' }),
  ]
  const stores = await Promise.all(places.map(openAt))
  await Promise.all(stores.map((store) => store.close()))
  assert.equal(new Set(stores.map((store) => store.history)).size, 3)
})
