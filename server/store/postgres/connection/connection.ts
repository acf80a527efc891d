// How Carillon reaches PostgreSQL: one bounded pool, and failures of the system turned into sentences.
import pg from 'pg'
import { CarillonError, overloaded } from '../../../errors.ts'
import { refusedWriteState, writeRefusal } from '../../transfer-state.ts'
import { outcomeUnknown, takenBack, wentAway } from '../../unavailable.ts'

/** Connections of one process. PostgreSQL does more with fewer: a query takes a fraction of a millisecond. */
const maxConnections = 10
/** Beside the pool, each process has one that listens. */
export const connectionsOfProcess = maxConnections + 1
/** Calls that wait for one of them: as many as are served in the time that they may wait. */
const maxWaiting = 5_000
/** For a connection of the pool, an old one or a new one. */
const connectWithinMs = 2_000
/** A reply that does not come in that time is given up, with its connection. */
const answerWithinMs = 4_000
const minServer = 150_000

// bigint: counts, sequence numbers and milliseconds all stay far below 2^53.
const bigint = 20
const types = {
  getTypeParser: ((oid: number, format?: 'text') =>
    oid === bigint ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
}

/** Where pg gives up by itself, as without a password, it leaves the connection open, and that keeps a command from ending. */
export class Client extends pg.Client {
  /** The server process as the start of the connection named it. */
  declare readonly processID: number | null

  constructor(config?: string | pg.ClientConfig) {
    super(config)
    this.connection.on('error', () => this.connection.stream.destroy())
  }
}

type PoolOptions = {
  /** For work that takes its time, such as a migration. */
  patientMs?: number
  size?: number
  /** Settings to send with the startup, in place of the URL's own. */
  startupOptions?: string
}

export function openPool(
  url: string,
  { patientMs = answerWithinMs, size = maxConnections, startupOptions }: PoolOptions = {},
): pg.Pool {
  const { connectionString, options } = parametersOf(url)
  const startup = startupOptions ?? options
  const settings = settingsFor(options, patientMs)
  const pool = new pg.Pool({
    Client,
    connectionString,
    ...(startup !== '' && { options: startup }),
    onConnect: async (client) => void (await client.query(settings)),
    application_name: 'carillon',
    max: size,
    connectionTimeoutMillis: connectWithinMs,
    query_timeout: patientMs,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    types,
  })
  // Without listeners, a connection that the server closes ends the process (TRUST, fact 6): the pool tells of those that
  // are idle, each that is lent tells itself. Whoever asks is told.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/**
 * Every statement is prepared and touches one partition, whatever its values: planned once, never compiled. (Citus has to see
 * the values to choose the node, so there PostgreSQL decides.) The functions in functions/ rely on read committed, whatever
 * the database's default is. What the URL itself says in `options` of planning holds instead; its limits of time do not, since
 * a caller waits for ours. All of it is set after the connection was made, once for each: PgBouncer refuses other startup
 * parameters than its own.
 */
function settingsFor(own: string, patientMs: number): string {
  const settings: [name: string, value: string][] = [
    [
      'plan_cache_mode',
      "case when exists (select from pg_extension where extname = 'citus') then 'auto' else 'force_generic_plan' end",
    ],
    ['jit', "'off'"],
    ['default_transaction_isolation', "'read committed'"],
    ['statement_timeout', `'${patientMs}'`],
  ]
  const isOwn = (name: string) => (name === 'jit' || name === 'plan_cache_mode') && own.includes(`${name}=`)
  const calls = settings
    .filter(([name]) => !isOwn(name))
    .map(([name, value]) => `set_config('${name}', ${value}, false)`)
  return `select ${calls.join(', ')}`
}

/** The URL without what is replaced here, and its own `options`. */
function parametersOf(url: string): { connectionString: string; options: string } {
  const parsed = URL.parse(url)
  const own = parsed?.searchParams.get('options') ?? ''
  const replaced = ['options', 'statement_timeout', 'query_timeout'].filter((name) => parsed?.searchParams.has(name))
  for (const name of replaced) parsed?.searchParams.delete(name)
  return { connectionString: parsed === null || replaced.length === 0 ? url : parsed.href, options: own }
}

/** Asks on a connection of the pool; a broken one is not used again. Throws UNAVAILABLE where the system fails. */
export async function ask<R extends unknown[]>(
  pool: pg.Pool,
  query: pg.QueryArrayConfig,
): Promise<pg.QueryArrayResult<R>> {
  const client = await connectionOf(pool)
  try {
    const result = await client.query<R>(query)
    client.release()
    return result
  } catch (error) {
    client.release(!isAnswer(error))
    throw asStoreError(error)
  }
}

/** Several reads that see one moment of the database, on one connection. Throws UNAVAILABLE if the system fails. */
export async function askAtOneMoment<Result>(
  pool: pg.Pool,
  work: (ask: (query: pg.QueryArrayConfig) => Promise<pg.QueryArrayResult>) => Promise<Result>,
): Promise<Result> {
  const client = await connectionOf(pool)
  try {
    await client.query('begin isolation level repeatable read read only')
    const result = await work((query) => client.query(query))
    await client.query('commit')
    client.release()
    return result
  } catch (error) {
    // With its transaction.
    client.release(true)
    throw asStoreError(error)
  }
}

/** Waits a bounded time, in a bounded crowd; where it throws, nothing was done. */
async function connectionOf(pool: pg.Pool): Promise<pg.PoolClient> {
  if (pool.waitingCount >= maxWaiting) throw overloaded('Too many calls wait for the store; try again in a moment')
  try {
    return await pool.connect()
  } catch (error) {
    throw new CarillonError('UNAVAILABLE', 'The store cannot be reached now; nothing was done', { cause: error })
  }
}

/** SQLSTATE classes of a system that fails: connection, rolled back, resources, operator, system; a server in recovery. */
const systemFailures = /^(08|40|53|57|58|XX|25006|55P03)/

/** The server has refused or taken back a statement, and the connection is as good as before. */
function isAnswer(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.severity === 'ERROR'
}

export function asStoreError(error: unknown): unknown {
  if (error instanceof CarillonError) return error
  const code = sqlState(error)
  if (code === undefined) return wentAway(error)
  if (code === refusedWriteState) return writeRefusal(error)
  if (!systemFailures.test(code)) return error
  // What is answered as an error was taken back; what ends the connection may have been committed.
  return isAnswer(error) ? takenBack(error) : outcomeUnknown(error)
}

/** Throws UNAVAILABLE with a sentence where the server is older than what is asked of it. */
export async function refuseOld(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query("select current_setting('server_version_num')::int as version")
  if (rows[0].version < minServer)
    throw new CarillonError('UNAVAILABLE', 'This PostgreSQL is too old: Carillon needs version 15 or later.')
}

const silence = 'No PostgreSQL answers at the address of CARILLON_DATABASE_URL. Correct it, or try again in a moment.'
const sentences: Record<string, string> = {
  '28P01': 'PostgreSQL refuses the password. Correct CARILLON_DATABASE_URL.',
  '28000': 'PostgreSQL refuses this user. Correct CARILLON_DATABASE_URL, or allow the user in pg_hba.conf.',
  '3D000': 'There is no such database. Make it with createdb, or correct CARILLON_DATABASE_URL.',
  '42501': 'This role has too few rights. Run as the owner of the database: grant create on schema public to <role>;',
  '25006': 'This PostgreSQL is a replica, which cannot be written. Name the primary in CARILLON_DATABASE_URL.',
  '53300': 'This PostgreSQL has no connection left. Raise max_connections, or run fewer processes.',
  '57P03': 'This PostgreSQL is starting or stopping. Try again in a moment.',
  ECONNREFUSED: 'Nothing answers at the address of CARILLON_DATABASE_URL. Is PostgreSQL running there?',
  ERR_INVALID_URL: 'CARILLON_DATABASE_URL is no URL. Write postgres://<user>:<password>@<host>:<port>/<database>.',
  ETIMEDOUT: silence,
  ENOTFOUND: 'The host of CARILLON_DATABASE_URL is not known. Correct its name.',
  EAI_AGAIN: 'The host of CARILLON_DATABASE_URL cannot be looked up now. Correct its name, or try again in a moment.',
}
/** What pg says by itself, and gives no code. */
const uncoded: readonly (readonly [RegExp, string])[] = [
  [/password must be a string/, 'PostgreSQL wants a password. Add it to CARILLON_DATABASE_URL.'],
  [/timeout/, silence],
]

/** What stopped the opening, with the sentence to show; never the URL, which may hold a password. */
export function openingFailure(error: unknown): CarillonError {
  if (error instanceof CarillonError) return error
  const code = sqlState(error) ?? (error as NodeJS.ErrnoException).code ?? ''
  const told = error instanceof Error ? error.message : String(error)
  const sentence = sentences[code] ?? uncoded.find(([shape]) => code === '' && shape.test(told))?.[1]
  return new CarillonError('UNAVAILABLE', sentence ?? `PostgreSQL cannot be used: ${told}.`, { cause: error })
}

/** For a server that does not answer yet: how long to try again, and who is told why, at every new reason. */
export type StartTimeout = { timeoutMs: number; onWait: (reason: string) => void }

/** System errors, SQLSTATEs and sentences of pg that say: the server is away now, and may be back in a moment. */
const awayCodes = new Set(
  'ECONNREFUSED ECONNRESET EPIPE ETIMEDOUT EHOSTUNREACH ENETUNREACH ENOTFOUND EAI_AGAIN 53300 57P01 57P02 57P03'.split(
    ' ',
  ),
)
const awayMessages = /timeout|terminated/

/** Whether an opening failed because the server cannot be reached, is starting or stopping, or has no connection left. */
export function isServerAway(error: unknown): error is CarillonError {
  if (!(error instanceof CarillonError) || error.cause === undefined) return false
  const { cause } = error
  const code = sqlState(cause) ?? (cause as NodeJS.ErrnoException).code
  if (code !== undefined) return awayCodes.has(code) || code.startsWith('08')
  return cause instanceof Error && awayMessages.test(cause.message)
}

/** The SQLSTATE of what the server answered (PostgreSQL manual, appendix A), or undefined where it did not answer. */
function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined
}
