// Opens a pool and checks that Carillon can work on the PostgreSQL database that a URL names; turns each failure into a
// sentence that says what to do. Doctor (doctor/store/postgres.ts) checks more and refuses nothing.
import type { Pool } from 'pg'
import { CarillonError, messageOf } from '../../../basics/errors.ts'
import { sqlState } from './failures.ts'
import { openPool } from './pool.ts'
import { refuseSharedConnections } from './pooler.ts'

const minServerVersion = 150_000

/** A pool for slow work. Throws, often UNAVAILABLE with a sentence, if the database cannot be used. */
export async function openCheckedPool(url: string, { timeoutMs }: { timeoutMs: number }): Promise<Pool> {
  const pool = openPool(url, { timeoutMs })
  try {
    // First, while this process has no other connection: a pooler may have only one.
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
    throw new CarillonError('UNAVAILABLE', 'This PostgreSQL is too old: Carillon needs version 15 or later', {
      remedy: 'Upgrade PostgreSQL.',
    })
}

/** With another encoding, the server refuses some text and sorts it differently. */
async function refuseOtherEncoding(pool: Pool): Promise<void> {
  const { rows } = await pool.query('show server_encoding')
  if (rows[0].server_encoding !== 'UTF8')
    throw new CarillonError('UNAVAILABLE', `This database stores text as ${rows[0].server_encoding}`, {
      remedy: 'Make one with: createdb -E UTF8 -T template0 <name>',
    })
}

/** migrate.ts has tried for an hour. */
const noLocks = [
  'A migration did not get its locks',
  'End the transactions that hold them (pg_locks, pg_stat_activity), and start again.',
] as const

/** `url` names the database URL in the sentences: by its setting, or "its URL" if a command works on two databases. */
const reasons = (url: string): Record<string, readonly [problem: string, remedy: string]> => ({
  '28P01': ['PostgreSQL refuses the password', `Correct ${url}.`],
  '28000': ['PostgreSQL refuses this user', `Correct ${url}, or allow the user in pg_hba.conf.`],
  // pg_hba.conf may name databases: PostgreSQL then refuses an unknown one before it looks for it.
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
  '53300': ['This PostgreSQL has no connection left', 'Raise max_connections, or run fewer processes.'],
  '55P03': noLocks,
  '40P01': noLocks,
  '57P03': ['This PostgreSQL is starting or stopping', 'Try again in a moment.'],
  ECONNREFUSED: [`No server responds at the address of ${url}`, 'Is PostgreSQL running there?'],
  ERR_INVALID_URL: [`${url} is not a URL`, 'Write postgres://<user>:<password>@<host>:<port>/<database>.'],
  ETIMEDOUT: [`No PostgreSQL responds at the address of ${url}`, 'Correct it, or try again in a moment.'],
  ENOTFOUND: [`The host of ${url} is unknown`, 'Correct its name.'],
  EAI_AGAIN: [`The host of ${url} cannot be looked up now`, 'Correct its name, or try again in a moment.'],
  noPassword: ['PostgreSQL requires a password', `Add it to ${url}.`],
})
/** Errors that pg itself throws, without a code, and the key of their reason. */
const uncoded: readonly (readonly [RegExp, string])[] = [
  [/password must be a string/, 'noPassword'],
  [/timeout/, 'ETIMEDOUT'],
]

/** Why the database could not be opened, and what to do; never the URL, which may contain a password. */
export function openingFailure(error: unknown, url = 'CARILLON_DATABASE_URL'): CarillonError {
  if (error instanceof CarillonError) return error
  const message = messageOf(error)
  const code = sqlState(error) ?? (error as NodeJS.ErrnoException).code
  const key = code ?? uncoded.find(([shape]) => shape.test(message))?.[1] ?? ''
  const unknown = [`PostgreSQL cannot be used: ${message}`, `Correct ${url}, or read the log of PostgreSQL.`] as const
  const { routine = '' } = error as { routine?: string }
  const [problem, remedy] = reasons(url)[key === '28000' && routine in reasons(url) ? routine : key] ?? unknown
  return new CarillonError('UNAVAILABLE', problem, { remedy, cause: error })
}

/** For a server that does not respond yet: how long to try again. `onWait` is called with each new reason. */
export type StartTimeout = { timeoutMs: number; onWait: (reason: string) => void }

/** System errors and SQLSTATEs of a server that cannot be reached now and may be back in a moment. */
const awayCodes =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|53300|57P0[123]|08.*)$/
/** Messages of pg without a code that mean the same. */
const awayMessages = /timeout|terminated/

export function isServerAway(error: unknown): error is CarillonError {
  if (!(error instanceof CarillonError) || error.cause === undefined) return false
  const { cause } = error
  const code = sqlState(cause) ?? (cause as NodeJS.ErrnoException).code
  if (code !== undefined) return awayCodes.test(code)
  return cause instanceof Error && awayMessages.test(cause.message)
}
