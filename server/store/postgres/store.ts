// The store on PostgreSQL, for many processes: frequent calls take one round trip.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { Noticed } from '../migrations.ts'
import type { Store } from '../store.ts'
import { ChangeSignals } from './change-signals/change-signals.ts'
import { Database } from './connection/connection.ts'
import { alone } from './connection/gathering.ts'
import {
  isServerAway,
  openCheckedPool,
  openingFailure,
  type StartTimeout,
} from './connection/opening.ts'
import { type Limits, openPool } from './connection/pool.ts'
import { migrate } from './schema/migrate.ts'

const retryMs = 500

type Opened = { store: Store; migrations: string[] }
type Options = {
  partitions: number
  startTimeout?: StartTimeout | undefined
  limits?: Limits
} & Noticed

/** With `startTimeout` it waits for a server that cannot be reached. */
export async function openPostgresStore(url: string, options: Options): Promise<Opened> {
  const { startTimeout } = options
  const giveUpAt = performance.now() + (startTimeout?.timeoutMs ?? 0)
  for (let reason = ''; ; ) {
    try {
      return await openOnce(url, options)
    } catch (error) {
      if (!isServerAway(error) || performance.now() + retryMs > giveUpAt) throw error
      if (error.message !== reason) startTimeout?.onWait(error.message)
      reason = error.message
      await sleep(retryMs)
    }
  }
}

async function openOnce(url: string, options: Options): Promise<Opened> {
  let pool: Pool | undefined
  try {
    pool = await openCheckedPool(url)
    const migrations = await migrate(pool, options)
    await pool.end()
    pool = openPool(url, options.limits)
    const changeSignals = new ChangeSignals(pool, url)
    await changeSignals.open()
    const { rows } = await pool.query(
      "select to_regclass('pg_catalog.pg_dist_partition') is not null as distributed",
    )
    const isDistributed = rows[0]?.distributed === true
    return { store: storeOn(new Database(pool, changeSignals, { isDistributed })), migrations }
  } catch (error) {
    if (pool?.ended === false) await pool.end()
    throw openingFailure(error)
  }
}

export function storeOn(db: Database): Store {
  const { changeSignals } = db
  return {
    read(operation, ...input) {
      return typeof operation === 'function'
        ? db.read(operation(...input))
        : operation.postgres(db, ...input)
    },
    async write(operation, input) {
      if (typeof operation === 'function') return db.write(() => operation(input))
      const result = db.isDistributed ? alone : ((await operation.postgres?.(db, input)) ?? alone)
      return result === alone
        ? db.write(() => operation.write(input), operation.weightOf?.(input))
        : result
    },
    get history() {
      return changeSignals.history
    },
    clock: () => changeSignals.serverTime(),
    holder: () => changeSignals.holder(),
    onChange: (listener, about) => changeSignals.on(listener, about),
    onRecorded: (listener) => db.onRecorded(listener),
    /** The store waits for a server that is away, so it never fails for good. */
    failed: new Promise<Error>(() => {}),
    numbers: () => db.numbers(),
    check: () => db.check(),
    close: () => db.close(),
  }
}
