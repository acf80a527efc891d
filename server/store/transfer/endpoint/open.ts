// Opens a database as an endpoint of a transfer.
import { resolve } from 'node:path'
import { type Database, displayDatabase } from '../../../config/database-url.ts'
import { usualPartitions } from '../../open.ts'
import { halfFilled } from '../../transfer-state.ts'
import { refuseOtherSchema } from '../fill.ts'
import { type Endpoint, endpointFailure } from './endpoint.ts'

/** Opens a database in any state; creates the file if SQLite has none. `partitions`: see migrate. */
export async function openEndpoint(database: Database, { partitions = usualPartitions } = {}): Promise<Endpoint> {
  if (database.engine === 'postgres') {
    const { openPostgres } = await import('./postgres.ts')
    return openPostgres(database.url, { partitions, name: displayDatabase(database) })
  }
  const { openSqlite } = await import('./sqlite.ts')
  // Absolute, because SQLite does not take ':memory:' and 'file:' as the names of files.
  return openSqlite(resolve(database.path))
}

/** Opens a database that is not half filled and has this program's schema. */
export async function openSource(database: Database): Promise<Endpoint> {
  const endpoint = await openEndpoint(database)
  try {
    await refuseOtherSchema(endpoint, displayDatabase(database))
    if ((await endpoint.filling()) !== null) throw endpointFailure(halfFilled(), displayDatabase(database))
    return endpoint
  } catch (error) {
    await endpoint.close()
    throw error
  }
}
