// Is the list of tables that is carried over the schema that each engine really has?
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { newDatabase, queryAt } from '../../../../tests/support/postgres.ts'
import { knownMigrations } from '../../migrations.ts'
import { Database } from '../../sqlite/database.ts'
import { openSqliteStore } from '../../sqlite/store.ts'
import { newFolder } from '../../sqlite/testing/folder.ts'
import { type Table, tables } from './tables.ts'

const byName = (one: Table, other: Table) => (one.name < other.name ? -1 : 1)
const listed = tables.toSorted(byName)

/** The tables of SQLite: see sqlite-rows.ts. */
function listedForSqlite(): Table[] {
  const found = new Map(listed.map((table) => [table.name, table]))
  const columnsAs = (name: string, others: Record<string, string | null>): Record<string, string> => {
    const columns = { ...found.get(name)?.columns, ...others }
    return Object.fromEntries(Object.entries(columns).filter(([, type]) => type !== null)) as Record<string, string>
  }
  const ofUser = { user_id: null, user_number: 'integer' }
  const changed = [
    { name: 'user', key: 1, columns: columnsAs('user', { number: 'integer' }) },
    { name: 'inbox', key: 2, columns: { ...columnsAs('inbox', ofUser), ...columnsAs('inbox_category', ofUser) } },
    {
      name: 'notification',
      key: 2,
      columns: columnsAs('notification', { ...ofUser, data: 'text', created_at: 'text' }),
    },
    { name: 'read_mark', key: 2, columns: columnsAs('read_mark', ofUser) },
    { name: 'category_read_mark', key: 4, columns: columnsAs('category_read_mark', ofUser) },
  ] as Table[]
  for (const table of changed) found.set(table.name, table)
  found.delete('inbox_category')
  return [...found.values()].sort(byName)
}

test('knows every table of SQLite with its columns, and its key first', async (t) => {
  const path = join(await newFolder(t), 'carillon.db')
  await (await openSqliteStore(path)).store.close()
  const database = new Database(path, { readOnly: true })
  const names = database
    .prepare(
      "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' and name not like 'kysely_%'",
    )
    .all()
  const found = names.map(({ name }): Table => {
    const columns = database.prepare('select name, lower(type) as type, pk from pragma_table_info(?)').all(String(name))
    assert.deepEqual(
      columns.map(({ pk }) => Number(pk)).filter((pk) => pk > 0),
      columns.flatMap(({ pk }, i) => (Number(pk) > 0 ? [i + 1] : [])),
      `${name}: its key is the first columns, in their order`,
    )
    return {
      name: String(name),
      key: columns.filter(({ pk }) => Number(pk) > 0).length,
      columns: Object.fromEntries(columns.map((column) => [column.name, column.type])),
    }
  })
  database.close()
  assert.deepEqual(found.sort(byName), listedForSqlite())
})

test('lists every table of PostgreSQL with its columns, and its key first, in the order of bytes', async (t) => {
  const { url, drop } = await newDatabase()
  t.after(drop)
  const { rows } = await queryAt(
    url,
    `select c.relname as name, a.attname as column, format_type(a.atttypid, null) as type,
      coalesce(array_position(i.indkey::int2[], a.attnum), -1) as pk, l.collname as collation
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    join pg_index i on i.indrelid = c.oid and i.indisprimary
    left join pg_collation l on l.oid = a.attcollation
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname not like 'kysely_%' and c.relname <> 'history'
    order by c.relname, a.attnum`,
  )
  const types: Record<string, string> = { text: 'text', bigint: 'integer' }
  const found = [...Map.groupBy(rows, ({ name }) => String(name))].map(([name, columns]): Table => {
    const key = columns.filter(({ pk }) => pk >= 0)
    assert.deepEqual(
      key.map(({ pk }) => pk),
      key.map((_, i) => i),
      `${name}: its key is the first columns, in their order`,
    )
    for (const { column, type, collation } of key)
      if (type === 'text') assert.equal(collation, 'C', `${name}.${column} is sorted as in SQLite`)
    return {
      name,
      key: key.length,
      columns: Object.fromEntries(columns.map((one) => [one.column, types[one.type] ?? one.type])) as Table['columns'],
    }
  })
  assert.deepEqual(found.sort(byName), listed)
})

test('both engines have migrations with the same names', () => {
  const [sqlite, postgres] = ['sqlite', 'postgres'].map((engine) =>
    knownMigrations(new URL(`../../${engine}/schema/`, import.meta.url)),
  )
  assert.deepEqual(sqlite, postgres)
})
