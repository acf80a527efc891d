// Is the database where it is expected, and what does its engine find there?
import { refuseLostDatabase, refuseMissingDatabase } from '../database-file.ts'
import { faultOf } from '../finding.ts'
import { examineStore } from '../store/examine.ts'
import type { Examined } from '../store/examined.ts'

export async function examineDatabase(url: string, { now }: { now: () => number }): Promise<Examined> {
  try {
    refuseLostDatabase(url)
    refuseMissingDatabase(url)
    return await examineStore(url, { now })
  } catch (error) {
    return { findings: [faultOf('database', error, 'correct CARILLON_DATABASE_URL')], signingKeys: undefined }
  }
}
