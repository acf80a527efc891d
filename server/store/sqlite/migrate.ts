// Brings a database to the schema of this program: numbered SQL files, each in one transaction with its entry in the
// ledger.
import { readFileSync } from 'node:fs'
import { applyPending, knownMigrations, refuseNewer as refuseNewerThan } from '../migrations.ts'
import type { Database } from './database.ts'

const folder = new URL('./migrations/', import.meta.url)

/** Applies what is missing and answers the names of what was applied. Refuses a schema newer than this program. */
export async function migrate(database: Database, from: URL = folder): Promise<string[]> {
  const known = knownMigrations(from)
  refuseNewer(database, from)
  if (appliedMigrations(database).length === known.length) return []
  return applyPending(await dialectOf(database), known, (name) =>
    database.exec(readFileSync(new URL(`${name}.sql`, from), 'utf8')),
  )
}

/** Throws UNAVAILABLE where the database has a migration that this program does not know. Only reads. */
export function refuseNewer(database: Database, from: URL = folder): void {
  refuseNewerThan(appliedMigrations(database), knownMigrations(from))
}

/** In their order; none where there is no ledger. Only reads. */
export function appliedMigrations(database: Database): string[] {
  const ledger = database.prepare("select 1 from sqlite_schema where name = 'kysely_migration'").get()
  if (ledger === undefined) return []
  return database
    .prepare('select name from kysely_migration order by name')
    .all()
    .map((row) => String(row.name))
}

/** When the database was made, by its ledger. */
export function historyOf(database: Database): string {
  return String(database.prepare('select timestamp from kysely_migration order by name limit 1').get()?.timestamp)
}

async function dialectOf(database: Database) {
  const { SqliteAdapter, SqliteDialect } = await import('kysely')

  class TransactionalAdapter extends SqliteAdapter {
    override get supportsTransactionalDdl(): boolean {
      return true
    }
  }
  class Dialect extends SqliteDialect {
    override createAdapter(): TransactionalAdapter {
      return new TransactionalAdapter()
    }
  }
  return new Dialect({ database: asKyselyDatabase(database) })
}

/** What Kysely's SQLite driver asks of a database. A transaction that will write begins by taking the write lock. */
function asKyselyDatabase(database: Database) {
  return {
    prepare(sql: string) {
      const statement = database.prepare(sql === 'begin' ? 'begin immediate' : sql)
      return {
        reader: statement.columns().length > 0,
        all: (parameters: readonly unknown[]) => statement.all(...(parameters as string[])),
        run: (parameters: readonly unknown[]) => statement.run(...(parameters as string[])),
        iterate: (parameters: readonly unknown[]) => statement.iterate(...(parameters as string[])),
      }
    },
    close() {},
  }
}
