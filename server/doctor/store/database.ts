import type { Database } from '../../store/database.ts'
import { faultOf } from '../finding.ts'
import { type Depth, type Examined, unread } from './findings.ts'

/** Errors are findings, too. */
export async function examineDatabase(
  database: Database,
  now: () => number,
  depth: Depth = 'usual',
): Promise<Examined> {
  try {
    if (database.engine === 'postgres')
      return await (await import('./postgres.ts')).examinePostgres(database.url, now, depth)
    return await (await import('./sqlite.ts')).examineSqlite(database.path, now, depth)
  } catch (error) {
    return unread(faultOf('database', error, 'correct CARILLON_DATABASE_URL'))
  }
}
