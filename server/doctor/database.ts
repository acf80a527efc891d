// Does the database exist, and what does the examination of its engine find?
import type { Database } from '../config/database-url.ts'
import { refuseLostDatabase, refuseMissingDatabase } from '../start/database-file.ts'
import { faultOf } from './finding.ts'
import { type Examined, unread } from './store/findings.ts'

export async function examineDatabase(database: Database, now: () => number): Promise<Examined> {
  try {
    refuseLostDatabase(database)
    refuseMissingDatabase(database)
    if (database.engine === 'postgres')
      return await (await import('./store/postgres.ts')).examinePostgres(database.url, now)
    return await (await import('./store/sqlite.ts')).examineSqlite(database.path, now)
  } catch (error) {
    return unread(faultOf('database', error, 'correct CARILLON_DATABASE_URL'))
  }
}
