// A database URL -> a side of a move, and how the URL is shown.
import { resolve } from 'node:path'
import { isPostgres, sqlitePath } from '../../../config/database-url.ts'
import { CarillonError } from '../../../errors.ts'
import { usualPartitions } from '../../open.ts'
import { halfFilled } from '../../transfer-state.ts'
import { refuseOtherSchema } from '../fill.ts'
import { type Side, sideFailure } from './endpoint.ts'

/** Opens a database whatever state it is in; makes the file where SQLite has none. `partitions`: see migrate. */
export async function openSide(url: string, { partitions = usualPartitions } = {}): Promise<Side> {
  if (isPostgres(url)) {
    const { PostgresSide } = await import('./postgres.ts')
    return PostgresSide.open(url, { partitions, shown: shownUrl(url) })
  }
  const path = pathIn(url)
  const { SqliteSide } = await import('./sqlite.ts')
  return SqliteSide.open(path)
}

/** Opens a database that is whole and of this program's schema. */
export async function openSource(url: string): Promise<Side> {
  const side = await openSide(url)
  try {
    await refuseOtherSchema(side, shownUrl(url))
    if ((await side.filling()) !== null) throw sideFailure(halfFilled(), shownUrl(url))
    return side
  } catch (error) {
    await side.close()
    throw error
  }
}

/** Without user and password, which nobody has to see. */
export function shownUrl(url: string): string {
  if (!isPostgres(url)) return pathIn(url)
  const parsed = URL.parse(url)
  return parsed === null ? 'the PostgreSQL database' : `postgres://${parsed.host}${parsed.pathname}`
}

export function isSamePlace(one: string, other: string): boolean {
  return shownUrl(one) === shownUrl(other)
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
