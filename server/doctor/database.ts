// Does the database exist, and what does the examination of its engine find?
import type { Database } from '../config/database-url.ts'
import { refuseLostDatabase, refuseMissingDatabase } from '../start/database-file.ts'
import { faultOf } from './finding.ts'
import { examineStore } from './store/examine.ts'
import type { Examination, Examined } from './store/findings.ts'

export async function examineDatabase(database: Database, how: Examination): Promise<Examined> {
  try {
    refuseLostDatabase(database)
    refuseMissingDatabase(database)
    return await examineStore(database, how)
  } catch (error) {
    return { findings: [faultOf('database', error, 'correct CARILLON_DATABASE_URL')], signingKeys: undefined }
  }
}
