// Upgrades a database file with rows from before migration 0006, alone: no other process may read or write it until the rows are
// moved. A node of the version before would read tables that are being emptied.
import { statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CarillonError } from '../../../errors.ts'
import { busy, connect, Database, resultCode, sortBeside } from '../database.ts'
import { continuedHistory, stampDatabase } from '../file/identity.ts'
import { appliedMigrations, migrate } from '../migrate.ts'
import { isHalfUpgraded, type UpgradeReport } from './move-rows.ts'

const movingMigration = '0006-half-the-cost'
const waitMs = 5_000
const tryEveryMs = 50
const mebibyte = 2 ** 20

/** Not a database without users: then nothing is to be moved, and several processes may start at the same time. */
export function hasOldRows(database: Database): boolean {
  // One snapshot: another process may be creating the tables of now.
  database.exec('begin')
  try {
    return findsOldRows(database)
  } finally {
    // An I/O error may have ended it.
    if (database.isTransaction) database.exec('rollback')
  }
}

function findsOldRows(database: Database): boolean {
  if (isHalfUpgraded(database)) return true
  const applied = appliedMigrations(database)
  if (applied.length === 0 || applied.includes(movingMigration)) return false
  return database.prepare('select 1 from user limit 1').get() !== undefined
}

/** Returns the applied migrations. Throws UNAVAILABLE, and has changed nothing, if the file is in use or the disk is too full. */
export async function upgradeFile(
  path: string,
  { report, freeOn = freeBytesOn }: { report?: UpgradeReport | undefined; freeOn?: (folder: string) => number } = {},
): Promise<string[]> {
  const database = await openAlone(path)
  if (database === undefined) return []
  try {
    if (!hasOldRows(database)) return []
    refuseFullDisk(path, freeOn(dirname(path)))
    // If the process is killed and the file is replaced by a backup, the next start must not apply the log to it (decision 0023).
    stampDatabase(database, { path, history: continuedHistory(database, path) })
    // A power failure may undo the last transactions, whole ones; their rows are moved again.
    database.exec('pragma synchronous = normal; pragma wal_autocheckpoint = 4000; pragma cache_size = -16384')
    sortBeside(database, path)
    // The ledger has its name since the rows began to move; it is applied when they all have.
    const finished = isHalfUpgraded(database) ? [movingMigration] : []
    return [...finished, ...(await migrate(database, report && { report }))]
  } finally {
    database.close()
  }
}

/**
 * Every other connection prevents the exclusive lock, which also an idle one does; while it is held, SQLite refuses any other.
 * Undefined if another process has moved the rows before this one could.
 */
async function openAlone(path: string): Promise<Database | undefined> {
  const giveUpAt = performance.now() + waitMs
  for (;;) {
    const database = connect(path)
    try {
      database.exec(`pragma busy_timeout = ${tryEveryMs}; pragma locking_mode = exclusive; begin immediate; rollback`)
      return database
    } catch (error) {
      database.close()
      if (resultCode(error) !== busy) throw error
      if (areRowsMoved(path)) return undefined
      if (performance.now() > giveUpAt) throw inUse(path, error)
    }
    await sleep(tryEveryMs)
  }
}

function areRowsMoved(path: string): boolean {
  const database = new Database(path, { timeout: 0 })
  try {
    return !hasOldRows(database)
  } catch (error) {
    if (resultCode(error) !== busy) throw error
    return false
  } finally {
    database.close()
  }
}

function inUse(path: string, cause: unknown): CarillonError {
  return new CarillonError('UNAVAILABLE', `${path} is used by another process, and this version has to move its rows`, {
    remedy: 'Stop every Carillon process on this database, then start again. The database was left as it is.',
    cause,
  })
}

/**
 * The file itself keeps its size. Beside it are the log and the index that is sorted at the end: 45 bytes for each notification, which
 * takes at least 300 bytes of the file, and 16 MB (measured with 2,000,000).
 */
function refuseFullDisk(path: string, free: number): void {
  const missing = 64 * mebibyte + statSync(path).size / 6 - free
  if (missing <= 0) return
  const needed = Math.ceil(missing / mebibyte)
  throw new CarillonError(
    'UNAVAILABLE',
    `${path} cannot be upgraded: its disk needs ${needed} MiB more of free space`,
    {
      remedy: 'Make room, then start again. The database was left as it is.',
    },
  )
}

function freeBytesOn(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}
