// Brings a SQLite database to this program's schema: schema.sql and the migrations, each in one transaction with its ledger entry.
import { setImmediate as turn } from 'node:timers/promises'
import { applyPending, isInChunks, knownMigrations, refuseNewer as refuseNewerThan, textOf } from '../migrations.ts'
import type { Database } from './database.ts'

const folder = new URL('./schema/', import.meta.url)

/** Applies the pending migrations and returns their names. Throws UNAVAILABLE if the schema is newer than this program. */
export async function migrate(database: Database, { from = folder }: { from?: URL } = {}): Promise<string[]> {
  const known = knownMigrations(from)
  refuseNewer(database, from)
  if (appliedMigrations(database).length === known.length) return []
  return applyPending(await dialectOf(database), known, {
    async prepare() {
      const next = known[appliedMigrations(database).length]
      const text = next === undefined ? '' : textOf(next, from)
      if (isInChunks(text)) await changeInChunks(database, text)
    },
    apply: (name) => database.exec(textOf(name, from)),
  })
}

/** The process reacts to signals between two chunks. */
async function changeInChunks(database: Database, text: string): Promise<void> {
  const chunk = database.prepare(text)
  while (Number(chunk.run().changes) > 0) await turn()
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

/** The statement of schema.sql that creates an index. */
export function creationOfIndex(name: string): string {
  const statement = new RegExp(`^create (?:unique )?index ${name} on [^;]*`, 'm').exec(textOf('0001-schema', folder))
  if (statement === null) throw new Error(`schema.sql has no index ${name}`)
  return statement[0].replace(' index ', ' index if not exists ')
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
