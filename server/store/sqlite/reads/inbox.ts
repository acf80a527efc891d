// Reads one user's inbox: its state, a page, one notification, counts. Changes are in changes.ts.

import type { PagePlace } from '../../page-blocks.ts'
import type { Counts, InboxState, Input, Page, PageQuery } from '../../store.ts'
import type { Reader } from '../connection.ts'
import { readDeepPage } from './deep-pages.ts'
import { inboxOf, notificationSql, pageOf, readAt } from './pages.ts'

export async function readInbox(reader: Reader, userId: string): Promise<InboxState> {
  return inboxOf(reader, userId)
}

export async function readPage(reader: Reader, query: PageQuery): Promise<Page | 'unchanged'> {
  const page = pageNow(reader, query)
  return page === 'uncounted' ? readDeepPage(reader, query, (place) => pageNow(reader, query, place)) : page
}

function pageNow(reader: Reader, query: PageQuery, place?: PagePlace): Page | 'unchanged' | 'uncounted' {
  const inbox = inboxOf(reader, query.userId)
  return inbox.version === query.unlessVersion ? 'unchanged' : pageOf(reader, query, { inbox, place })
}

export const notificationById = `
  select ${notificationSql(readAt)} from notification n where n.user_id = ?1 and n.id = ?2`

export async function readNotification(reader: Reader, of: Input<'readNotification'>): Promise<string | undefined> {
  return reader.one<[string]>(notificationById, of.userId, of.id)?.[0]
}

export const categoryCounts = `
  select category, total, unread from inbox_category where user_id = ? and total > 0 order by category`

export async function readCounts(reader: Reader, userId: string): Promise<Counts> {
  const categories: Counts['categories'] = Object.create(null)
  for (const [category, total, unread] of reader.all<[string, number, number]>(categoryCounts, userId))
    categories[category] = { total, unread }
  return { inbox: inboxOf(reader, userId), categories }
}
