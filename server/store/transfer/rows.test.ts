import assert from 'node:assert/strict'
import { test } from 'node:test'
import { queryAt } from '../../../tests/support/postgres.ts'
import { readDatabaseUrl } from '../../config/database-url.ts'
import { openStore } from '../../open-store.ts'
import { sourceAt } from './endpoint/endpoint.ts'
import { tableNames } from './rows.ts'
import { emptyPlace, engines, onEndpoint } from './testing/filled.ts'

test('carries every table of both engines, with the same columns in the same order, and the key first', async (t) => {
  const found = engines.map(async (engine) => {
    const place = await emptyPlace(t, engine)
    await (await openStore(readDatabaseUrl(place))).store.close()
    return onEndpoint(place, async (endpoint) => {
      const catalogue = await endpoint.query(endpoint.catalogue)
      const names = new Set(
        catalogue.map(([table]) => String(table)).filter((name) => !/^migration$|_\d$/.test(name)),
      )
      for (const name of ['history', 'time_seen', 'scheduled_backup', 'node']) names.delete(name)
      assert.deepEqual([...names].sort(), tableNames.toSorted())
      if (engine === 'postgres') await assertKeysInOrderOfBytes(place)
      return (await sourceAt(endpoint)).tables
    })
  })
  const [sqlite, postgres] = await Promise.all(found)
  assert.deepEqual(sqlite, postgres)
})

/** Texts are in the order of bytes, as in SQLite. */
async function assertKeysInOrderOfBytes(url: string): Promise<void> {
  const { rows } = await queryAt(
    url,
    `select c.relname || '.' || a.attname as name, l.collname, a.attnum, array_position(i.indkey::int2[], a.attnum) + 1 as place
    from pg_index i join pg_class c on c.oid = i.indrelid join pg_attribute a on a.attrelid = c.oid and a.attnum = any (i.indkey)
    left join pg_collation l on l.oid = a.attcollation
    where i.indisprimary and c.relnamespace = 'public'::regnamespace and c.relname <> 'migration'`,
  )
  assert.ok(rows.length > tableNames.length)
  for (const { name, collname, attnum, place } of rows)
    assert.deepEqual([collname ?? 'C', attnum], ['C', place], name)
}

test('a damaged page or index of PostgreSQL, and no other error, is said to be one', async (t) => {
  const place = await emptyPlace(t, 'postgres')
  await (await openStore(readDatabaseUrl(place))).store.close()
  const remedyFor = (state: string) =>
    onEndpoint(place, (endpoint) =>
      endpoint.query(`do $$ begin raise exception using errcode = '${state}'; end $$`).then(
        () => 'none',
        ({ remedy }) => remedy,
      ),
    )
  assert.match(await remedyFor('XX001'), /pg_amcheck/)
  assert.match(await remedyFor('XX002'), /pg_amcheck/)
  assert.doesNotMatch(String(await remedyFor('XX000')), /pg_amcheck/)
})
