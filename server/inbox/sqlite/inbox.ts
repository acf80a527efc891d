// Reads one user's inbox: its state, a page, one notification, counts. Changes are in changes.ts.

import { yieldToEventLoop } from '../../basics/event-loop.ts'
import type { Reader } from '../../store/sqlite/reader.ts'
import { userKey } from '../../store/sqlite/user-key.ts'
import type { Counts, InboxState, OneNotification, Page, PageQuery } from '../inbox-state.ts'
import { inboxOf } from './found-inbox.ts'
import { maxSkipped, notificationSql, pageOf, placeOf, readAt, readAtByAnyMark } from './pages.ts'
import { seqsAt } from './runs.ts'

export async function readInbox(reader: Reader, userId: string): Promise<InboxState> {
  return inboxOf(reader, userId).inbox
}

export const inboxVersion = 'select version from inbox where user_id = ?'

export async function readPage(reader: Reader, query: PageQuery): Promise<Page | 'unchanged'> {
  const { userId, unlessVersion } = query
  // The version alone costs half as much as the whole row, and usually nothing has changed.
  if (unlessVersion !== undefined && (reader.one<[number]>(inboxVersion, userKey(userId))?.[0] ?? 0) === unlessVersion)
    return 'unchanged'
  const page = pageOf(reader, query, inboxOf(reader, userId))
  return page === 'far' ? reader.atOneMoment((moment) => readFarPage(moment, query)) : page
}

/** Passes over the notifications above the page, and lets the event loop turn in between. */
async function readFarPage(reader: Reader, query: PageQuery): Promise<Page> {
  const found = inboxOf(reader, query.userId)
  for (let place = placeOf(query, found.inbox); ; ) {
    const page = pageOf(reader, query, { ...found, place })
    if (page !== 'far') return page
    const [lowest = 0] = seqsAt(reader, query, { ...found, below: place.below, skipped: maxSkipped - 1, taken: 1 })
    place = { below: lowest, skipped: place.skipped - maxSkipped }
    await yieldToEventLoop()
  }
}

const byIdSql = (at: string) => `
  select ${notificationSql(at)} from notification n indexed by notification_by_id
  where substr(n.id, 1, 13) = substr(?2, 1, 13) and n.user_id = ?1 and n.id = ?2`
export const notificationById = byIdSql(readAt)
export const notificationByIdByAnyMark = byIdSql(readAtByAnyMark)

export async function readNotification(reader: Reader, of: OneNotification): Promise<string | undefined> {
  const { user, inbox } = inboxOf(reader, of.userId)
  const text = inbox.categoryThrough ? notificationByIdByAnyMark : notificationById
  return reader.one<[string]>(text, user, of.id)?.[0]
}

export const categoryCounts = `
  select category, total, unread from inbox_category where user_id = ? and total > 0 order by category`

export async function readCounts(reader: Reader, userId: string): Promise<Counts> {
  const categories: Counts['categories'] = Object.create(null)
  const { user, inbox } = inboxOf(reader, userId)
  for (const [category, total, unread] of reader.all<[string, number, number]>(categoryCounts, user))
    categories[category] = { total, unread }
  return { inbox, categories }
}
