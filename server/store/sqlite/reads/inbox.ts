// Reads one user's inbox: its state, a page, one notification, counts. Changes are in changes.ts.

import type { PagePlace } from '../../page-blocks.ts'
import type { Counts, InboxState, Input, Page, PageQuery } from '../../store.ts'
import type { Reader } from '../connection.ts'
import { readDeepPage } from './deep-pages.ts'
import { inboxOf } from './found-inbox.ts'
import { notificationSql, pageOf, readAt, readAtByAnyMark } from './pages.ts'

export async function readInbox(reader: Reader, userId: string): Promise<InboxState> {
  return inboxOf(reader, userId).inbox
}

export const inboxVersion = `
  select version from inbox where user_number = (select number from user where id = ?) and category = ''`

export async function readPage(reader: Reader, query: PageQuery): Promise<Page | 'unchanged'> {
  const { userId, unlessVersion } = query
  // The version alone costs half as much as the whole row, and usually nothing has changed.
  if (unlessVersion !== undefined && (reader.one<[number]>(inboxVersion, userId)?.[0] ?? 0) === unlessVersion)
    return 'unchanged'
  const page = pageNow(reader, query)
  return page === 'uncounted' ? readDeepPage(reader, query, (place) => pageNow(reader, query, place)) : page
}

function pageNow(reader: Reader, query: PageQuery, place?: PagePlace): Page | 'uncounted' {
  return pageOf(reader, query, { ...inboxOf(reader, query.userId), place })
}

const byIdSql = (at: string) => `
  select ${notificationSql(at)} from notification n indexed by notification_by_id
  where substr(n.id, 1, 13) = substr(?2, 1, 13) and n.user_number = ?1 and n.id = ?2`
export const notificationById = byIdSql(readAt)
export const notificationByIdByAnyMark = byIdSql(readAtByAnyMark)

export async function readNotification(reader: Reader, of: Input<'readNotification'>): Promise<string | undefined> {
  const { user, inbox } = inboxOf(reader, of.userId)
  const text = inbox.categoryThrough ? notificationByIdByAnyMark : notificationById
  return reader.one<[string]>(text, user, of.id)?.[0]
}

export const categoryCounts = `
  select category, total, unread from inbox where user_number = ? and category > '' and total > 0 order by category`

export async function readCounts(reader: Reader, userId: string): Promise<Counts> {
  const categories: Counts['categories'] = Object.create(null)
  const { user, inbox } = inboxOf(reader, userId)
  for (const [category, total, unread] of reader.all<[string, number, number]>(categoryCounts, user))
    categories[category] = { total, unread }
  return { inbox, categories }
}
