// Brings a database to the schema of this program: numbered SQL files, each in one transaction with its entry in the ledger,
// under an advisory lock. The functions (functions.ts) come in the last one's transaction, or alone if none is to apply.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { applyPending, knownMigrations, refuseNewer } from '../../migrations.ts'
import { bringFunctions, creationOf, type Functions, knownFunctions } from './functions.ts'

const folder = new URL('../migrations/', import.meta.url)

// While a migration waits for a table lock, every later statement on that table waits behind it. During a backup, which
// reads every table in one transaction, the sign-ins on other nodes failed until the backup ended. So a migration waits
// for a moment, lets the others continue, and tries again.
const lockTimeoutMs = 500
const retryMs = 1_000
const maxRetries = 3_600
/** lock_not_available (PostgreSQL, appendix A). */
const lockTimedOut = '55P03'
// For a database that Citus distributes: Citus refuses to create a function in a transaction that has changed a
// distributed table over several connections to one node. Other servers accept the setting and ignore it.
const oneConnectionToEachNode = "set local citus.multi_shard_modify_mode = 'sequential'"

/**
 * Applies the missing migrations and returns their names. Refuses a schema newer than this program. `partitions`: how
 * many the first migration makes of each table of users. The functions are in the folder `functions` beside `from`.
 */
export async function migrate(
  pool: Pool,
  { partitions, from = folder }: { partitions: number; from?: URL },
): Promise<string[]> {
  const known = knownMigrations(from)
  const applied = await appliedMigrations(pool)
  refuseNewer(applied, known)
  const functions = knownFunctions(new URL('../functions/', from))
  const isComplete = applied.length === known.length
  const done = isComplete ? [] : await apply(pool, { known, from, partitions, functions })
  if (functions !== undefined) await bringFunctions(pool, functions)
  return done
}

type Plan = { known: string[]; from: URL; partitions: number; functions: Functions | undefined }

async function apply(pool: Pool, { known, from, partitions, functions }: Plan): Promise<string[]> {
  const { PostgresDialect } = await import('kysely')
  const applyOne = async (name: string, execute: (sql: string) => Promise<unknown>) => {
    await execute(oneConnectionToEachNode)
    const text = readFileSync(new URL(`${name}.sql`, from), 'utf8').replaceAll('{{partitions}}', String(partitions))
    await execute(`set local lock_timeout = ${lockTimeoutMs};\n${text}`)
    if (functions !== undefined && name === known.at(-1)) await execute(creationOf(functions))
  }
  let retries = 0
  const mayRetry = async (error: unknown) => {
    if ((error as { code?: string }).code !== lockTimedOut || ++retries > maxRetries) return false
    await sleep(retryMs)
    return true
  }
  return applyPending(new PostgresDialect({ pool }), known, applyOne, mayRetry)
}

/** The names of the migrations that the database has; empty if it was never migrated. Only reads. */
export async function appliedMigrations(pool: Pool): Promise<string[]> {
  const { rows: ledgers } = await pool.query("select to_regclass('kysely_migration') is not null as is_there")
  if (ledgers[0]?.is_there !== true) return []
  const { rows } = await pool.query('select name from kysely_migration order by name')
  return rows.map(({ name }) => name as string)
}
