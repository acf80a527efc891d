// Brings a database to the schema of this program: numbered SQL files, each in one transaction with its entry in the
// ledger. Kysely's migrator keeps the ledger; it is loaded only when there is something to do.
import { readdirSync, readFileSync } from 'node:fs'
import { CarillonError } from '../../errors.ts'
import type { Database } from './database.ts'

const folder = new URL('./migrations/', import.meta.url)

/** Applies what is missing and answers the names of what was applied. Refuses a schema newer than this program. */
export async function migrate(database: Database, from: URL = folder): Promise<string[]> {
  const known = knownMigrations(from)
  refuseNewer(database, from)
  return appliedMigrations(database).length === known.length ? [] : applyPending(database, known, from)
}

/** Throws UNAVAILABLE where the database has a migration that this program does not know. Only reads. */
export function refuseNewer(database: Database, from: URL = folder): void {
  const known = knownMigrations(from)
  const newer = appliedMigrations(database).find((name) => !known.includes(name))
  if (newer === undefined) return
  throw new CarillonError(
    'UNAVAILABLE',
    `The database was written by a newer Carillon (schema ${newer}; this program knows ${known.at(-1)}). ` +
      'Run that version or a later one; the database was left as it is.',
  )
}

function knownMigrations(from: URL): string[] {
  const files = readdirSync(from).filter((name) => name.endsWith('.sql'))
  return files.map((name) => name.slice(0, -4)).sort()
}

function appliedMigrations(database: Database): string[] {
  const ledger = database.prepare("select 1 from sqlite_schema where name = 'kysely_migration'").get()
  if (ledger === undefined) return []
  return database
    .prepare('select name from kysely_migration order by name')
    .all()
    .map((row) => String(row.name))
}

async function applyPending(database: Database, known: string[], from: URL): Promise<string[]> {
  const { Kysely, SqliteAdapter, SqliteDialect } = await import('kysely')
  const { Migrator } = await import('kysely/migration')

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
  const db = new Kysely<unknown>({ dialect: new Dialect({ database: asKyselyDatabase(database) }) })
  const migration = (name: string) => ({
    up: async () => database.exec(readFileSync(new URL(`${name}.sql`, from), 'utf8')),
  })
  const provider = {
    getMigrations: async () => Object.fromEntries(known.map((name) => [name, migration(name)])),
  }
  const migrator = new Migrator({ db, provider })
  const done: string[] = []
  for (;;) {
    const { error, results = [] } = await migrator.migrateUp()
    if (error !== undefined) throw error
    if (results.length === 0) return done
    done.push(...results.map((result) => result.migrationName))
  }
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
