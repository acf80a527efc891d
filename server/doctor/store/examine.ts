// A database URL -> what its engine finds wrong there. Looks only: nothing is made, migrated or written.

import { isPostgres, sqlitePath } from '../../config/database-url.ts'
import { fault } from '../finding.ts'
import type { Examination, Examined } from './findings.ts'

export async function examineStore(url: string, how: Examination): Promise<Examined> {
  if (isPostgres(url)) {
    const { examinePostgres } = await import('./postgres.ts')
    return examinePostgres(url, how)
  }
  const path = sqlitePath(url)
  if (path === undefined || path === '') {
    const change = 'CARILLON_DATABASE_URL=sqlite:data/carillon.db, or postgres://USER@HOST/DATABASE'
    const found = 'CARILLON_DATABASE_URL names no engine that Carillon speaks to'
    return { findings: [fault('database', { found, change })], signingKeys: undefined }
  }
  const { examineSqlite } = await import('./sqlite.ts')
  return examineSqlite(path, how)
}
