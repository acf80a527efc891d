// A database URL -> its open store. The only file above the engines that knows them.
import { isPostgres, sqlitePath } from '../config/database-url.ts'
import { CarillonError } from '../errors.ts'
import type { StartTimeout } from './postgres/connection/connection.ts'
import type { Store } from './store.ts'

/** How many parts the first migration of a PostgreSQL database makes of what belongs to users. */
export const usualPartitions = 8

/**
 * Opens the store and brings it to this program's schema; `migrations` names what was applied just now. With `startTimeout`
 * it waits for a PostgreSQL server that cannot be reached, is starting or has no connection left, and for nothing else.
 * `notice` is a sentence for the operator.
 */
export async function openStore(
  url: string,
  { partitions = usualPartitions, startTimeout }: { partitions?: number; startTimeout?: StartTimeout } = {},
): Promise<{ store: Store; migrations: string[]; notice?: string }> {
  if (isPostgres(url)) {
    const { openPostgresStore } = await import('./postgres/postgres-store.ts')
    return openPostgresStore(url, { partitions, ...(startTimeout && { startTimeout }) })
  }
  const path = sqlitePath(url)
  if (path === undefined || path === '')
    throw new CarillonError(
      'INVALID_REQUEST',
      'CARILLON_DATABASE_URL must be sqlite:<path of a file>, for example sqlite:data/carillon.db, or ' +
        'postgres://<user>@<host>/<database>',
    )
  const { openSqliteStore } = await import('./sqlite/sqlite-store.ts')
  return openSqliteStore(path)
}
