// A database's ledger of migrations has Kysely's form.
import { readdirSync, readFileSync } from 'node:fs'
import { unavailable } from '../basics/errors.ts'
import { refuseIncomplete } from './transfer-state.ts'

const folder = new URL('./schema/', import.meta.url)

export function knownMigrations(from: URL = folder, through?: string): string[] {
  const numbered = /^\d{4}-.+(?=\.sql$)/
  return readdirSync(from)
    .flatMap((file) => numbered.exec(file)?.[0] ?? [])
    .filter((name) => through === undefined || name <= through)
    .sort()
}

/** Leaves out the lines of the other engine (0001-schema.sql says which). */
export function textOf(name: string, engine: 'sqlite' | 'postgres', from: URL = folder): string {
  const other = engine === 'sqlite' ? 'postgres' : 'sqlite'
  const text = readFileSync(new URL(`${name}.sql`, from), 'utf8')
  return text.replace(new RegExp(`^-- ${other}:$.*?(?=^-- ${engine}:$|^$)`, 'gms'), '')
}

export type Notice = { event: string; sentence: string }
export type Noticed = { onNotice?: ((notice: Notice) => void) | undefined }

const chunkLineMs = 10_000

export async function inChunks(
  name: string,
  change: () => Promise<number>,
  { onNotice }: Noticed,
): Promise<void> {
  let chunks = 0
  const say = () =>
    onNotice?.({
      event: 'migration-continues',
      sentence: `Migration ${name}: ${chunks} chunks are done`,
    })
  const timer = setInterval(say, chunkLineMs)
  try {
    while ((await change()) > 0) chunks++
  } finally {
    clearInterval(timer)
  }
}

/** Such a migration is one statement, repeated in separate transactions: a kill does not end it. */
export function isInChunks(text: string): boolean {
  return /^-- chunks$/m.test(text)
}

/** Throws UNAVAILABLE if the database is newer than this program, or not completely filled. */
export function refuseNewer(applied: readonly string[], known: readonly string[]): void {
  refuseIncomplete(applied)
  const newer = applied.find((name) => !known.includes(name))
  if (newer === undefined) return
  const problem = `The database was written by a newer Carillon (schema ${newer}; this program knows ${known.at(-1)})`
  const remedy = 'Run that version or a later one; the database was left as it is.'
  throw unavailable(problem, remedy)
}

/** Prereleases are equal. `localeCompare` would cost each start 9 ms. */
export function comparable(version: string): number {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.-]/).map(Number)
  return major * 1e6 + minor * 1e3 + patch
}

/** `now`: SQL for the time, ISO 8601. */
export function entryOf(name: string, now: string): string[] {
  return [
    'create table if not exists migration (name text primary key, timestamp text not null)',
    `insert into migration (name, timestamp) values ('${name}', ${now})`,
  ]
}
