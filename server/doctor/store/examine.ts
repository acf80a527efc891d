// What does the engine of a database find wrong in it? Reads only: nothing is made, migrated or written.
import type { Database } from '../../config/database-url.ts'
import type { Examination, Examined } from './findings.ts'

export async function examineStore(database: Database, how: Examination): Promise<Examined> {
  if (database.engine === 'postgres') {
    const { examinePostgres } = await import('./postgres.ts')
    return examinePostgres(database.url, how)
  }
  const { examineSqlite } = await import('./sqlite.ts')
  return examineSqlite(database.path, how)
}
