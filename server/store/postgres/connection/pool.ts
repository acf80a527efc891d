import pg from 'pg'

export type { Pool, PoolClient } from 'pg'

/** For one process: PostgreSQL does more with fewer connections. */
const maxConnections = 10
export const connectionsOfProcess = maxConnections + 1
const connectTimeoutMs = 2_000
const queryTimeoutMs = 4_000

// All our numbers stay far below 2^53.
const bigint = 20
const types = {
  getTypeParser: ((oid: number, format?: 'text') =>
    oid === bigint ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
}

/** If pg gives up on a connection, its socket stays open: a command would not end. */
export class Client extends pg.Client {
  declare readonly processID: number | null

  constructor(config?: string | pg.ClientConfig) {
    super(config)
    this.connection.on('error', () => this.connection.stream.destroy())
  }
}

export type Limits = { timeoutMs?: number; connectTimeoutMs?: number; max?: number }

export function openPool(url: string, limits: Limits = {}): pg.Pool {
  const { timeoutMs = queryTimeoutMs, max = maxConnections } = limits
  const settings = settingsFor(timeoutMs)
  const pool = new pg.Pool({
    Client,
    connectionString: url,
    onConnect: async (client) => void (await client.query(settings)),
    application_name: 'carillon',
    max,
    connectionTimeoutMillis: limits.connectTimeoutMs ?? connectTimeoutMs,
    query_timeout: timeoutMs,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    types,
    // A transaction sends statements without waiting for those before.
    pipeline: true,
  })
  // The call on the connection fails; without listeners the process would end.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

// Each statement touches one partition, so it is planned once and never compiled (on Citus, its
// values choose the node). functions/ relies on read committed. PgBouncer refuses unknown startup
// parameters, so these come later.
function settingsFor(timeoutMs: number): string {
  const settings = {
    plan_cache_mode:
      "case when exists (select from pg_extension where extname = 'citus') then 'auto' else 'force_generic_plan' end",
    jit: "'off'",
    max_parallel_workers_per_gather: "'0'",
    default_transaction_isolation: "'read committed'",
    statement_timeout: `'${timeoutMs}'`,
    lock_timeout: `'${timeoutMs - 500}'`,
    // Others would wait for the locks of a process that stops.
    idle_in_transaction_session_timeout: `'${timeoutMs - 1_000}'`,
  }
  const calls = Object.entries(settings).map(
    ([name, value]) => `set_config('${name}', ${value}, false)`,
  )
  return `select ${calls.join(', ')}`
}
