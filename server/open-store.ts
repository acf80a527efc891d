// Only this file above the engines knows all writes.
import type { Database } from './store/database.ts'
import type { Noticed } from './store/migrations.ts'
import type { StartTimeout } from './store/postgres/connection/opening.ts'
import type { Store } from './store/store.ts'
import * as writes from './writes.ts'

export const usualPartitions = 8

type Options = { partitions?: number; startTimeout?: StartTimeout } & Noticed

/** `startTimeout`: waits only for a PostgreSQL that is away or starting. */
export async function openStore(
  database: Database,
  { partitions = usualPartitions, startTimeout, onNotice }: Options = {},
): Promise<{ store: Store; migrations: string[] }> {
  if (database.engine === 'postgres') {
    const { openPostgresStore } = await import('./store/postgres/store.ts')
    return openPostgresStore(database.url, { partitions, startTimeout, onNotice })
  }
  const { openSqliteStore } = await import('./store/sqlite/store.ts')
  return openSqliteStore(database.path, {
    writes,
    writerEntry: new URL('./writer.ts', import.meta.url),
    onNotice,
  })
}
