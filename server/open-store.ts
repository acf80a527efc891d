// Opens the store of a database, with the writes of all rooms. The only file above the engines that knows them.
import type { Database } from './config/database-url.ts'
import type { Noticed } from './store/migrations.ts'
import type { StartTimeout } from './store/postgres/connection/opening.ts'
import type { Store } from './store/store.ts'
import * as writes from './writes.ts'

/** How many partitions a new PostgreSQL database gets for each table that belongs to users. */
export const usualPartitions = 8

type Options = { partitions?: number; startTimeout?: StartTimeout } & Noticed

/**
 * `migrations`: those that were applied. With `startTimeout` it waits for a PostgreSQL server that cannot be reached, is starting or has no
 * connection left, and for nothing else.
 */
export async function openStore(
  database: Database,
  { partitions = usualPartitions, startTimeout, onNotice }: Options = {},
): Promise<{ store: Store; migrations: string[] }> {
  if (database.engine === 'postgres') {
    const { openPostgresStore } = await import('./store/postgres/store.ts')
    return openPostgresStore(database.url, { partitions, startTimeout, onNotice })
  }
  const { openSqliteStore } = await import('./store/sqlite/store.ts')
  return openSqliteStore(database.path, { writes, writerEntry: new URL('./writer.ts', import.meta.url), onNotice })
}
