// Which statement reads a page of an inbox, by itself or with a session, and how its row becomes that page.
import { type Row, toInbox } from '../rows.ts'
import type { Page, PageRequest } from '../store.ts'

export const withSession = {
  page: 'sessionPage',
  before: 'sessionBefore',
  unreadPage: 'sessionUnreadPage',
  unreadBefore: 'sessionUnreadBefore',
} as const

export function nameOf(request: PageRequest): keyof typeof withSession {
  if ('before' in request) return request.unreadOnly ? 'unreadBefore' : 'before'
  return request.unreadOnly ? 'unreadPage' : 'page'
}

export function placeOf(request: PageRequest): number {
  return fitting('before' in request ? request.before : (request.page - 1) * request.limit)
}

/** A caller may name what is beyond every bigint, and PostgreSQL refuses it. */
export function fitting(number: number): number {
  return Math.min(number, Number.MAX_SAFE_INTEGER)
}

/** The columns of a page, which begin at `at`. */
export function toPage(row: Row, at = 0): Page {
  const [items, lowest, hasOlder] = row.slice(at + 6) as [string, number, boolean]
  return { inbox: toInbox(row, at), items, next: hasOlder ? lowest : null }
}

/** Whether `unreadPage` returned nothing because the page is a deep one, among gaps: deep-unread.ts reads it. */
export function isDeepUnread<Request extends PageRequest>(
  request: Request,
  { items, inbox }: Page,
): request is Request & { page: number } {
  if (items !== '[]' || !request.unreadOnly || 'before' in request) return false
  return (request.page - 1) * request.limit < inbox.unread
}
