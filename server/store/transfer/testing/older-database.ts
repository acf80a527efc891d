// For tests: a SQLite database of an earlier schema, with the rows of another database.
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import { readDatabaseUrl } from '../../../config/database-url.ts'
import { openDatabase } from '../../sqlite/database.ts'
import { migrate } from '../../sqlite/migrate.ts'
import { newFolder } from '../../sqlite/testing/folder.ts'
import { openEndpoint } from '../endpoint/open.ts'
import { SqliteRows } from '../endpoint/sqlite-rows.ts'
import { asOf, columnsAt, currentMigrations } from '../endpoint/tables.ts'

/** A database that has the migrations up to `schema`, with the rows of the one at `from`. */
export async function makeOlderDatabase(
  t: TestContext,
  path: string,
  { schema, from }: { schema: string; from: string },
): Promise<void> {
  const database = openDatabase(path)
  await migrate(database, { from: await migrationsUpTo(t, schema) })
  const rows = new SqliteRows(database, schema)
  const filled = await openEndpoint(readDatabaseUrl(from))
  database.exec('begin')
  for await (const { table, rows: found } of asOf(filled.batchesAfter(null), schema)) {
    const { length } = columnsAt(table, schema)
    const cut = found.map((row) => row.slice(0, length))
    rows.insert(table, cut)
  }
  database.exec('commit')
  await filled.close()
  database.close()
}

/** A folder with the migrations of that time. */
export async function migrationsUpTo(t: TestContext, schema: string): Promise<URL> {
  const folder = await newFolder(t)
  for (const name of currentMigrations.filter((one) => one <= schema))
    copyFileSync(new URL(`../../sqlite/migrations/${name}.sql`, import.meta.url), join(folder, `${name}.sql`))
  return pathToFileURL(`${folder}/`)
}
