// The state of an inbox and a page of it as JSON text: one row, one string. `limit +?` and not `limit ?` in the SQL: for a bare parameter
// SQLite lets its value decide about the plan, and prepares the statement again each time.
import { noItems, notificationJsonSql } from '../../notification-json.ts'
import { blockSize, isDense, type PagePlace, unreadAbove } from '../../page-blocks.ts'
import type { InboxState, Page, PageRequest } from '../../store.ts'
import type { Reader } from '../connection.ts'
import { contentSql } from '../content.ts'
import { choosePage, coversSql, isFiltered } from './filtered-pages.ts'
import type { FoundInbox } from './found-inbox.ts'

/** Of the first read-all that covers `seq`: its time, or where it ends. Null if none covers it. `?1` is the user's number. */
function readAllOver(seq: string, column: 'at' | 'through_seq'): string {
  return `(
    select m.${column} from read_mark m
    where m.user_number = ?1 and m.through_seq >= ${seq} and m.through_seq > m.before_through order by m.through_seq limit 1
  )`
}

/** Of a notification `n` that was marked as unread: the time of the first read-all after that which covers it. */
const readAtAgain = `(
    select m.at from read_mark m
    where m.user_number = ?1 and m.version > n.unread_version and m.through_seq >= n.seq order by m.version limit 1
  )`

/** When the notification `n` was read, alone or by a read-all; null if it is unread. `?1` is the user's number. */
export const readAt = `coalesce(n.read_at,
  case when n.unread_version is null then ${readAllOver('n.seq', 'at')} else ${readAtAgain} end)`

/** The `readAt` in an inbox that had a read-all of a category: the time of the first read-all that covers `n`, of all or of its category. */
export const readAtByAnyMark = `coalesce(n.read_at, (
    select at from (
      select * from (
        select m.version, m.at from read_mark m
        where m.user_number = ?1 and n.unread_version is null and m.through_seq >= n.seq and m.through_seq > m.before_through
        order by m.through_seq limit 1
      )
      union all
      select * from (
        select m.version, m.at from read_mark m
        where m.user_number = ?1 and m.version > n.unread_version and m.through_seq >= n.seq order by m.version limit 1
      )
      union all
      select m.version, m.at from category_read_mark m where ${coversSql('?1')}
    ) order by version limit 1
  ))`

/** The JSON text of the notification `n`, which was read at `at`. */
export function notificationSql(at: string): string {
  return contentSql('n', (content) => notificationJsonSql({ content, createdAt: 'n.created_at', readAt: at }))
}

// In a range ?2 is the user's readThrough: no read-all covers what lies beyond it, so none is looked up. Usually the first
// read-all that covers the lowest notification of a page covers the whole page: one look-up for all instead of one for each.
const readAtInRange = `coalesce(n.read_at, case
  when n.seq > ?2 then null
  when n.unread_version is not null then ${readAtAgain}
  when n.seq <= ${readAllOver('?3 + 1', 'through_seq')} then ${readAllOver('?3 + 1', 'at')}
  else ${readAllOver('n.seq', 'at')}
end)`

/** A JSON array, newest first, and the lowest sequence number in it; null without notifications. */
function itemsSql(at: string, condition: string): string {
  return `
  select concat('[', group_concat(text, ','), ']'), min(seq) from (
    select ${notificationSql(at)} as text, n.seq from notification n
    where n.user_number = ?1 and ${condition} order by n.seq desc
  )`
}

const isUnread = 'n.user_number = ?1 and n.seq > ?2 and n.read_at is null'

function unreadItemsSql(chosen: string): string {
  return itemsSql('null', `n.seq in (select n.seq from notification n where ${isUnread} ${chosen})`)
}

const rangeOf = ({ categoryThrough }: InboxState) => (categoryThrough ? rangeByAnyMark : range)

/** Of the sequence numbers in the JSON array `?4`; the lowest of them is `?3` + 1. */
export const chosenItems = itemsSql(readAtInRange, 'n.seq in (select value from json_each(?4))')
export const range = itemsSql(readAtInRange, 'n.seq > ?3 and n.seq <= ?4')
/** Both in an inbox that had a read-all of a category. */
export const chosenItemsByAnyMark = itemsSql(readAtByAnyMark, 'n.seq in (select value from json_each(?4))')
export const rangeByAnyMark = itemsSql(readAtByAnyMark, 'n.seq > ?3 and n.seq <= ?4')
export const unreadBefore = unreadItemsSql('and n.seq < ?3 order by n.seq desc limit +?4')
export const unreadFromOldest = unreadItemsSql('order by n.seq limit +?3 offset +?4')
export const unreadFrom = unreadItemsSql('and n.seq <= ?3 order by n.seq desc limit +?4 offset +?5')

/** The highest and the lowest sequence number of a page of all: no other notification lies between them. */
function boundsSql(chosen: string): string {
  return `select max(seq), min(seq) from (select n.seq from notification n where n.user_number = ?1 ${chosen})`
}

export const boundsFrom = boundsSql('and n.seq <= ?2 order by n.seq desc limit +?3 offset +?4')
export const boundsFromOldest = boundsSql('order by n.seq limit +?2 offset +?3')
export const isUnreadBelow = `select exists (select 1 from notification n where ${isUnread} and n.seq < ?3)`

type ItemsRow = [items: string, lowest: number] | [items: string, lowest: null]

type BoundsRow = [highest: number, lowest: number] | [highest: null, lowest: null]

/** The inbox that the page is read from and, for a deep page among gaps, where it begins. */
type PageSource = FoundInbox & { place?: PagePlace | undefined }

/** 'uncounted' if this is a deep page of an inbox with gaps, and `place` is missing. */
export function pageOf(reader: Reader, query: PageRequest, source: PageSource): Page | 'uncounted' {
  const { user, inbox } = source
  if (isFiltered(query, inbox)) return filteredPageOf(reader, query, source)
  const total = query.status === 'unread' ? inbox.unread : inbox.total
  const found = 'before' in query ? itemsBefore(reader, query, source) : numberedItems(reader, query, source)
  if (found === 'uncounted') return found
  if (!found?.[1]) return emptyPage(inbox, total)
  const [items, lowest] = found
  const hasMore =
    query.status === 'unread'
      ? inbox.markedUnread > 0 || reader.one(isUnreadBelow, user, inbox.readThrough, lowest)?.[0] === 1
      : lowest > inbox.firstSeq
  return { inbox, total, items, next: hasMore ? lowest : null }
}

function filteredPageOf(reader: Reader, query: PageRequest, { user, inbox }: FoundInbox): Page {
  const { seqs, hasMore, total } = choosePage(reader, query, { user, inbox })
  const lowest = seqs.at(-1)
  if (lowest === undefined) return emptyPage(inbox, total)
  const values = [user, inbox.readThrough, lowest - 1, JSON.stringify(seqs)]
  const chosen = inbox.categoryThrough ? chosenItemsByAnyMark : chosenItems
  const [items] = reader.one<[string, number]>(chosen, ...values) ?? [noItems]
  return { inbox, total, items, next: hasMore ? lowest : null }
}

function emptyPage(inbox: InboxState, total: number): Page {
  return { inbox, total, items: noItems, next: null }
}

function itemsBefore(
  reader: Reader,
  { status, before, limit }: PageRequest & { before: number },
  { user, inbox }: FoundInbox,
): ItemsRow | undefined {
  const { lastSeq, readThrough } = inbox
  if (status === 'unread') return reader.one(unreadBefore, user, readThrough, before, limit)
  const highest = Math.min(before - 1, lastSeq)
  if (isDense(inbox, false)) return reader.one(rangeOf(inbox), user, readThrough, highest - limit, highest)
  return between(reader, { user, inbox }, reader.one(boundsFrom, user, highest, limit, 0))
}

function numberedItems(
  reader: Reader,
  { status, page, limit }: PageRequest & { page: number },
  { user, inbox, place }: PageSource,
): ItemsRow | undefined | 'uncounted' {
  const { readThrough, lastSeq } = inbox
  const unreadOnly = status === 'unread'
  const count = unreadOnly ? unreadAbove(inbox) : inbox.total
  const skipped = (page - 1) * limit
  if (skipped >= count) return undefined
  const taken = Math.min(limit, count - skipped)
  const behind = count - skipped - taken
  // Without gaps a page is a range of sequence numbers. Notifications that were read one by one leave gaps between the unread
  // ones, and notifications that were sent again between all. Near either end of the inbox SQLite passes over the
  // notifications; further away the counts of blocks say where the page begins (deep-pages.ts).
  const highest = lastSeq - skipped
  if (isDense(inbox, unreadOnly)) return reader.one(rangeOf(inbox), user, readThrough, highest - taken, highest)
  if (place === undefined && Math.min(skipped, behind) > blockSize) return 'uncounted'
  const from = place ?? (skipped <= behind ? { highest: lastSeq, skip: skipped } : undefined)
  if (unreadOnly)
    return from === undefined
      ? reader.one(unreadFromOldest, user, readThrough, taken, behind)
      : reader.one(unreadFrom, user, readThrough, from.highest, taken, from.skip)
  const bounds =
    from === undefined
      ? reader.one<BoundsRow>(boundsFromOldest, user, taken, behind)
      : reader.one<BoundsRow>(boundsFrom, user, from.highest, taken, from.skip)
  return between(reader, { user, inbox }, bounds)
}

function between(reader: Reader, { user, inbox }: FoundInbox, bounds: BoundsRow | undefined): ItemsRow | undefined {
  if (!bounds?.[0]) return undefined
  const [highest, lowest] = bounds
  return reader.one(rangeOf(inbox), user, inbox.readThrough, lowest - 1, highest)
}
