// Opens a pool, or says what to do. Doctor (doctor/store/postgres.ts) checks more.
import type { Pool, PoolClient } from 'pg'
import { CarillonError, messageOf, unavailable } from '../../../basics/errors.ts'
import { sqlState } from './failures.ts'
import { type Client, connectionsOfProcess, openPool } from './pool.ts'

const minServerVersion = 150_000
const slowTimeoutMs = 3_600_000

/** For slow work: migrations and transfers. Throws if the database cannot be used. */
export async function openCheckedPool(url: string): Promise<Pool> {
  const pool = openPool(url, { timeoutMs: slowTimeoutMs })
  try {
    // A pooler may have only one connection, so this comes first.
    await refuseSharedConnections(url)
    await refuseOld(pool)
    await refuseOtherEncoding(pool)
    return pool
  } catch (error) {
    await pool.end()
    throw error
  }
}

export async function refuseOld(pool: Pool): Promise<void> {
  const { rows } = await pool.query("select current_setting('server_version_num')::int as version")
  if (rows[0].version < minServerVersion)
    throw unavailable(
      'This PostgreSQL is too old: Carillon needs version 15 or later',
      'Upgrade PostgreSQL.',
    )
}

/** With another encoding, the server refuses some text and sorts differently. */
async function refuseOtherEncoding(pool: Pool): Promise<void> {
  const { rows } = await pool.query('show server_encoding')
  if (rows[0].server_encoding !== 'UTF8')
    throw unavailable(
      `This database stores text as ${rows[0].server_encoding}`,
      'Make one with: createdb -E UTF8 -T template0 <name>',
    )
}

const noLocks = [
  'A migration did not get its locks',
  'End the transactions that hold them (pg_locks, pg_stat_activity), and start again.',
] as const

/** `url`: its setting's name, or "its URL" if a command has two. */
const reasons = (url: string): Record<string, readonly [problem: string, remedy: string]> => ({
  '28P01': ['PostgreSQL refuses the password', `Correct ${url}.`],
  '28000': ['PostgreSQL refuses this user', `Correct ${url}, or allow the user in pg_hba.conf.`],
  // pg_hba.conf may name databases: PostgreSQL refuses an unknown one before it looks for it.
  ClientAuthentication: [
    'pg_hba.conf allows this user no connection to this database',
    `Does the database exist? Make it with createdb, correct ${url}, or allow both in pg_hba.conf.`,
  ],
  '3D000': ['This database does not exist', `Make it with createdb, or correct ${url}.`],
  '42501': [
    'This role has too few rights',
    'Run as the owner of the database: grant create on schema public to <role>;',
  ],
  '25006': ['This PostgreSQL is a read-only replica', `Name the primary in ${url}.`],
  '53300': [
    'This PostgreSQL has no connection left',
    'Raise max_connections, or run fewer processes.',
  ],
  '55P03': noLocks,
  '40P01': noLocks,
  '57P03': ['This PostgreSQL is starting or stopping', 'Try again in a moment.'],
  ECONNREFUSED: [`No server responds at the address of ${url}`, 'Is PostgreSQL running there?'],
  ERR_INVALID_URL: [
    `${url} is not a URL`,
    'Write postgres://<user>:<password>@<host>:<port>/<database>.',
  ],
  ETIMEDOUT: [
    `No PostgreSQL responds at the address of ${url}`,
    'Correct it, or try again in a moment.',
  ],
  ENOTFOUND: [`The host of ${url} is unknown`, 'Correct its name.'],
  EAI_AGAIN: [
    `The host of ${url} cannot be looked up now`,
    'Correct its name, or try again in a moment.',
  ],
  noPassword: ['PostgreSQL requires a password', `Add it to ${url}.`],
})
const uncoded: readonly (readonly [RegExp, string])[] = [
  [/password must be a string/, 'noPassword'],
  [/timeout/, 'ETIMEDOUT'],
]

/** Never the URL, which may contain a password. */
export function openingFailure(error: unknown, url = 'CARILLON_DATABASE_URL'): CarillonError {
  if (error instanceof CarillonError) return error
  const message = messageOf(error)
  const code = sqlState(error) ?? (error as NodeJS.ErrnoException).code
  const key = code ?? uncoded.find(([shape]) => shape.test(message))?.[1] ?? ''
  const unknown = [
    `PostgreSQL cannot be used: ${message}`,
    `Correct ${url}, or read the log of PostgreSQL.`,
  ] as const
  const { routine = '' } = error as { routine?: string }
  const [problem, remedy] =
    reasons(url)[key === '28000' && routine in reasons(url) ? routine : key] ?? unknown
  return unavailable(problem, remedy, error)
}

export type StartTimeout = { timeoutMs: number; onWait: (reason: string) => void }

const awayCodes =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|53300|57P0[123]|08.*)$/
const awayMessages = /timeout|terminated/

export function isServerAway(error: unknown): error is CarillonError {
  if (!(error instanceof CarillonError) || error.cause === undefined) return false
  const { cause } = error
  const code = sqlState(cause) ?? (cause as NodeJS.ErrnoException).code
  if (code !== undefined) return awayCodes.test(code)
  return cause instanceof Error && awayMessages.test(cause.message)
}

// LISTEN and prepared statements need a server connection of their own.
type Pooling = 'none' | 'session' | 'transaction' | 'too small'

/** Each client reads its server process twice, so one read shows sharing in any order. */
const rounds = 5

/**
 * A pooler invents the process id that it sends (PostgreSQL manual, "BackendKeyData"). Then a
 * second client is opened. If both share a process, or one changes it, the pooler lends a connection
 * for less than a session.
 */
export async function poolingOf(pool: Pool): Promise<Pooling> {
  const first = await pool.connect()
  try {
    if ((first as unknown as Client).processID === (await processOf(first))) return 'none'
    return await compare(pool, first)
  } finally {
    first.release()
  }
}

async function compare(pool: Pool, first: PoolClient): Promise<Pooling> {
  const seen = [new Set<number>(), new Set<number>()] as const
  let second: PoolClient | undefined
  try {
    second = await pool.connect()
    for (let round = 0; round < rounds; round++)
      for (const [n, client] of [first, second].entries())
        for (let read = 0; read < 2; read++) seen[n]?.add(await processOf(client))
  } catch (error) {
    if (error instanceof Error && /timeout/i.test(error.message)) return 'too small'
    throw error
  } finally {
    second?.release()
  }
  const isShared = seen[0].size > 1 || seen[1].size > 1 || !seen[0].isDisjointFrom(seen[1])
  return isShared ? 'transaction' : 'session'
}

async function processOf(client: PoolClient): Promise<number> {
  return (await client.query('select pg_backend_pid() as pid')).rows[0].pid
}

export const poolingRemedy =
  'pool_mode = session in pgbouncer.ini, or the address of PostgreSQL itself in the database URL'

/** Throws UNAVAILABLE if a pooler lends connections for less than a session, or has too few. */
async function refuseSharedConnections(url: string): Promise<void> {
  // With the usual timeout: without a free connection, a pooler makes its client wait.
  const pool = openPool(url)
  const pooling = await poolingOf(pool).finally(() => pool.end())
  if (pooling === 'transaction')
    throw unavailable(
      'The pooler in front of PostgreSQL lends a connection for one transaction or statement, but Carillon needs sessions',
      `Set ${poolingRemedy}.`,
    )
  if (pooling === 'too small')
    throw unavailable(
      `The pooler in front of PostgreSQL has no second connection for this process, which needs ${connectionsOfProcess}`,
      `Set default_pool_size to at least ${connectionsOfProcess} for each process.`,
    )
}
