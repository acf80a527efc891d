// Applies the migrations, each in a transaction with its ledger entry, under an advisory lock. The
// last one also creates the functions.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'
import {
  entryOf,
  inChunks,
  isInChunks,
  knownMigrations,
  type Noticed,
  refuseNewer,
  textOf,
} from '../../migrations.ts'
import { onPostgres } from './dialect.ts'
import {
  bringFunctions,
  creationOf,
  type Functions,
  knownFunctions,
  lockMigrations,
} from './functions.ts'

const turn = 7_160_004_213

// Other statements queue behind a migration that waits for a lock: during a backup, sign-ins would
// fail. So it waits briefly and tries again.
const lockTimeoutMs = 500
const retryMs = 1_000
const maxRetries = 3_600
// PostgreSQL ends a locking autovacuum after deadlock_timeout (1 s): every fourth try waits longer.
const longTry = 4
const longLockTimeout =
  "(extract(epoch from current_setting('deadlock_timeout')::interval) * 1000 + 250)::int"
/** lock_not_available and deadlock_detected (PostgreSQL, appendix A). */
const lockFailures = ['55P03', '40P01']
// Citus creates no function after changes over several connections. Other servers ignore this.
const oneConnectionToEachNode = "set local citus.multi_shard_modify_mode = 'sequential'"

const now = `to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

const concurrently = /^create (unique )?index concurrently (\w+) on ("?\w+"?)( [^;]*);/gm

/** The order in which requests lock tables: another order could deadlock. */
const lockOrder = [
  'user',
  'session',
  'producer',
  'delivery',
  'inbox',
  'notification',
  'inbox_category',
  'bulk',
  'reminder',
]

type MigrateOptions = {
  partitions: number
  from?: URL
  through?: string | undefined
  functions?: Functions | undefined
} & Noticed

/**
 * Returns the names. `partitions`: for each table of users in a new database. `through`: the last
 * migration to apply, without functions.
 */
export async function migrate(pool: Pool, options: MigrateOptions): Promise<string[]> {
  const { from, through } = options
  const { functions = from === undefined && through === undefined ? knownFunctions() : undefined } =
    options
  const known = knownMigrations(from, through)
  const applied = await appliedMigrations(pool)
  refuseNewer(applied, known)
  const isComplete = applied.length === known.length
  const done = isComplete ? [] : await applyInTurn(pool, { ...options, known, functions })
  if (functions !== undefined) await bringFunctions(pool, functions)
  return done
}

const waitLineMs = 5_000
const lookMs = 200
/** `since` is empty for another role's connection, unless this role is in pg_monitor. */
const holders = `
  select string_agg(format('connection %s (%s, %s) holds %s on %s since %s', pid, application_name, state, mode,
    coalesce(relation::regclass::text, locktype), coalesce(xact_start, state_change)), '; ') as found
  from pg_locks join pg_stat_activity using (pid)
  where datname = current_database() and granted and pid <> $1 and (objid = ${turn % 2 ** 32} or pid = any(pg_blocking_pids($1)) and
    (locktype, coalesce(relation, 0)) in (select locktype, coalesce(relation, 0) from pg_locks where pid = $1 and not granted))`

type Plan = MigrateOptions & { known: string[] }

// The others poll: a waiting statement would hold up index builds.
async function applyInTurn(pool: Pool, plan: Plan): Promise<string[]> {
  const client = await pool.connect()
  const { rows } = await client.query('select pg_backend_pid() as pid')
  const timer = setInterval(waitsOf(pool, rows[0].pid, plan), lookMs)
  try {
    while (!(await client.query(`select pg_try_advisory_lock(${turn}) as is_ours`)).rows[0].is_ours)
      await sleep(100)
    const pending = plan.known.slice((await appliedMigrations(pool)).length)
    for (const name of pending) {
      const functions =
        plan.functions !== undefined && name === pending.at(-1) ? [creationOf(plan.functions)] : []
      const text = onPostgres(textOf(name, 'postgres', plan.from), plan.partitions)
      await applyOne(client, {
        name,
        text,
        after: [...entryOf(name, now), ...functions],
        onNotice: plan.onNotice,
      })
    }
    return pending
  } finally {
    clearInterval(timer)
    client.release(true)
  }
}

/** Reports every five seconds which connections hold what `pid` needs. */
function waitsOf(pool: Pool, pid: number, { onNotice }: Noticed): () => Promise<void> {
  let saidAt = performance.now()
  return async () => {
    if (performance.now() - saidAt < waitLineMs) return
    const { rows } = await pool.query(holders, [pid]).catch(() => ({ rows: [] }))
    if (!rows[0]?.found) return
    saidAt = performance.now()
    onNotice?.({ event: 'migration-waits', sentence: `A migration waits: ${rows[0].found}` })
  }
}

type Step = { name: string; text: string; after: string[] } & Noticed

async function applyOne(client: PoolClient, { name, text, after, onNotice }: Step): Promise<void> {
  for (let retries = 0; ; retries++) {
    const timeout = retries % longTry === longTry - 1 ? longLockTimeout : lockTimeoutMs
    const statements = [
      ...['begin', lockMigrations, oneConnectionToEachNode],
      `select set_config('lock_timeout', (${timeout})::text, true)`,
      ...[...lockStatement(text), ...statementsOf(withIndexesBuilt(text)), ...after],
      'commit',
    ]
    try {
      await buildIndexes(client, text)
      if (isInChunks(text))
        await inChunks(name, async () => (await client.query(text)).rowCount ?? 0, { onNotice })
      for (const statement of statements) await client.query(statement)
      return
    } catch (error) {
      await client.query('rollback').catch(() => {})
      if (!lockFailures.includes((error as { code?: string }).code ?? '') || retries === maxRetries)
        throw error
      await sleep(retryMs)
    }
  }
}

// Taking one lock after another would deadlock with requests.
function lockStatement(text: string): string[] {
  const tables = /^-- locks: (.+)/m.exec(text)?.[1]?.split(', ') ?? []
  const sorted = new Set([...lockOrder.filter((table) => tables.includes(table)), ...tables])
  return tables.length === 0 ? [] : [`lock table ${[...sorted].map((table) => `"${table}"`)}`]
}

/** Builds indexes while requests read and write. Rebuilds an invalid one after an interruption. */
async function buildIndexes(client: PoolClient, migration: string): Promise<void> {
  const rows = async (text: string, value: string) => (await client.query(text, [value])).rows
  for (const [, unique = '', index = '', table = '', definition] of migration.matchAll(
    concurrently,
  )) {
    const children =
      'select inhrelid::regclass as name from pg_inherits where inhparent = $1::regclass'
    const partitions = await rows(children, table)
    // PostgreSQL cannot build an index of a partitioned table concurrently.
    for (const part of partitions.length === 0 ? [table] : partitions.map(({ name }) => name)) {
      const name = part === table ? index : `${index}_on_${part}`
      const isInvalid = 'select from pg_index where indexrelid = to_regclass($1) and not indisvalid'
      if ((await rows(isInvalid, name)).length > 0)
        await client.query(`drop index concurrently ${name}`)
      await client.query(
        `create ${unique}index concurrently if not exists ${name} on ${part}${definition}`,
      )
    }
  }
}

function withIndexesBuilt(migration: string): string {
  return migration.replace(concurrently, 'create $1index if not exists $2 on $3$4;')
}

/** Citus' nodes accept one statement each. A text with a `do` block stays whole. */
function statementsOf(text: string): string[] {
  return text.includes('$$')
    ? [text]
    : text.split(/;$/m).filter((statement) => statement.trim() !== '')
}

export async function appliedMigrations(pool: Pool): Promise<string[]> {
  const { rows: ledgers } = await pool.query(
    "select to_regclass('migration') is not null as is_there",
  )
  if (ledgers[0]?.is_there !== true) return []
  const { rows } = await pool.query('select name from migration order by name')
  return rows.map(({ name }) => name as string)
}
