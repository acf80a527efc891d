// Reads one user's inbox and a page of it as JSON text: one row, one string. `limit +?` and not `limit ?` in the SQL: for a bare parameter
// SQLite lets its value decide about the plan, and prepares the statement again each time. Changes are in changes.ts.
import { yieldToEventLoop } from '../../basics/event-loop.ts'
import type { Reader } from '../../store/sqlite/reader.ts'
import { userBytes } from '../../store/statements.ts'
import { countOf, type InboxState, inboxColumns, type Page, type PageQuery, toInbox } from '../inbox-state.ts'
import { countSql, listSql, type Shape } from '../lists.ts'
import { noItems, notificationJsonSql } from '../notification-json.ts'
import { placeIn, readAllAgain, readAllOver, readAtByAnyMarkSql } from '../read-at.ts'

export const inboxVersion = 'select version from inbox where user_id = ?'
export const inboxByUser = `select ${inboxColumns} from inbox where user_id = ?`

/** The key by which everything in an inbox is found. */
export type FoundInbox = { user: Uint8Array; inbox: InboxState }

export function inboxOf(reader: Reader, userId: string): FoundInbox {
  const user = userBytes(userId)
  return { user, inbox: toInbox(reader.one(inboxByUser, user)) }
}

// In a range ?2 is the user's readThrough: no read-all covers what lies beyond it, so none is looked up. Usually the first
// read-all that covers the lowest notification of a page covers the whole page: one look-up for all instead of one for each.
const readAtInRange = `coalesce(n.read_at, case
  when n.seq > ?2 then null
  when n.unread_version is not null then ${readAllAgain('?1', 'm.at')}
  when n.seq <= ${readAllOver('?1', '?3 + 1', 'm.through_seq')} then ${readAllOver('?1', '?3 + 1', 'm.at')}
  else ${readAllOver('?1', 'n.seq', 'm.at')}
end)`

/**
 * The items of a JSON array, newest first: chosen ones, with the sequence numbers in the JSON array `?4`, the lowest of which is `?3` + 1; or
 * a range without gaps, whose end costs more to compare in each row than to count.
 */
function itemsSql(shape: Shape, { isChosen }: { isChosen: boolean }): string {
  const at = shape.hasCategoryMarks ? readAtByAnyMarkSql('?1') : readAtInRange
  const [which, limit] = isChosen ? ['in (select value from json_each(?4))', ''] : ['<= ?4', 'limit +?4 - ?3']
  return `
  select group_concat(text, ',') from (
    select ${notificationJsonSql('sqlite', at, placeIn(shape, '?1'))} as text from notification n
    where n.user_id = ?1 and n.seq ${which} order by n.seq desc ${limit}
  )`
}

const box = `with box as (select read_through, read_version, archive_through, archive_version from inbox where user_id = ?1)`
const statementOf = (text: string) => `${box} select * from (${text.replaceAll('$', '?')})`
const place = { below: '?3', taken: '+?2', skipped: '+?4' }

/** The statements that read the items of a page, sum up the total of some categories, list sequence numbers, and count those of a range. */
export function statementsOf(shape: Shape) {
  return {
    chosen: itemsSql(shape, { isChosen: true }),
    range: itemsSql(shape, { isChosen: false }),
    total: `
  select coalesce(sum(${countOf[shape.status]}), 0) from inbox_category
  where user_id = ?1 and category in (select value from json_each(?2))`,
    seqs: statementOf(listSql('sqlite', shape, place)),
    nearSeqs: statementOf(listSql('sqlite', shape, { ...place, low: '?6' })),
    count: statementOf(countSql('sqlite', shape, { below: '?3', low: '?4', max: '+?2' })),
  }
}

const statements = new Map<string, ReturnType<typeof statementsOf>>()

/** Whether a list may have less than everything. */
const hasSomeAway = (inbox: InboxState) => inbox.archived + inbox.snoozed + inbox.archiveVersion > 0

function knownStatements({ status, categories }: PageQuery, inbox: InboxState) {
  const hasCategories = !!categories
  const hasCategoryMarks = inbox.categoryThrough > 0
  const hasAway = hasSomeAway(inbox)
  const key = `${status} ${hasCategories} ${hasCategoryMarks} ${hasAway}`
  const known = statements.get(key) ?? statementsOf({ status, hasCategories, hasCategoryMarks, hasAway })
  statements.set(key, known)
  return known
}

/** So many sequence numbers are read first: in a short range, all of every category cost less than the newest of each. */
const minNear = 200
/** A page passes over that many notifications at once. If more are above it, its place is counted first. */
const maxSkipped = 100
/** Index entries that are counted in one turn of the event loop: a millisecond. */
const maxCounted = 10_000

export async function readPage(reader: Reader, query: PageQuery): Promise<Page | 'unchanged'> {
  const { userId, unless } = query
  // The version alone costs half as much as the whole row, and usually nothing has changed.
  const versionNow = (of: object) => reader.kept<[number]>(of, inboxVersion, () => [userBytes(userId)])?.[0] ?? 0
  if (unless !== undefined && versionNow(unless) === unless.version) return 'unchanged'
  const list = listOf(reader, query)
  const start = placeOf(list)
  if (start.skipped <= maxSkipped) return pageAt(list, start)
  return reader.atOneMoment(async (moment) => {
    const ofMoment = listOf(moment, query)
    return pageAt(ofMoment, await countedPlace(ofMoment))
  })
}

type List = FoundInbox & {
  reader: Reader
  query: PageQuery
  total: number
  given: string[]
  known: ReturnType<typeof statementsOf>
}

function listOf(reader: Reader, query: PageQuery): List {
  const { status, categories } = query
  const { user, inbox } = inboxOf(reader, query.userId)
  const given = categories === undefined ? [] : [JSON.stringify(categories)]
  const known = knownStatements(query, inbox)
  const [total] = given.length === 0 ? [totalOf(inbox, status)] : (reader.one(known.total, user, ...given) as [number])
  return { reader, query, user, inbox, given, total, known }
}

function totalOf({ total, unread, archived, snoozed }: InboxState, status: Shape['status']): number {
  if (status === 'inbox') return total
  if (status === 'unread') return unread
  if (status === 'read') return total - unread
  return { archived, snoozed, all: total + archived + snoozed }[status]
}

/** The list has every sequence number above this one; undefined if some are missing or it has a filter. */
function denseAbove({ query: { status, categories }, inbox }: List): number | undefined {
  const { lastSeq, firstSeq, readThrough, markedUnread } = inbox
  if (categories !== undefined) return undefined
  if (status === 'unread') return markedUnread === 0 && inbox.unread === lastSeq - readThrough ? readThrough : undefined
  if (status !== 'all' && (status !== 'inbox' || hasSomeAway(inbox))) return undefined
  return totalOf(inbox, 'all') === lastSeq - firstSeq + 1 ? firstSeq - 1 : undefined
}

/** Where notifications of a list are read: below a sequence number, after `skipped` others. */
type Place = { below: number; skipped: number }

function placeOf(list: List): Place {
  const { query, inbox, total } = list
  const end = inbox.lastSeq + 1
  if ('before' in query) return { below: Math.min(query.before, end), skipped: 0 }
  const skipped = (query.page - 1) * query.limit
  if (skipped >= total) return { below: 0, skipped: 0 }
  return denseAbove(list) === undefined ? { below: end, skipped } : { below: end - skipped, skipped: 0 }
}

/**
 * Counts the notifications above the page, in ranges that have most of them if the list is as dense there as in the range before. The event
 * loop turns in between.
 */
async function countedPlace(list: List): Promise<Place> {
  const { reader, user, inbox, given, total, known } = list
  let { below, skipped } = placeOf(list)
  let seqsOfEach = (inbox.lastSeq - inbox.firstSeq + 1) / total
  while (skipped > maxSkipped && below > 0) {
    const max = Math.min(skipped + 1, maxCounted)
    const width = Math.ceil(0.9 * max * seqsOfEach)
    const [count] = reader.one<[number]>(known.count, user, max, below, below - width, ...given) as [number]
    if (count < max) {
      below -= width
      skipped -= count
      seqsOfEach = count === 0 ? seqsOfEach * 2 : width / count
    } else seqsOfEach /= 2
    await yieldToEventLoop()
  }
  return { below, skipped }
}

function pageAt(list: List, { below, skipped }: Place): Page {
  const { reader, query, user, inbox, total, given, known } = list
  const empty = { inbox, total, items: noItems, next: null }
  if (total === 0) return empty
  const floor = denseAbove(list)
  if (floor !== undefined) {
    const lowest = Math.max(below - query.limit, floor + 1)
    if (lowest >= below) return empty
    return readItems(list, { text: known.range, lowest, which: below - 1, hasMore: lowest > floor + 1 })
  }
  // One more than the page has: it says whether more follow.
  const values = [user, query.limit + 1, below, skipped] as const
  const width = Math.max(minNear, 2 * (skipped + query.limit))
  const near = reader.all<[number]>(known.nearSeqs, ...values, given[0] ?? null, below - width)
  const isComplete = near.length > query.limit || skipped + near.length === total
  const rows = isComplete ? near : reader.all<[number]>(known.seqs, ...values, ...given)
  const chosen = rows.slice(0, query.limit).map(([seq]) => seq)
  const lowest = chosen.at(-1)
  if (lowest === undefined) return empty
  const hasMore = rows.length > query.limit
  return readItems(list, { text: known.chosen, lowest, which: JSON.stringify(chosen), hasMore })
}

type Chosen = { text: string; lowest: number; which: number | string; hasMore: boolean }

function readItems({ reader, user, inbox, total }: List, { text, lowest, which, hasMore }: Chosen): Page {
  const [items] = reader.one<[string]>(text, user, inbox.readThrough, lowest - 1, which) ?? ['']
  return { inbox, total, items: `[${items}]`, next: hasMore ? lowest : null }
}
