// What both engines share of migrating: schema.sql, the numbered SQL files beside it, and the ledger of those that a database has.
// Kysely's migrator keeps the ledger; it is loaded only if one of them is pending.
import { readdirSync, readFileSync } from 'node:fs'
import type { Dialect } from 'kysely'
import { CarillonError } from '../basics/errors.ts'

const numbered = /^\d{4}-.+(?=\.sql$)/
/** The name of schema.sql in the ledger. */
const first = '0001-schema'

/** The names in the ledger: schema.sql, which a new database gets first, and then each migration `<number>-<name>.sql` of the folder. */
export function knownMigrations(folder: URL): string[] {
  const names = readdirSync(folder).flatMap((file) =>
    file === 'schema.sql' ? first : (numbered.exec(file)?.[0] ?? []),
  )
  return names.sort()
}

export function textOf(name: string, folder: URL): string {
  return readFileSync(new URL(name === first ? 'schema.sql' : `${name}.sql`, folder), 'utf8')
}

/**
 * A migration with the line `-- chunks` is one statement that changes a part of a large table: it runs in transactions of its own until it
 * changes no row, and then gets its ledger entry. So a process can be killed at any moment, and the next one continues.
 */
export function isInChunks(text: string): boolean {
  return /^-- chunks$/m.test(text)
}

/** Throws UNAVAILABLE if the database has a migration that this program does not know. */
export function refuseNewer(applied: readonly string[], known: readonly string[]): void {
  const newer = applied.find((name) => !known.includes(name))
  if (newer === undefined) return
  throw new CarillonError(
    'UNAVAILABLE',
    `The database was written by a newer Carillon (schema ${newer}; this program knows ${known.at(-1)})`,
    { remedy: 'Run that version or a later one; the database was left as it is.' },
  )
}

type Execute = (sql: string) => Promise<unknown>

/** A migration and its ledger entry are one transaction, which `prepare` runs before. Returns the names of those that it applied. */
export async function applyPending(
  dialect: Dialect,
  known: readonly string[],
  {
    apply,
    prepare,
  }: { apply: (name: string, execute: Execute) => Promise<unknown> | unknown; prepare?: () => Promise<void> },
): Promise<string[]> {
  const { Kysely, sql } = await import('kysely')
  const { Migrator } = await import('kysely/migration')
  const db = new Kysely<unknown>({ dialect })
  const migrationOf = (name: string) => ({
    up: async (transaction: typeof db) => void (await apply(name, (text) => sql.raw(text).execute(transaction))),
  })
  const migrations = Object.fromEntries(known.map((name) => [name, migrationOf(name)]))
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } })
  const done: string[] = []
  for (;;) {
    await prepare?.()
    const { error, results = [] } = await migrator.migrateUp()
    if (error !== undefined) throw error
    if (results.length === 0) return done
    done.push(...results.map((result) => result.migrationName))
  }
}
