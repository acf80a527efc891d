import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDatabase, queryAt } from '../../tests/support/postgres.ts'
import { Database } from './sqlite/database.ts'
import { migrate } from './sqlite/migrate.ts'

type Column = Record<'table' | 'name' | 'type' | 'default' | 'key', string>

/** `history` is for the processes of PostgreSQL alone. */
const ofSqlite = `
  select t.name as "table", c.name, lower(c.type) || iif(c."notnull", ' not null', '') as type, coalesce(c.dflt_value, '') as "default",
    iif(c.pk > 0, 'key ' || c.pk, '') as key
  from sqlite_schema t join pragma_table_info(t.name) c
  where t.type = 'table' and t.name <> 'migration' and t.name not like 'sqlite_%' order by t.rowid, c.cid`
const ofPostgres = `
  select c.relname as "table", a.attname as name,
    format_type(a.atttypid, null) || case when a.attnotnull then ' not null' else '' end as type,
    coalesce(replace(pg_get_expr(d.adbin, d.adrelid), '::text', ''), '') as "default",
    coalesce('key ' || array_position(i.indkey::int2[], a.attnum) + 1, '') as key
  from pg_class c
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
  join pg_index i on i.indrelid = c.oid and i.indisprimary
  left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    and c.relname <> 'migration' and c.relname <> 'history'
  order by c.oid, a.attnum`

const types: Readonly<Record<string, string>> = { integer: 'bigint', blob: 'text' }

test('both engines have the same tables, and in each the same columns in the same order with the same keys and defaults', async (t) => {
  const { url, drop } = await newDatabase()
  t.after(drop)
  const database = new Database(':memory:')
  await migrate(database)
  const here = database.prepare(ofSqlite).all() as Column[]
  const there = (await queryAt(url, ofPostgres)).rows as Column[]
  const lines = (columns: Column[]) =>
    columns.map((one) => [one.table, one.name, one.type, one.default, one.key].join(' '))
  assert.ok(here.length > 100, `${here.length} columns`)
  assert.deepEqual(
    lines(
      here.map((one) => ({
        ...one,
        type: one.type.replace(/^\w+/, (type) => types[type] ?? type),
      })),
    ),
    lines(there),
  )
})
