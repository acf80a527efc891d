// Applies the migrations to SQLite, each in a transaction with its ledger entry.
import { setImmediate as turn } from 'node:timers/promises'
import {
  entryOf,
  inChunks,
  isInChunks,
  knownMigrations,
  type Noticed,
  refuseNewer,
  textOf,
} from '../migrations.ts'
import { type Database, inWriteLock } from './database.ts'

export async function migrate(
  database: Database,
  options: { from?: URL; through?: string | undefined } & Noticed = {},
): Promise<string[]> {
  const { from, through } = options
  const known = knownMigrations(from, through)
  refuseNewer(appliedMigrations(database), known)
  const done: string[] = []
  for (const name of known.slice(appliedMigrations(database).length)) {
    const text = textOf(name, 'sqlite', from)
    if (isInChunks(text)) await inChunks(name, chunkOf(database, text), options)
    if (inWriteLock(database, () => apply(database, name, text))) done.push(name)
  }
  return done
}

function apply(database: Database, name: string, text: string): boolean {
  if (appliedMigrations(database).includes(name)) return false
  for (const part of [text, ...entryOf(name, "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')")])
    database.exec(part)
  return true
}

/** Signals take effect between two chunks. */
function chunkOf(database: Database, text: string): () => Promise<number> {
  const chunk = database.prepare(text)
  return async () => {
    await turn()
    return Number(chunk.run().changes)
  }
}

export function appliedMigrations(database: Database): string[] {
  const ledger = database.prepare("select 1 from sqlite_schema where name = 'migration'").get()
  if (ledger === undefined) return []
  return database
    .prepare('select name from migration order by name')
    .all()
    .map((row) => String(row.name))
}
