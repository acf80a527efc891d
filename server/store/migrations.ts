// What both engines share of migrating: numbered SQL files, and the ledger of those that a database has. Kysely's migrator
// keeps the ledger; it is loaded only if a migration is pending.
import { readdirSync } from 'node:fs'
import type { Dialect } from 'kysely'
import { CarillonError } from '../errors.ts'

export function knownMigrations(folder: URL): string[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.sql'))
  return files.map((name) => name.slice(0, -4)).sort()
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

/** A migration and its ledger entry are one transaction. Returns the names of those that it applied. */
export async function applyPending(
  dialect: Dialect,
  known: readonly string[],
  apply: (name: string, execute: (sql: string) => Promise<unknown>) => Promise<unknown> | unknown,
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
    const { error, results = [] } = await migrator.migrateUp()
    if (error !== undefined) throw error
    if (results.length === 0) return done
    done.push(...results.map((result) => result.migrationName))
  }
}
