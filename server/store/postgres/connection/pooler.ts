// Finds out whether there is a pooler, such as PgBouncer, between this process and PostgreSQL, and whether it gives each client
// its own server connection. Carillon needs that: LISTEN, prepared statements and settings belong to a server connection.
import type pg from 'pg'
import { CarillonError } from '../../../basics/errors.ts'
import { type Client, connectionsOfProcess, openPool } from './pool.ts'

export type Pooling = 'none' | 'session' | 'transaction' | 'too small'

/** Each client reads its server process twice in a row in each round. Whatever order a pooler lends in, one read shows sharing. */
const rounds = 5

/**
 * A pooler invents the process id that it sends at the start (PostgreSQL manual, "BackendKeyData"). If that differs from the
 * server's, there is a pooler, and a second client is opened: two open sessions never have the same server process, and
 * neither changes it, unless the pooler lends connections for less than a session.
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
        for (let read = 0; read < 2; read++) seen[n]?.add(await processOf(client))
  } catch (error) {
    // The pooler accepted the client but had no server connection for it.
    if (error instanceof Error && /timeout/i.test(error.message)) return 'too small'
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

export const poolingRemedy =
  'pool_mode = session in pgbouncer.ini, or the address of PostgreSQL itself in the database URL'

/** Throws UNAVAILABLE if a pooler lends connections for less than a session, or has too few. */
export async function refuseSharedConnections(url: string): Promise<void> {
  // With the usual timeout even for slow work: a pooler without a free connection makes its client wait.
  const pool = openPool(url, { size: 2 })
  const pooling = await poolingOf(pool).finally(() => pool.end())
  if (pooling === 'transaction')
    throw new CarillonError(
      'UNAVAILABLE',
      'The pooler in front of PostgreSQL lends a connection for one transaction or statement, but Carillon needs sessions',
      { remedy: `Set ${poolingRemedy}.` },
    )
  if (pooling === 'too small')
    throw new CarillonError(
      'UNAVAILABLE',
      `The pooler in front of PostgreSQL has no second connection for this process, which needs ${connectionsOfProcess}`,
      { remedy: `Set default_pool_size to at least ${connectionsOfProcess} for each process.` },
    )
}
