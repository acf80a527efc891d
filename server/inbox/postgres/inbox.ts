// Reads a page of one user's inbox on PostgreSQL.
import type { Database } from '../../store/postgres/connection/connection.ts'
import type { Row } from '../../store/postgres/connection/gathering.ts'
import type { Page, PageQuery } from '../inbox-state.ts'
import { pageParameters, pageStatement, toPage } from './pages.ts'

export async function readPage(db: Database, query: PageQuery): Promise<Page | 'unchanged'> {
  const { userId, unlessVersion } = query
  // The version alone costs half as much as a page, and usually nothing has changed.
  if (unlessVersion !== undefined && (await readVersion(db, userId)) === unlessVersion) return 'unchanged'
  return db.byMarks(userId, async (hasCategoryMarks) => {
    const { name, text } = pageStatement(query, hasCategoryMarks)
    return toPage((await db.one(name, text, [userId, ...pageParameters(query)])) as Row)
  })
}

async function readVersion(db: Database, userId: string): Promise<number> {
  const row = await db.one('inboxVersion', 'select version from inbox where user_id = $1', [userId])
  return (row?.[0] as number | undefined) ?? 0
}
