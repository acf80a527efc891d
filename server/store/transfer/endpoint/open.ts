// A database URL -> a side of a move, and how the URL is shown.
import { resolve } from 'node:path'
import { isPostgres, sqlitePath } from '../../../config/database-url.ts'
import { CarillonError } from '../../../errors.ts'
import { usualPartitions } from '../../open.ts'
import { halfFilled } from '../../transfer-state.ts'
import { refuseOtherSchema } from '../fill.ts'
import { type Endpoint, endpointFailure } from './endpoint.ts'

/** Opens a database whatever state it is in; makes the file where SQLite has none. `partitions`: see migrate. */
export async function openEndpoint(url: string, { partitions = usualPartitions } = {}): Promise<Endpoint> {
  if (isPostgres(url)) {
    const { PostgresEndpoint } = await import('./postgres.ts')
    return PostgresEndpoint.open(url, { partitions, shown: displayUrl(url) })
  }
  const path = pathIn(url)
  const { SqliteEndpoint } = await import('./sqlite.ts')
  return SqliteEndpoint.open(path)
}

/** Opens a database that is whole and of this program's schema. */
export async function openSource(url: string): Promise<Endpoint> {
  const side = await openEndpoint(url)
  try {
    await refuseOtherSchema(side, displayUrl(url))
    if ((await side.filling()) !== null) throw endpointFailure(halfFilled(), displayUrl(url))
    return side
  } catch (error) {
    await side.close()
    throw error
  }
}

/** Without user and password, which nobody has to see. */
export function displayUrl(url: string): string {
  if (!isPostgres(url)) return pathIn(url)
  const parsed = URL.parse(url)
  return parsed === null ? 'the PostgreSQL database' : `postgres://${parsed.host}${parsed.pathname}`
}

export function isSamePlace(one: string, other: string): boolean {
  return displayUrl(one) === displayUrl(other)
}

/** Absolute, because SQLite takes ':memory:' and 'file:' for something else than a file's name. */
function pathIn(url: string): string {
  const path = sqlitePath(url)
  if (path === undefined || path === '')
    throw new CarillonError(
      'INVALID_REQUEST',
      'A database is named sqlite:<path of a file> or postgres://<user>@<host>/<database>',
    )
  return resolve(path)
}
