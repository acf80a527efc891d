// What a migration waits for, in sentences for the operator: which lock, and which connection holds it.
import type { Pool, PoolClient } from 'pg'
import type { Client } from '../connection/pool.ts'

/** A migration gives up a lock after a moment and tries again, so a rarer look could miss each of its waits. */
const lookEveryMs = 200
const tellEveryMs = 5_000

/** The key of the lock of the process that migrates. */
export const turn = 7_160_004_213

/** The locks that the connections $1 wait for, and the turn if another process has it. */
const waits = `
  with waiting as (
    select coalesce(relation::regclass::text, locktype) as lock, unnest(pg_blocking_pids(pid)) as holder
    from pg_locks where not granted and pid = any ($1)
    union all
    select 'the turn to migrate', pid from pg_locks join pg_database d on d.oid = database and datname = current_database()
    where locktype = 'advisory' and granted and pid <> all ($1) and (classid::bigint << 32) + objid::bigint = $2
  )
  select distinct format('%s is locked by process %s (%s, %s%s)', lock, holder, coalesce(nullif(application_name, ''), 'unnamed'),
    coalesce(state, 'unknown'), ', in a transaction for ' || extract(epoch from clock_timestamp() - xact_start)::int || ' s') as reason
  from waiting left join pg_stat_activity on pid = holder limit 10`

/** Calls `onWait` every five seconds while a connection that `pool` lends waits for a lock, until the timer is cleared. */
export function watchLockWaits(pool: Pool, onWait: (reason: string) => void): NodeJS.Timeout {
  const own = new Set<number | null>()
  pool.on('acquire', (client: PoolClient) => own.add((client as unknown as Client).processID))
  let toldAt = performance.now()
  const look = async () => {
    const { rows } = await pool.query(waits, [[...own], turn])
    if (rows.length === 0 || performance.now() - toldAt < tellEveryMs) return
    toldAt = performance.now()
    onWait(rows.map(({ reason }) => reason).join('; '))
  }
  // A failure of the look also fails the migration.
  return setInterval(() => performance.now() - toldAt < tellEveryMs || look().catch(() => {}), lookEveryMs)
}
