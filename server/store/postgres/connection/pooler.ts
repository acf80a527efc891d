// Is there a pooler, such as PgBouncer, between this process and PostgreSQL, and does it give each client a server connection
// of its own? Carillon needs that: LISTEN, prepared statements and settings belong to a server connection.
import type pg from 'pg'
import { CarillonError } from '../../../errors.ts'
import { type Client, connectionsOfProcess, openPool } from './pool.ts'

export type Pooling = 'none' | 'session' | 'transaction' | 'too small'

/** Each client looks twice in a row in each round: however a pooler chooses, one of the looks finds a shared connection. */
const rounds = 5

/**
 * A pooler makes up the process id that it sends at the start (PostgreSQL manual, "BackendKeyData"), so that one is found by
 * comparing it with the server's. Only then is a second client opened: two sessions that are open never have the same server
 * process, and neither changes it, unless the pooler lends connections for less than a session.
 */
export async function poolingOf(pool: pg.Pool): Promise<Pooling> {
  const first = await pool.connect()
  try {
    if ((first as unknown as Client).processID === (await processOf(first))) return 'none'
    return await compare(pool, first)
  } finally {
    first.release()
  }
}

async function compare(pool: pg.Pool, first: pg.PoolClient): Promise<Pooling> {
  const seen = [new Set<number>(), new Set<number>()] as const
  let second: pg.PoolClient | undefined
  try {
    second = await pool.connect()
    for (let round = 0; round < rounds; round++)
      for (const [n, client] of [first, second].entries())
        for (let look = 0; look < 2; look++) seen[n]?.add(await processOf(client))
  } catch (error) {
    if (isWaiting(error)) return 'too small'
    throw error
  } finally {
    second?.release()
  }
  const isShared = seen[0].size > 1 || seen[1].size > 1 || !seen[0].isDisjointFrom(seen[1])
  return isShared ? 'transaction' : 'session'
}

async function processOf(client: pg.PoolClient): Promise<number> {
  return (await client.query('select pg_backend_pid() as pid')).rows[0].pid
}

/** The pooler answered the client and found no server connection for it. */
function isWaiting(error: unknown): boolean {
  return error instanceof Error && /timeout/i.test(error.message)
}

export const poolingRemedy =
  'pool_mode = session in pgbouncer.ini, or the address of PostgreSQL itself in the database URL'

/** Throws UNAVAILABLE if the server cannot be used through what lies between. */
export async function refuseSharedConnections(url: string): Promise<void> {
  // With the usual time limit, also for work that takes its time: a pooler without a free connection lets its client wait.
  const pool = openPool(url, { size: 2 })
  const pooling = await poolingOf(pool).finally(() => pool.end())
  if (pooling === 'transaction')
    throw new CarillonError(
      'UNAVAILABLE',
      'The pooler before PostgreSQL lends a connection for one transaction or statement, and Carillon needs sessions',
      { remedy: `Set ${poolingRemedy}.` },
    )
  if (pooling === 'too small')
    throw new CarillonError(
      'UNAVAILABLE',
      `The pooler before PostgreSQL has no second connection for this process, which needs ${connectionsOfProcess}`,
      { remedy: `Set default_pool_size to at least ${connectionsOfProcess} for each process.` },
    )
}

/** PgBouncer refuses a startup parameter in words of its own; PostgreSQL says that it does not know it. */
export async function poolerName(url: string): Promise<string> {
  const pool = openPool(url, { startupOptions: '-c carillon_pooler=1' })
  try {
    await pool.query('select 1')
  } catch (error) {
    if (/unsupported startup parameter/.test(String(error))) return 'PgBouncer'
  } finally {
    await pool.end()
  }
  return 'a pooler'
}

/** How many of the connections that a process needs the pooler gives at once, with those that `pool` has already. */
export async function connectionsGiven(pool: pg.Pool, url: string): Promise<number> {
  const wanted = connectionsOfProcess - pool.totalCount
  const others = openPool(url, { size: wanted })
  const clients = await Promise.all(Array.from({ length: wanted }, () => others.connect().catch(() => undefined)))
  for (const client of clients) client?.release(true)
  await others.end()
  return pool.totalCount + clients.filter((client) => client !== undefined).length
}
