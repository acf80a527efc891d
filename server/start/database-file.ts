// Is a database lost? SQLite creates a missing file and fills an empty one. These checks refuse that if a file that belongs to it is still
// there (R6): with a new, empty database in its place, a healthy service would have lost every user. store/sqlite/database.ts refuses a
// truncated one.
import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { unavailable } from '../basics/errors.ts'
import type { Database } from '../config/database-url.ts'
import { secretFileOf } from './sealing-secret.ts'

/** Commands that may create the database call it. Throws UNAVAILABLE if it is lost, but a file that belongs to it is there. */
export function refuseLostDatabase(database: Database): void {
  if (database.engine !== 'sqlite') return
  const { path } = database
  const secret = secretFileOf(path)
  const log = `${path}-wal`
  const firstSignIn = join(dirname(path), 'first-sign-in.txt')
  // Before the look at the database: another process may be creating both now, and it creates the secret last.
  const beside = [secret, log, firstSignIn].filter((file) => existsSync(file))
  const loss = lossOf(path, log)
  if (loss === undefined) return
  const isGone = loss === 'is gone'
  const left = beside.find((file) => {
    // SQLite would delete the log of an empty file. Until the first checkpoint, a log may hold all tables.
    if (file === log) return isGone || statSync(log).size > 0
    // If there is no database, this file may belong to another one in the folder.
    return file !== firstSignIn || !isGone
  })
  const remedy = 'Restore the database; to start with an empty one, remove that file too.'
  if (left) throw unavailable(`${path} ${loss}, but ${left} is still there`, remedy)
}

function lossOf(path: string, log: string): 'is gone' | 'is empty' | 'has no table' | undefined {
  // In a folder of another user it is refused when it is opened.
  const status = existsSync(path) ? statSync(path, { throwIfNoEntry: false }) : undefined
  if (status === undefined) return 'is gone'
  if (status.size === 0) return 'is empty'
  // Until the first checkpoint, the log has the tables.
  return !existsSync(log) && hasNoTable(path) ? 'has no table' : undefined
}

/** The first page is a leaf without a cell: https://sqlite.org/fileformat.html section 1.6. */
function hasNoTable(path: string): boolean {
  const start = Buffer.alloc(105)
  let file: number | undefined
  try {
    file = openSync(path, 'r')
    readSync(file, start)
  } catch {
    // It is refused when it is opened.
    return false
  } finally {
    if (file !== undefined) closeSync(file)
  }
  return start.toString('latin1', 0, 15) === 'SQLite format 3' && start[100] === 0x0d && start.readUInt16BE(103) === 0
}

/** For commands that need an existing database. Throws UNAVAILABLE if there is none, or as `refuseLostDatabase` does. */
export function refuseMissingDatabase(database: Database): void {
  if (database.engine !== 'sqlite') return
  const { path } = database
  const remedy = 'Correct CARILLON_DATABASE_URL, or create the database with: carillon migrate'
  if (!existsSync(path)) throw unavailable(`There is no database ${path}`, remedy)
  refuseLostDatabase(database)
}
