// The SQL that reads a page of an inbox, and how its row becomes that page. The server assembles
// the notifications as JSON text. `$1` is the user, `$2` the size of the page, `$3` where it begins.
import { noItems, notificationJsonSql, timeLength } from '../notification-json.ts'
import { inboxWidth, toInbox } from '../operations.ts'
import { blockSize } from '../page-blocks.ts'
import type { Page, PageRequest } from '../store.ts'
import type { Row } from './connection/connection.ts'
import {
  covers,
  type FilteredSql,
  filteredName,
  filteredPages,
  isMarkedUnread,
  newestMarkedFirst,
} from './filtered-pages.ts'

/** When the notification `n` was read: alone, or by the first read-all that covers it since it was marked as unread; or null. */
export const readAtText = `coalesce(n.read_at, case when n.unread_version is null then (
  select m.at from read_mark m
  where m.user_id = $1 and m.through_seq >= n.seq and m.through_seq > m.before_through order by m.through_seq limit 1
) else (
  select m.at from read_mark m
  where m.user_id = $1 and m.version > n.unread_version and m.through_seq >= n.seq order by m.version limit 1
) end)`

/** The `readAt` in an inbox that had a read-all of a category: the first read-all of all or of its category. Right in every inbox. */
export const readAtByAnyMark = `coalesce(n.read_at, (
  select at from (
    (select m.version, m.at from read_mark m
     where m.user_id = $1 and n.unread_version is null and m.through_seq >= n.seq and m.through_seq > m.before_through
     order by m.through_seq limit 1)
    union all
    (select m.version, m.at from read_mark m
     where m.user_id = $1 and m.version > n.unread_version and m.through_seq >= n.seq order by m.version limit 1)
    union all
    select m.version, m.at from category_read_mark m where ${covers}
  ) mark order by version limit 1
))`

// As bytes: to take the last characters of a text, the server counts all of them first, at 4 times the cost.
const lastBytes = `substr(convert_to(n.content, 'UTF8'), octet_length(n.content) - ${timeLength}, ${timeLength})`
const createdAt = `convert_from(${lastBytes}, 'UTF8')`

/** The JSON text of the notification `n`, which was read at `readAt`. */
export function textReadAt(readAt: string): string {
  return notificationJsonSql({ content: "', n.content, '", createdAt, readAt })
}

const notificationText = textReadAt(readAtText)
export const notificationTextByAnyMark = textReadAt(readAtByAnyMark)

/** The user's inbox as the table `box` of one row; all zeros if the user has none yet. */
export const withInbox = `box as (
  select version, first_seq, last_seq, total, unread, read_through, read_version, marked_unread, reset_version,
    category_through
  from inbox where user_id = $1
  union all
  select 0, 1, 0, 0, 0, 0, 0, 0, 0, 0 where not exists (select 1 from inbox where user_id = $1)
)`

/** A field of `box` as a value, not as a join: a plan that was made without values then always reads a range of the index. */
export const inboxField = (expression: string) => `(select ${expression} from box)`

const isOwned = 'n.user_id = $1'
const isUnread = `${isOwned} and n.read_at is null and n.seq > ${inboxField('read_through')}`
const older = (isOne: string) =>
  `exists (select 1 from notification n where ${isOne} and n.seq < (select min(seq) from picked))`
const olderUnread = `(${older(isUnread)} or ${older(isMarkedUnread)})`
const olderOne = 'coalesce((select min(seq) from picked) > box.first_seq, false)'

/** `found` and `above` are tables that the rows come from. */
type PageSql = { found?: string; above?: string; rows: string; total: string; hasOlder: string }

/** How many unread notifications are above the high-water mark. */
const unreadAbove = '(unread - marked_unread)'
const hasGaps = inboxField(`${unreadAbove} < last_seq - read_through`)
/** Whether a numbered page of the unread is at most one block away from either end. */
const isShallow = inboxField(`least($3, ${unreadAbove} - $3::bigint) <= ${blockSize}`)

/** The highest sequence number of a numbered page of all. A page further than a block away from both ends has none if numbers are missing. */
const highest = `(select case
  when total = last_seq - first_seq + 1 then last_seq - $3::bigint
  when $3 >= total then null
  when $3 <= ${blockSize} then
    (select n.seq from notification n where ${isOwned} order by n.seq desc limit 1 offset $3::bigint)
  when total - $3::bigint <= ${blockSize} then
    (select n.seq from notification n where ${isOwned} order by n.seq limit 1 offset ${inboxField('total - $3::bigint - 1')})
end from box)`

/** The row of each chosen sequence number. */
const rowsOf = 'cross join lateral (select * from notification where user_id = $1 and seq = chosen.seq limit 1) n'

const pages = {
  // A page comes back empty if it is a deep one and numbers are missing: deep-pages.ts reads it.
  page: {
    rows: `select n.seq, ${notificationText} as text from notification n
     where ${isOwned} and n.seq <= ${highest} order by n.seq desc limit $2`,
    total: 'box.total',
    hasOlder: 'box.total > $3::bigint + $2',
  },
  before: {
    rows: `select n.seq, ${notificationText} as text from notification n
     where ${isOwned} and n.seq < $3 order by n.seq desc limit $2`,
    total: 'box.total',
    hasOlder: olderOne,
  },
  unreadPage: {
    // Without a gap the unread are a range. If some were read one by one, these are skipped, from the nearer end.
    rows: `select n.seq, ${notificationText} as text from (
       (select n.seq from notification n
        where not ${hasGaps} and ${isUnread}
          and n.seq <= ${inboxField('last_seq - $3::bigint')} and n.seq > ${inboxField('last_seq - $3::bigint - $2')})
       union all
       (select n.seq from notification n
        where ${hasGaps} and ${isShallow} and ${inboxField(`$3 * 2 <= ${unreadAbove}`)} and ${isUnread}
        order by n.seq desc limit $2 offset $3::bigint)
       union all
       (select n.seq from notification n
        where ${hasGaps} and ${isShallow} and ${inboxField(`$3 * 2 > ${unreadAbove}`)} and ${isUnread}
        order by n.seq
        limit ${inboxField(`greatest(0, least($2, ${unreadAbove} - $3::bigint))`)}
        offset ${inboxField(`greatest(0, ${unreadAbove} - $3::bigint - $2)`)})
       union all
       (select n.seq from notification n where ${isMarkedUnread}
        order by ${newestMarkedFirst}
        limit ${inboxField(`greatest(0, least($2, $2 + $3::bigint - ${unreadAbove}))`)}
        offset ${inboxField(`greatest(0, $3::bigint - ${unreadAbove})`)})
     ) chosen ${rowsOf}`,
    total: 'box.unread',
    hasOlder: 'box.unread > $3::bigint + $2',
  },
  unreadBefore: {
    above: `select n.seq, ${notificationText} as text from notification n
     where ${isUnread} and n.seq < $3 order by n.seq desc limit $2`,
    rows: `select * from above union all (
       select n.seq, ${notificationText} as text from (
         select n.seq from notification n where ${isMarkedUnread} and n.seq < $3
         order by ${newestMarkedFirst} limit $2 - (select count(*) from above)
       ) chosen ${rowsOf})`,
    total: 'box.unread',
    hasOlder: olderUnread,
  },
} satisfies Record<string, PageSql>

function filteredPage({ found, total, isNumbered }: FilteredSql, text: string): PageSql {
  return {
    found,
    rows: `select n.seq, ${text} as text from (select seq from found order by seq desc limit $2) chosen ${rowsOf}`,
    total,
    hasOlder: isNumbered ? `${total} > $3::bigint + $2` : '(select count(*) from found) > $2',
  }
}

const tablesOf = ({ found, above, rows }: PageSql) =>
  [withInbox, found && `found as (${found})`, above && `above as (${above})`, `picked as (${rows})`]
    .filter(Boolean)
    .join(', ')

const pageColumns = ({ total, hasOlder }: PageSql) => `
  box.*, coalesce((select '[' || string_agg(text, ',' order by seq desc) || ']' from picked), '[]'),
  (select min(seq) from picked), ${hasOlder}, ${total}`

const textOf = (page: PageSql) => `with ${tablesOf(page)} select ${pageColumns(page)} from box`
const statement = (name: string, page: PageSql) => ({ name, text: textOf(page) })

const statements = {
  page: statement('page', pages.page),
  before: statement('before', pages.before),
  unreadPage: statement('unreadPage', pages.unreadPage),
  unreadBefore: statement('unreadBefore', pages.unreadBefore),
}
const byAnyMark = ({ rows, ...page }: PageSql): PageSql => ({
  ...page,
  rows: rows.replaceAll(notificationText, notificationTextByAnyMark),
})
const filteredStatements = new Map(
  [false, true].flatMap((hasCategoryMarks) => {
    const text = hasCategoryMarks ? notificationTextByAnyMark : notificationText
    return filteredPages(hasCategoryMarks).map(
      (page) => [page.name, statement(page.name, filteredPage(page, text))] as const,
    )
  }),
)
const statementsByAnyMark = {
  page: statement('pageByAnyMark', byAnyMark(pages.page)),
  before: statement('beforeByAnyMark', byAnyMark(pages.before)),
}

type From = Pick<PageSql, 'total' | 'hasOlder'> & { text?: string }
const from = (isOne: string, { total, hasOlder, text = notificationText }: From) =>
  textOf({
    rows: `select n.seq, ${text} as text from (
     select n.seq from notification n where ${isOne} and n.seq <= $3 order by n.seq desc limit $2 offset $4::bigint
   ) chosen ${rowsOf}`,
    total,
    hasOlder,
  })
const allFrom = { name: 'from', text: from(isOwned, { total: 'box.total', hasOlder: olderOne }) }
const allFromByAnyMark = {
  name: 'fromByAnyMark',
  text: from(isOwned, { total: 'box.total', hasOlder: olderOne, text: notificationTextByAnyMark }),
}
const unreadFrom = { name: 'unreadFrom', text: from(isUnread, { total: 'box.unread', hasOlder: olderUnread }) }

/** The first `$2` notifications, of all or of the unread, at or below the sequence number `$3`, after `$4` of them. */
export function fromStatement(unreadOnly: boolean, hasCategoryMarks = false) {
  if (hasCategoryMarks && !unreadOnly) return allFromByAnyMark
  return unreadOnly ? unreadFrom : allFrom
}

/** The first page of all is the one before a sequence number that no notification reaches: gaps make no difference to it. */
function isBefore(request: PageRequest): boolean {
  return 'before' in request || (request.page === 1 && request.status !== 'unread')
}

/** The prepared statement of such a page. */
export function pageStatement(request: PageRequest, hasCategoryMarks = false) {
  const filtered = filteredStatements.get(filteredName(request, hasCategoryMarks) ?? '')
  if (filtered !== undefined) return filtered
  if (hasCategoryMarks) return statementsByAnyMark[isBefore(request) ? 'before' : 'page']
  if (isBefore(request)) return request.status === 'unread' ? statements.unreadBefore : statements.before
  return request.status === 'unread' ? statements.unreadPage : statements.page
}

/** From `$2` on. A request may name a place above every bigint, which PostgreSQL would refuse. */
export function pageParameters(
  request: PageRequest,
): [limit: number, place: number, ...categories: (readonly string[])[]] {
  const { limit, categories } = request
  const place = Math.min(placeOf(request), Number.MAX_SAFE_INTEGER)
  return categories === undefined ? [limit, place] : [limit, place, categories]
}

function placeOf(request: PageRequest): number {
  if ('before' in request) return request.before
  const isByCursor = filteredName(request) === undefined && isBefore(request)
  return isByCursor ? Number.MAX_SAFE_INTEGER : (request.page - 1) * request.limit
}

export function toPage(row: Row): Page {
  const [items, lowest, hasOlder, total] = row.slice(inboxWidth) as [string, number, boolean, number]
  return { inbox: toInbox(row), total, items, next: hasOlder ? lowest : null }
}

/** Whether a numbered page came back empty because it is a deep one, among gaps: deep-pages.ts reads it. */
export function isDeepPage(request: PageRequest, { items, total }: Page): boolean {
  if (items !== noItems || 'before' in request || filteredName(request) !== undefined) return false
  return (request.page - 1) * request.limit < total
}
