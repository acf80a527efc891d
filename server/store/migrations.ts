// What both engines share of migrating: the numbered files of schema/, and the ledger of those that a database has (in the form of Kysely's).
import { readdirSync, readFileSync } from 'node:fs'
import { unavailable } from '../basics/errors.ts'
import { refuseIncomplete } from './transfer-state.ts'

const folder = new URL('./schema/', import.meta.url)

/** The names in the ledger, in order: those of the files `<number>-<name>.sql`. */
export function knownMigrations(from: URL = folder): string[] {
  const numbered = /^\d{4}-.+(?=\.sql$)/
  return readdirSync(from)
    .flatMap((file) => numbered.exec(file)?.[0] ?? [])
    .sort()
}

/** Without the lines of the other engine: those from its mark, such as `-- sqlite:`, up to another mark or an empty line. */
export function textOf(name: string, engine: 'sqlite' | 'postgres', from: URL = folder): string {
  const other = engine === 'sqlite' ? 'postgres' : 'sqlite'
  const text = readFileSync(new URL(`${name}.sql`, from), 'utf8')
  return text.replace(new RegExp(`^-- ${other}:$.*?(?=^-- ${engine}:$|^$)`, 'gms'), '')
}

/** For the operator: a line of the log. */
export type Notice = { event: string; sentence: string }
/** `onNotice` is called if the log of a SQLite file is not its own, or gone, and while a migration takes long. */
export type Noticed = { onNotice?: ((notice: Notice) => void) | undefined }

const chunkLineMs = 10_000

/** Runs the next chunk until it changes no row, and says every ten seconds how many chunks are done. `change` returns the number of rows. */
export async function inChunks(name: string, change: () => Promise<number>, { onNotice }: Noticed): Promise<void> {
  let chunks = 0
  const say = () =>
    onNotice?.({ event: 'migration-continues', sentence: `Migration ${name}: ${chunks} chunks are done` })
  const timer = setInterval(say, chunkLineMs)
  try {
    while ((await change()) > 0) chunks++
  } finally {
    clearInterval(timer)
  }
}

/** If so, the migration is one statement, and runs in transactions of its own until it changes no row: after a kill it continues. */
export function isInChunks(text: string): boolean {
  return /^-- chunks$/m.test(text)
}

/** Throws UNAVAILABLE if the database has a migration that this program does not know, or is not filled completely. */
export function refuseNewer(applied: readonly string[], known: readonly string[]): void {
  refuseIncomplete(applied)
  const newer = applied.find((name) => !known.includes(name))
  if (newer === undefined) return
  const problem = `The database was written by a newer Carillon (schema ${newer}; this program knows ${known.at(-1)})`
  const remedy = 'Run that version or a later one; the database was left as it is.'
  throw unavailable(problem, remedy)
}

/** The numbers of a version as one: prereleases are equal. Not `localeCompare`, which loads the rules of a language: 9 ms of every start. */
export function comparable(version: string): number {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.-]/).map(Number)
  return major * 1e6 + minor * 1e3 + patch
}

/** The statements that enter a migration in the ledger, in the transaction of the migration. `now`: an expression with the time, ISO 8601. */
export function entryOf(name: string, now: string): string[] {
  return [
    'create table if not exists kysely_migration (name text primary key, timestamp text not null)',
    `insert into kysely_migration (name, timestamp) values ('${name}', ${now})`,
  ]
}
