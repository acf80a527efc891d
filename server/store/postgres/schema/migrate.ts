// Brings a database to the schema of this program: the migrations, each in one transaction with its entry in the ledger,
// under an advisory lock. The functions (functions.ts) come in the last one's transaction, or alone if none is to apply.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'
import { entryOf, inChunks, isInChunks, knownMigrations, type Noticed, refuseNewer, textOf } from '../../migrations.ts'
import { onPostgres } from './dialect.ts'
import { bringFunctions, creationOf, type Functions, knownFunctions, lockMigrations } from './functions.ts'

/** The key of the lock of the process that migrates. */
const turn = 7_160_004_213

// While a migration waits for a table lock, every later statement on that table waits behind it: during a backup, which reads every table in
// one transaction, sign-ins on other nodes would fail. So a migration waits for a moment, lets the others continue, and tries again.
const lockTimeoutMs = 500
const retryMs = 1_000
const maxRetries = 3_600
// PostgreSQL ends an autovacuum that holds up a lock, but only after deadlock_timeout (1 s), so every fourth try waits longer than that.
const longTry = 4
const longLockTimeout = "(extract(epoch from current_setting('deadlock_timeout')::interval) * 1000 + 250)::int"
/** lock_not_available and deadlock_detected (PostgreSQL, appendix A). */
const lockFailures = ['55P03', '40P01']
// For a database that Citus distributes: Citus refuses to create a function in a transaction that has changed a
// distributed table over several connections to one node. Other servers accept the setting and ignore it.
const oneConnectionToEachNode = "set local citus.multi_shard_modify_mode = 'sequential'"

const now = `to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

const concurrently = /^create (unique )?index concurrently (\w+) on ("?\w+"?)( [^;]*);/gm

/** The order in which requests lock tables. Another order could deadlock with a request. */
const lockOrder = ['user', 'session', 'producer', 'delivery', 'inbox', 'notification', 'inbox_category', 'read_mark']

type MigrateOptions = { partitions: number; from?: URL; functions?: Functions | undefined } & Noticed

/** Applies the missing migrations and returns their names. `partitions`: how many a new database gets for each table of users. */
export async function migrate(pool: Pool, options: MigrateOptions): Promise<string[]> {
  const { from, functions = from === undefined ? knownFunctions() : undefined } = options
  const known = knownMigrations(from)
  const applied = await appliedMigrations(pool)
  refuseNewer(applied, known)
  const isComplete = applied.length === known.length
  const done = isComplete ? [] : await applyInTurn(pool, { ...options, known, functions })
  if (functions !== undefined) await bringFunctions(pool, functions)
  return done
}

const waitLineMs = 5_000
/** Shorter than a try. */
const lookMs = 200
/** No statement waits for the turn. Since when is empty if it is another role's connection, and this one is not in pg_monitor. */
const holders = `
  select string_agg(format('connection %s (%s, %s) holds %s on %s since %s', pid, application_name, state, mode,
    coalesce(relation::regclass::text, locktype), coalesce(xact_start, state_change)), '; ') as found
  from pg_locks join pg_stat_activity using (pid)
  where datname = current_database() and granted and pid <> $1 and (objid = ${turn % 2 ** 32} or pid = any(pg_blocking_pids($1)) and
    (locktype, coalesce(relation, 0)) in (select locktype, coalesce(relation, 0) from pg_locks where pid = $1 and not granted))`

type Plan = MigrateOptions & { known: string[] }

// One process at a time migrates. The others poll: a waiting statement would hold up index builds, which wait for every older snapshot.
async function applyInTurn(pool: Pool, plan: Plan): Promise<string[]> {
  const client = await pool.connect()
  const { rows } = await client.query('select pg_backend_pid() as pid')
  const timer = setInterval(waitsOf(pool, rows[0].pid, plan), lookMs)
  try {
    while (!(await client.query(`select pg_try_advisory_lock(${turn}) as is_ours`)).rows[0].is_ours) await sleep(100)
    const pending = plan.known.slice((await appliedMigrations(pool)).length)
    for (const name of pending) {
      const functions = plan.functions !== undefined && name === pending.at(-1) ? [creationOf(plan.functions)] : []
      const text = onPostgres(textOf(name, 'postgres', plan.from), plan.partitions)
      await applyOne(client, { name, text, after: [...entryOf(name, now), ...functions], onNotice: plan.onNotice })
    }
    return pending
  } finally {
    clearInterval(timer)
    // Closes the connection, which releases the lock.
    client.release(true)
  }
}

/** What it returns looks whether the connection `pid` waits, and says every five seconds which connections hold what it waits for. */
function waitsOf(pool: Pool, pid: number, { onNotice }: Noticed): () => Promise<void> {
  let saidAt = performance.now()
  return async () => {
    if (performance.now() - saidAt < waitLineMs) return
    // If the server is away, the migration fails and says so.
    const { rows } = await pool.query(holders, [pid]).catch(() => ({ rows: [] }))
    if (!rows[0]?.found) return
    saidAt = performance.now()
    onNotice?.({ event: 'migration-waits', sentence: `A migration waits: ${rows[0].found}` })
  }
}

type Step = { name: string; text: string; after: string[] } & Noticed

/** Applies the text of one migration, and the statements `after` in the same transaction. */
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
      if (isInChunks(text)) await inChunks(name, async () => (await client.query(text)).rowCount ?? 0, { onNotice })
      for (const statement of statements) await client.query(statement)
      return
    } catch (error) {
      await client.query('rollback').catch(() => {})
      if (!lockFailures.includes((error as { code?: string }).code ?? '') || retries === maxRetries) throw error
      await sleep(retryMs)
    }
  }
}

// Locks all tables of the migration before its first statement: to lock one, work and then need another would deadlock with requests.
function lockStatement(text: string): string[] {
  const tables = /^-- locks: (.+)/m.exec(text)?.[1]?.split(', ') ?? []
  const sorted = new Set([...lockOrder.filter((table) => tables.includes(table)), ...tables])
  return tables.length === 0 ? [] : [`lock table ${[...sorted].map((table) => `"${table}"`)}`]
}

/** Builds the indexes while requests read and write, before any lock. An index that an interrupted build left invalid is built again. */
async function buildIndexes(client: PoolClient, migration: string): Promise<void> {
  const rows = async (text: string, value: string) => (await client.query(text, [value])).rows
  for (const [, unique = '', index = '', table = '', definition] of migration.matchAll(concurrently)) {
    const children = 'select inhrelid::regclass as name from pg_inherits where inhparent = $1::regclass'
    const partitions = await rows(children, table)
    // PostgreSQL builds no index of a partitioned table concurrently, but one for each partition.
    for (const part of partitions.length === 0 ? [table] : partitions.map(({ name }) => name)) {
      const name = part === table ? index : `${index}_on_${part}`
      const isInvalid = 'select from pg_index where indexrelid = to_regclass($1) and not indisvalid'
      if ((await rows(isInvalid, name)).length > 0) await client.query(`drop index concurrently ${name}`)
      await client.query(`create ${unique}index concurrently if not exists ${name} on ${part}${definition}`)
    }
  }
}

/** What the transaction runs. Its `create index` finds those of the partitions, and makes the index of the table from them. */
function withIndexesBuilt(migration: string): string {
  return migration.replace(concurrently, 'create $1index if not exists $2 on $3$4;')
}

/** One by one, because Citus sends the whole text to its nodes, which accept one statement. A text with a `do` block is sent as a whole. */
function statementsOf(text: string): string[] {
  return text.includes('$$') ? [text] : text.split(/;$/m).filter((statement) => statement.trim() !== '')
}

/** The names of the migrations that the database has; empty if it was never migrated. Only reads. */
export async function appliedMigrations(pool: Pool): Promise<string[]> {
  const { rows: ledgers } = await pool.query("select to_regclass('kysely_migration') is not null as is_there")
  if (ledgers[0]?.is_there !== true) return []
  const { rows } = await pool.query('select name from kysely_migration order by name')
  return rows.map(({ name }) => name as string)
}
