// A database URL -> its engine. The only file above the engines that knows them.
import { CarillonError } from '../errors.ts'
import type { Store } from './store.ts'

/** The path of an embedded database, or undefined where the URL names another engine. */
export function sqlitePath(url: string): string | undefined {
  return url.startsWith('sqlite:') ? url.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '') : undefined
}

/** Opens the store and brings it to this program's schema; `migrations` names what was applied just now. */
export async function openStore(url: string): Promise<{ store: Store; migrations: string[] }> {
  const path = sqlitePath(url)
  if (path === undefined || path === '')
    throw new CarillonError(
      'INVALID_REQUEST',
      'CARILLON_DATABASE_URL must be sqlite:<path of a file>, for example sqlite:data/carillon.db',
    )
  const { openSqliteStore } = await import('./sqlite/sqlite-store.ts')
  return openSqliteStore(path)
}
