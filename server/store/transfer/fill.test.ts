import assert from 'node:assert/strict'
import { copyFileSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { readDatabaseUrl } from '../../config/database-url.ts'
import { usualPartitions as partitions } from '../../open-store.ts'
import { connect } from '../sqlite/database.ts'
import { newFolder } from '../sqlite/testing/folder.ts'
import { backUp, restoreBackup } from './backup.ts'
import { createTables, sourceAt } from './endpoint/endpoint.ts'
import { fill, type Report } from './fill.ts'
import { giveUpMove } from './move.ts'
import type { Source } from './rows.ts'
import {
  checksumsAt,
  emptyPlace,
  emptyTables,
  engines,
  filledPlace,
  onEndpoint,
  report,
  rowsAt,
  sqliteFile,
} from './testing/filled.ts'
import { acceptsWrites, move, refusal } from './testing/moves.ts'

async function backupOf(t: TestContext, from: string): Promise<string> {
  const file = join(await newFolder(t), 'backup')
  await backUp({ from: readDatabaseUrl(from), file, at: '2026-01-01T00:00:00.000Z', report })
  return file
}

const restore = (file: string, to: string, how: Report = report) =>
  restoreBackup({ file, to: readDatabaseUrl(to), partitions, report: how })

test('a move or a restore whose connection breaks again and again copies each row once', async (t) => {
  const from = await filledPlace(t, { notifications: 3_000 })
  const file = await backupOf(t, from)
  const expected = await checksumsAt(from)
  const total = await rowsAt(from)
  const calls = {
    restore: (to: string, how: Report) => restore(file, to, how),
    move: (to: string, how: Report) => move(from, to, { report: how }),
  }
  for (const [name, call] of Object.entries(calls))
    for (const engine of engines) {
      const to = await emptyPlace(t, engine)
      const { copied, times } = await brokenOften(
        async (how) => assert.deepEqual(await call(to, how), expected),
        () => assert.rejects(acceptsWrites(to), /The database has only a part of its rows/),
      )
      assert.ok(times > 5, `${name} to ${engine}: ${times}`)
      assert.equal(copied, total)
      assert.deepEqual(await checksumsAt(to), expected)
      assert.equal(await acceptsWrites(to), true)
      if (engine === 'sqlite')
        assert.deepEqual(schemaOf(to), schemaOf(await emptyTables(t, 'sqlite')))
      if (name === 'move') await giveUpMove(readDatabaseUrl(from))
    }
})

/**
 * Each call breaks after the commit of its fourth batch. Returns how many rows all of them copied.
 */
async function brokenOften(
  call: (how: Report) => Promise<unknown>,
  onBroken: () => Promise<unknown>,
) {
  let copied = 0
  let times = 0
  const breaking: Report = (step, { done }) => {
    if (step !== 'Copying') return () => {}
    assert.equal(done, copied)
    times++
    let batches = 0
    return (count) => {
      copied += count
      if (count > 0 && ++batches === 4) assert.fail('the line is cut')
    }
  }
  for (;;)
    try {
      await call(breaking)
      return { copied, times }
    } catch (error) {
      assert.match(String(error), /the line is cut/)
      await onBroken()
    }
}

function schemaOf(url: string): unknown[] {
  const database = connect(sqliteFile(url))
  try {
    return database.prepare('select name, sql from sqlite_schema order by name').all()
  } finally {
    database.close()
  }
}

test('a call that begins while another one fills the database takes over, and the other one stops', async (t) => {
  for (const engine of engines) {
    const from = await filledPlace(t, { notifications: 3_000 })
    const to = await emptyPlace(t, engine)
    await onEndpoint(to, (target) => createTables(target, partitions))
    const by = { source: 's', call: 'carillon restore s' }
    const filling = (onBatch: () => Promise<unknown>) =>
      onEndpoint(from, async (source) => {
        const rows = withStop(await sourceAt(source), onBatch)
        return onEndpoint(to, (target) => fill(target, rows, { by, report }))
      })
    let other: Promise<unknown> | undefined
    const first = filling(async () => {
      other ??= filling(async () => {})
      await other
    })
    await assert.rejects(first, refusal(/^Another call fills \S+ now$/))
    assert.ok(other)
    assert.deepEqual(await checksumsAt(to), await checksumsAt(from))
    assert.equal(await acceptsWrites(to), true)
  }
})

function withStop(source: Source, onBatch: () => Promise<unknown>): Source {
  return {
    ...source,
    async *rows(table, after) {
      for await (const rows of source.rows(table, after)) {
        if (table.name === 'notification') await onBatch()
        yield rows
      }
    },
  }
}

test('an interrupted restore is finished from a copy of the backup, and refused from another one', async (t) => {
  const from = await filledPlace(t)
  const file = await backupOf(t, from)
  const later = await backupOf(t, await filledPlace(t, { notifications: 50 }))
  const copy = join(await newFolder(t), "it's a copy")
  copyFileSync(file, copy)
  for (const engine of engines) {
    const to = await emptyPlace(t, engine)
    const breaking = () => () => assert.fail('the line is cut')
    await assert.rejects(restore(file, to, breaking), /the line is cut/)
    const before = await checksumsAt(to)
    await assert.rejects(restore(later, to), (error: Error) => {
      assert.ok(
        error.message.endsWith(
          `Finish it with carillon restore ${file}, or delete it and begin with an empty one.`,
        ),
      )
      return refusal(/^\S+ is incomplete, and was left as it is\. /)(error)
    })
    assert.deepEqual(await checksumsAt(to), before)
    await assert.rejects(restore(copy, to, breaking), /the line is cut/)
    await assert.rejects(
      acceptsWrites(to),
      /and it continues: carillon restore '\S+\/it'\\''s a copy'$/,
    )
    assert.deepEqual(await restore(copy, to), await checksumsAt(from))
    assert.equal(await acceptsWrites(to), true)
  }
})

test('an interrupted restore is refused if its file was replaced, and the error does not send to the same command', async (t) => {
  const file = await backupOf(t, await filledPlace(t))
  const later = await backupOf(t, await filledPlace(t, { notifications: 50 }))
  const to = await emptyPlace(t, 'sqlite')
  await assert.rejects(
    restore(file, to, () => () => assert.fail('the line is cut')),
    /the line is cut/,
  )
  copyFileSync(later, file)
  const advice =
    /is incomplete, and was left as it is\. It was begun with other rows: delete it and begin with an empty one\.$/
  await assert.rejects(restore(file, to), refusal(advice))
})

test('a backup that is truncated while it is restored is named as damaged, and the database stays incomplete', async (t) => {
  const file = await backupOf(t, await filledPlace(t, { notifications: 3_000 }))
  const to = await emptyPlace(t, 'sqlite')
  const truncating: Report = (step) => {
    if (step === 'Copying') truncateSync(file, 2_000)
    return () => {}
  }
  await assert.rejects(
    restore(file, to, truncating),
    refusal(/^\S+ is damaged or truncated \(unexpected end of file\)$/),
  )
  await assert.rejects(acceptsWrites(to), /The database has only a part of its rows/)
})
