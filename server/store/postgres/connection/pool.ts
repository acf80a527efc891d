// The pool of connections to PostgreSQL that a URL names, and the settings of each connection.
import pg from 'pg'

export type { Pool, PoolClient } from 'pg'

/** Connections of one process. PostgreSQL does more with fewer: a query takes a fraction of a millisecond. */
const maxConnections = 10
/** Each process has one more, which listens for change signals. */
export const connectionsOfProcess = maxConnections + 1
/** For a connection of the pool, whether it is free or has to be made. */
const connectTimeoutMs = 2_000
/** After this time without a response the call fails and its connection is closed. */
const queryTimeoutMs = 4_000

// bigint: counts, sequence numbers and milliseconds all stay far below 2^53.
const bigint = 20
const types = {
  getTypeParser: ((oid: number, format?: 'text') =>
    oid === bigint ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
}

/** If pg gives up on a connection, as it does without a password, it leaves the socket open, and a command would not end. */
export class Client extends pg.Client {
  /** The id of the server process, as the server sent it when the connection was made. */
  declare readonly processID: number | null

  constructor(config?: string | pg.ClientConfig) {
    super(config)
    this.connection.on('error', () => this.connection.stream.destroy())
  }
}

/** `timeoutMs`: longer for slow work such as a migration. */
export function openPool(url: string, { timeoutMs = queryTimeoutMs, max = maxConnections } = {}): pg.Pool {
  const settings = settingsFor(timeoutMs)
  const pool = new pg.Pool({
    Client,
    connectionString: url,
    onConnect: async (client) => void (await client.query(settings)),
    application_name: 'carillon',
    max,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: timeoutMs,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    types,
    // A transaction sends statements without waiting for those before.
    pipeline: true,
  })
  // Without these listeners, a connection that the server closes would end the process. The pool reports those that are
  // idle, a client reports its own while it is lent. The call that uses it fails, and that is enough.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

// Every statement is prepared and touches one partition, whatever its values: planned once, never compiled, and run by
// one process of the server. (Citus needs the values to choose the node, so there PostgreSQL decides.) The functions in functions/ rely on read
// committed, so the database's default is replaced. A caller waits only as long as our timeouts say, whatever the URL says. All is set after
// the connection was made: PgBouncer refuses unknown startup parameters.
function settingsFor(timeoutMs: number): string {
  const settings = {
    plan_cache_mode:
      "case when exists (select from pg_extension where extname = 'citus') then 'auto' else 'force_generic_plan' end",
    jit: "'off'",
    max_parallel_workers_per_gather: "'0'",
    default_transaction_isolation: "'read committed'",
    statement_timeout: `'${timeoutMs}'`,
    lock_timeout: `'${timeoutMs - 500}'`,
    // Shorter than a lock may take: if a process stops in a transaction, those that wait for its locks go on.
    idle_in_transaction_session_timeout: `'${timeoutMs - 1_000}'`,
  }
  const calls = Object.entries(settings).map(([name, value]) => `set_config('${name}', ${value}, false)`)
  return `select ${calls.join(', ')}`
}
