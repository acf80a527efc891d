// Is the database where it is expected? An engine makes the file that is missing; these say when nobody can have meant
// that (TRUST, R6): a new, empty database over a lost one looks like a healthy service that has forgotten everybody.
import { existsSync } from 'node:fs'
import { sqlitePath } from './config/database-url.ts'
import { CarillonError } from './errors.ts'
import { secretFileOf } from './sealing-secret.ts'

/** For those who may make it. Throws UNAVAILABLE where what stood beside the database is there, and it is not. */
export function refuseLostDatabase(url: string): void {
  const path = sqlitePath(url)
  if (path === undefined || existsSync(path)) return
  const left = [`${path}-wal`, secretFileOf(path)].find((file) => existsSync(file))
  if (left !== undefined)
    throw new CarillonError(
      'UNAVAILABLE',
      `${path} is gone, but ${left} is still there. Restore the database; to begin anew, remove that file too.`,
    )
}

/** For those who only use it. Throws UNAVAILABLE where there is none. */
export function refuseMissingDatabase(url: string): void {
  const path = sqlitePath(url)
  if (path === undefined || existsSync(path)) return
  throw new CarillonError(
    'UNAVAILABLE',
    `There is no database ${path}. Name the right one in CARILLON_DATABASE_URL, or make it with: carillon migrate`,
  )
}
