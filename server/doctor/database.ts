// Is the database where it is expected, and what does its engine find there?
import { refuseLostDatabase, refuseMissingDatabase } from '../start/database-file.ts'
import { faultOf } from './finding.ts'
import { examineStore } from './store/examine.ts'
import type { Examination, Examined } from './store/findings.ts'

export async function examineDatabase(url: string, how: Examination): Promise<Examined> {
  try {
    refuseLostDatabase(url)
    refuseMissingDatabase(url)
    return await examineStore(url, how)
  } catch (error) {
    return { findings: [faultOf('database', error, 'correct CARILLON_DATABASE_URL')], signingKeys: undefined }
  }
}
