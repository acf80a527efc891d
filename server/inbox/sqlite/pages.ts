// The state of an inbox and a page of it as JSON text: one row, one string. `limit +?` and not `limit ?` in the SQL: for a bare parameter
// SQLite lets its value decide about the plan, and prepares the statement again each time.
import type { Reader } from '../../store/sqlite/reader.ts'
import type { InboxState, Page, PageRequest } from '../inbox-state.ts'
import { noItems, notificationJsonSql } from '../notification-json.ts'
import { readAllOver, readAtAgain, readAtByAnyMarkSql, readAtSql } from '../read-at.ts'
import type { FoundInbox } from './found-inbox.ts'
import { type Place, seqsAt, totalOf } from './runs.ts'

export const readAt = readAtSql('?1')
export const readAtByAnyMark = readAtByAnyMarkSql('?1')

/** The JSON text of the notification `n`, which was read at `at`. */
export function notificationSql(at: string): string {
  return notificationJsonSql('sqlite', at)
}

// In a range ?2 is the user's readThrough: no read-all covers what lies beyond it, so none is looked up. Usually the first
// read-all that covers the lowest notification of a page covers the whole page: one look-up for all instead of one for each.
const readAtInRange = `coalesce(n.read_at, case
  when n.seq > ?2 then null
  when n.unread_version is not null then ${readAtAgain('?1')}
  when n.seq <= ${readAllOver('?1', '?3 + 1', 'through_seq')} then ${readAllOver('?1', '?3 + 1', 'at')}
  else ${readAllOver('?1', 'n.seq', 'at')}
end)`

/** The items of a JSON array, newest first. */
function itemsSql(at: string, condition: string, limit = ''): string {
  return `
  select group_concat(text, ',') from (
    select ${notificationSql(at)} as text from notification n
    where n.user_id = ?1 and ${condition} order by n.seq desc ${limit}
  )`
}

/** The items with the sequence numbers in the JSON array `?4`; the lowest of them is `?3` + 1. */
export const chosenItems = itemsSql(readAtInRange, 'n.seq in (select value from json_each(?4))')
/** Of a range without gaps, whose end costs more to compare in each row than to count. */
export const range = itemsSql(readAtInRange, 'n.seq <= ?4', 'limit +?4 - ?3')
/** Both in an inbox that had a read-all of a category. */
export const chosenItemsByAnyMark = itemsSql(readAtByAnyMark, 'n.seq in (select value from json_each(?4))')
export const rangeByAnyMark = itemsSql(readAtByAnyMark, 'n.seq <= ?4', 'limit +?4 - ?3')

/** The list has every sequence number above this one; undefined if some are missing or it has a filter. */
function denseAbove({ status, categories }: PageRequest, inbox: InboxState): number | undefined {
  const { lastSeq, firstSeq, readThrough, markedUnread } = inbox
  if (categories !== undefined || status === 'read') return undefined
  if (status === 'all') return inbox.total === lastSeq - firstSeq + 1 ? firstSeq - 1 : undefined
  return markedUnread === 0 && inbox.unread === lastSeq - readThrough ? readThrough : undefined
}

const skippedBy = (query: PageRequest) => ('before' in query ? 0 : (query.page - 1) * query.limit)

export function placeOf(query: PageRequest, inbox: InboxState): Place {
  if ('before' in query) return { below: Math.min(query.before, inbox.lastSeq + 1), skipped: 0 }
  const skipped = skippedBy(query)
  if (denseAbove(query, inbox) === undefined) return { below: inbox.lastSeq + 1, skipped }
  return { below: inbox.lastSeq + 1 - skipped, skipped: 0 }
}

/** A page passes over that many notifications in one turn of the event loop. With 20 categories to merge, each costs up to a microsecond. */
export const maxSkipped = 1_000

/** 'far' if the page begins after more than `maxSkipped` notifications of the list. */
export function pageOf(
  reader: Reader,
  query: PageRequest,
  { user, inbox, place = placeOf(query, inbox) }: FoundInbox & { place?: Place },
): Page | 'far' {
  const total = totalOf(reader, query, { user, inbox })
  const of = { user, inbox, total }
  if (skippedBy(query) >= total) return emptyPage(of)
  const floor = denseAbove(query, inbox)
  if (floor !== undefined) {
    const lowest = Math.max(place.below - query.limit, floor + 1)
    if (lowest >= place.below) return emptyPage(of)
    const text = inbox.categoryThrough ? rangeByAnyMark : range
    return readItems(reader, of, { text, lowest, which: place.below - 1, hasMore: lowest > floor + 1 })
  }
  if (place.skipped > maxSkipped) return 'far'
  // One more than the page has: it says whether more follow.
  const seqs = seqsAt(reader, query, { user, inbox, ...place, taken: query.limit + 1 })
  const chosen = seqs.slice(0, query.limit)
  const lowest = chosen.at(-1)
  if (lowest === undefined) return emptyPage(of)
  const text = inbox.categoryThrough ? chosenItemsByAnyMark : chosenItems
  return readItems(reader, of, { text, lowest, which: JSON.stringify(chosen), hasMore: seqs.length > query.limit })
}

type Of = FoundInbox & { total: number }

function emptyPage({ inbox, total }: Of): Page {
  return { inbox, total, items: noItems, next: null }
}

type Items = { text: string; lowest: number; which: number | string; hasMore: boolean }

function readItems(reader: Reader, { user, inbox, total }: Of, { text, lowest, which, hasMore }: Items): Page {
  const values = [user, inbox.readThrough, lowest - 1, which]
  const [items] = reader.one<[string]>(text, ...values) ?? ['']
  return { inbox, total, items: `[${items}]`, next: hasMore ? lowest : null }
}
