// Rows that were carried from one engine to the other and back are the same as before.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { readDatabaseUrl } from '../../config/database-url.ts'
import { openStore, usualPartitions } from '../open.ts'
import { newFolder } from '../sqlite/testing/folder.ts'
import { backUp } from './backup.ts'
import { openSource } from './endpoint/open.ts'
import { moveDatabase } from './move.ts'
import { restoreBackup } from './restore.ts'
import { digestsAt, emptyPlace, filledPlace } from './testing/filled.ts'

const report = () => {}
const partitions = usualPartitions

async function backUpTo(file: string, from: string) {
  const endpoint = await openSource(readDatabaseUrl(from))
  await backUp(endpoint, { file, at: '2026-01-01T00:00:00.000Z', report })
  await endpoint.close()
  return file
}

test('the database that these tests carry over has rows in every table', async (t) => {
  const digests = await digestsAt(await filledPlace(t))
  assert.deepEqual(
    digests.filter(({ rows }) => rows === 0),
    [],
  )
})

test('SQLite -> backup -> PostgreSQL -> backup -> SQLite keeps every row the same', async (t) => {
  const folder = await newFolder(t)
  const places = [
    await filledPlace(t, { notifications: 2_500 }),
    await emptyPlace(t, 'postgres'),
    await emptyPlace(t, 'sqlite'),
  ]
  const [first = '', second = '', third = ''] = places
  const expected = await digestsAt(first)
  await restoreBackup({
    file: await backUpTo(join(folder, '1.gz'), first),
    to: readDatabaseUrl(second),
    partitions,
    report,
  })
  assert.deepEqual(await digestsAt(second), expected)
  await restoreBackup({
    file: await backUpTo(join(folder, '2.gz'), second),
    to: readDatabaseUrl(third),
    partitions,
    report,
  })
  assert.deepEqual(await digestsAt(third), expected)
})

test('a restored database has a new history, since other changes can reach the same versions again', async (t) => {
  const from = await filledPlace(t)
  const file = await backUpTo(join(await newFolder(t), 'backup.db'), from)
  const histories = new Set([await historyAt(from)])
  for (const engine of ['sqlite', 'postgres'] as const) {
    const to = await emptyPlace(t, engine)
    await restoreBackup({ file, to: readDatabaseUrl(to), partitions, report })
    histories.add(await historyAt(to))
  }
  assert.equal(histories.size, 3)
})

async function historyAt(url: string): Promise<string> {
  const { store } = await openStore(readDatabaseUrl(url))
  await store.close()
  return store.history
}

test('a move carries every row between the engines, in each direction', async (t) => {
  let from = await filledPlace(t, { notifications: 2_500 })
  const expected = await digestsAt(from)
  for (const engine of ['sqlite', 'postgres', 'postgres', 'sqlite'] as const) {
    const to = await emptyPlace(t, engine)
    await moveDatabase({
      from: readDatabaseUrl(from),
      to: readDatabaseUrl(to),
      partitions,
      id: `to ${engine}`,
      now: () => 0,
      report,
    })
    assert.deepEqual(await digestsAt(to), expected, engine)
    from = to
  }
})
