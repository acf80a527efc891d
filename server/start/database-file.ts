// Was a database lost? SQLite creates a missing file and fills an empty one. These checks refuse that if a database was there
// before (R6): with a new, empty database in its place, a healthy service would have lost every user. SQLite itself refuses a truncated one.
import { existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { CarillonError } from '../basics/errors.ts'
import type { Database } from '../config/database-url.ts'
import { secretFileOf } from './sealing-secret.ts'

/** For commands that may create the database. Throws UNAVAILABLE if it is missing or empty, but a file that belongs to it is still there. */
export function refuseLostDatabase(database: Database): void {
  if (database.engine !== 'sqlite') return
  const { path } = database
  const [secret, log, firstSignIn] = [secretFileOf(path), `${path}-wal`, join(dirname(path), 'first-sign-in.txt')]
  // Before the look at the database: another process may be creating both now, and it creates the secret last.
  const beside = [secret, log, firstSignIn].filter((file) => existsSync(file))
  const status = statSync(path, { throwIfNoEntry: false })
  if (status !== undefined && status.size > 0) return
  const isGone = status === undefined
  const left = beside.find((file) => {
    // SQLite would delete the log of an empty file. Until the first checkpoint, a log may hold all tables.
    if (file === log) return isGone || statSync(log).size > 0
    // If there is no database, this file may belong to another one in the folder.
    return file !== firstSignIn || !isGone
  })
  if (left === undefined) return
  throw new CarillonError('UNAVAILABLE', `${path} is ${isGone ? 'gone' : 'empty'}, but ${left} is still there`, {
    remedy: 'Restore the database; to start with an empty one, remove that file too.',
  })
}

/** For commands that need an existing database. Throws UNAVAILABLE if there is none, or as `refuseLostDatabase` does. */
export function refuseMissingDatabase(database: Database): void {
  if (database.engine !== 'sqlite') return
  const { path } = database
  if (!existsSync(path))
    throw new CarillonError('UNAVAILABLE', `There is no database ${path}`, {
      remedy: 'Correct CARILLON_DATABASE_URL, or create the database with: carillon migrate',
    })
  refuseLostDatabase(database)
}
