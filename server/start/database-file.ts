// Is a database lost? SQLite would fill a missing or empty file, and no user would be left. Refuses
// if another file of the database is there (R6).
import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { unavailable } from '../basics/errors.ts'
import type { Database } from '../store/database.ts'
import { secretFileOf } from '../tokens/sealing-secret.ts'

/** Commands that may create the database call it. */
export function refuseLostDatabase(database: Database): void {
  if (database.engine !== 'sqlite') return
  const { path } = database
  const secret = secretFileOf(path)
  const log = `${path}-wal`
  const firstSignIn = join(dirname(path), 'first-sign-in.txt')
  // Another process may be creating both, the secret last.
  const beside = [secret, log, firstSignIn].filter((file) => existsSync(file))
  const loss = lossOf(path, log)
  if (loss === undefined) return
  const isGone = loss === 'is gone'
  const left = beside.find((file) => {
    // SQLite would delete an empty file's log, perhaps with all tables.
    if (file === log) return isGone || statSync(log).size > 0
    return file !== firstSignIn || !isGone
  })
  const remedy = 'Restore the database; to start with an empty one, remove that file too.'
  if (left) throw unavailable(`${path} ${loss}, but ${left} is still there`, remedy)
}

function lossOf(path: string, log: string): 'is gone' | 'is empty' | 'has no table' | undefined {
  const status = existsSync(path) ? statSync(path, { throwIfNoEntry: false }) : undefined
  if (status === undefined) return 'is gone'
  if (status.size === 0) return 'is empty'
  // Until the first checkpoint, the log has the tables.
  return !existsSync(log) && hasNoTable(path) ? 'has no table' : undefined
}

/** A leaf without a cell: https://sqlite.org/fileformat.html section 1.6. */
function hasNoTable(path: string): boolean {
  const start = Buffer.alloc(105)
  let file: number | undefined
  try {
    file = openSync(path, 'r')
    readSync(file, start)
  } catch {
    return false
  } finally {
    if (file !== undefined) closeSync(file)
  }
  return (
    start.toString('latin1', 0, 15) === 'SQLite format 3' &&
    start[100] === 0x0d &&
    start.readUInt16BE(103) === 0
  )
}

export function refuseMissingDatabase(database: Database): void {
  if (database.engine !== 'sqlite') return
  const { path } = database
  const remedy =
    'It may be in another folder: run the command there, or correct CARILLON_DATABASE_URL. To create one: carillon migrate'
  if (!existsSync(path)) throw unavailable(`There is no database ${path}`, remedy)
  refuseLostDatabase(database)
}
