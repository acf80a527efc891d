// Brings a SQLite database to this program's schema: numbered SQL files, each in one transaction with its ledger entry.
import { readFileSync } from 'node:fs'
import { applyPending, knownMigrations, refuseNewer as refuseNewerThan } from '../migrations.ts'
import type { Database } from './database.ts'
import { endUpgradeIfEmpty, isHalfUpgraded, moveRows, type UpgradeReport } from './upgrade/move-rows.ts'

const folder = new URL('./migrations/', import.meta.url)

/** Applies the pending migrations and returns their names. Throws UNAVAILABLE if the schema is newer than this program. */
export async function migrate(
  database: Database,
  { from = folder, report }: { from?: URL; report?: UpgradeReport } = {},
): Promise<string[]> {
  const applied = await applyFiles(database, from)
  if (isHalfUpgraded(database)) await moveRows(database, report)
  return applied
}

async function applyFiles(database: Database, from: URL): Promise<string[]> {
  const known = knownMigrations(from)
  refuseNewer(database, from)
  if (appliedMigrations(database).length === known.length) return []
  return applyPending(await dialectOf(database), known, (name) => {
    database.exec(readFileSync(new URL(`${name}.sql`, from), 'utf8'))
    endUpgradeIfEmpty(database)
  })
}

/** Throws UNAVAILABLE if the database has a migration that this program does not know. Only reads. */
export function refuseNewer(database: Database, from: URL = folder): void {
  refuseNewerThan(appliedMigrations(database), knownMigrations(from))
}

/** The names of the applied migrations, in order; empty if there is no ledger. Only reads. */
export function appliedMigrations(database: Database): string[] {
  const ledger = database.prepare("select 1 from sqlite_schema where name = 'kysely_migration'").get()
  if (ledger === undefined) return []
  return database
    .prepare('select name from kysely_migration order by name')
    .all()
    .map((row) => String(row.name))
}

/** When the database was created: the time of its first migration. */
export function historyOf(database: Database): string {
  return String(database.prepare('select timestamp from kysely_migration order by name limit 1').get()?.timestamp)
}

async function dialectOf(database: Database) {
  const { SqliteAdapter, SqliteDialect } = await import('kysely')
  const adapter = Object.defineProperty(new SqliteAdapter(), 'supportsTransactionalDdl', { value: true })
  return Object.assign(new SqliteDialect({ database: asKyselyDatabase(database) }), { createAdapter: () => adapter })
}

/** The interface that Kysely's SQLite driver needs. Each transaction takes the write lock when it begins. */
function asKyselyDatabase(database: Database) {
  return {
    prepare(sql: string) {
      const statement = database.prepare(sql === 'begin' ? 'begin immediate' : sql)
      return {
        reader: statement.columns().length > 0,
        all: (parameters: readonly unknown[]) => statement.all(...(parameters as string[])),
        run(parameters: readonly unknown[]) {
          // A full disk has ended the transaction. An error of the rollback would hide that.
          if (sql === 'rollback' && !database.isTransaction) return { changes: 0, lastInsertRowid: 0 }
          return statement.run(...(parameters as string[]))
        },
        iterate: (parameters: readonly unknown[]) => statement.iterate(...(parameters as string[])),
      }
    },
    close() {},
  }
}
