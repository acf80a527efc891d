// The SQL that reads a page of an inbox, and how its row becomes that page. The server assembles
// the notifications as JSON text. `$1` is the user, `$2` the size of the page, `$3` where it begins.
import type { Row } from '../../store/postgres/connection/gathering.ts'
import { inboxWidth, type Page, type PageRequest, toInbox } from '../inbox-state.ts'
import { notificationJsonSql } from '../notification-json.ts'
import { readAtByAnyMarkSql, readAtSql } from '../read-at.ts'
import { type FilteredSql, filteredName, filteredPages } from './filtered-pages.ts'

export const readAtText = readAtSql('$1')
export const readAtByAnyMark = readAtByAnyMarkSql('$1')

/** The JSON text of the notification `n`, which was read at `readAt`. */
export function textReadAt(readAt: string): string {
  return notificationJsonSql('postgres', readAt)
}

const notificationText = textReadAt(readAtText)
const notificationTextByAnyMark = textReadAt(readAtByAnyMark)

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

type PageSql = { found?: string; rows: string; total: string; hasOlder: string }

/** The highest sequence number of a numbered page of all: if numbers are missing, the server passes over the index entries above it. */
const highest = `(select case
  when total = last_seq - first_seq + 1 then last_seq - $3::bigint
  when $3 < total then
    (select n.seq from notification n where n.user_id = $1 order by n.seq desc limit 1 offset $3::bigint)
end from box)`

const allWhere = (condition: string) => `select n.seq, ${notificationText} as text from notification n
  where n.user_id = $1 and ${condition} order by n.seq desc limit $2`

const pages = {
  page: { rows: allWhere(`n.seq <= ${highest}`), total: 'box.total', hasOlder: 'box.total > $3::bigint + $2' },
  before: {
    rows: allWhere('n.seq < $3'),
    total: 'box.total',
    hasOlder: 'coalesce((select min(seq) from picked) > box.first_seq, false)',
  },
} satisfies Record<string, PageSql>

/** The row of each chosen sequence number. */
const rowsOf = 'cross join lateral (select * from notification where user_id = $1 and seq = chosen.seq limit 1) n'

function filteredPage({ found, total }: FilteredSql, text: string): PageSql {
  return {
    found,
    rows: `select n.seq, ${text} as text from (select seq from found order by seq desc limit $2) chosen ${rowsOf}`,
    total,
    hasOlder: '(select count(*) from found) > $2',
  }
}

const tablesOf = ({ found, rows }: PageSql) =>
  [withInbox, found && `found as (${found})`, `picked as (${rows})`].filter(Boolean).join(', ')

const pageColumns = ({ total, hasOlder }: PageSql) => `
  box.*, coalesce((select '[' || string_agg(text, ',' order by seq desc) || ']' from picked), '[]'),
  (select min(seq) from picked), ${hasOlder}, ${total}`

const textOf = (page: PageSql) => `with ${tablesOf(page)} select ${pageColumns(page)} from box`
const statement = (name: string, page: PageSql) => ({ name, text: textOf(page) })

const statements = {
  page: statement('page', pages.page),
  before: statement('before', pages.before),
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

/** The first page of all is the one before a sequence number that no notification reaches: gaps make no difference to it. */
function isBefore(request: PageRequest): boolean {
  return 'before' in request || (request.page === 1 && request.status !== 'unread')
}

export function pageStatement(request: PageRequest, hasCategoryMarks = false) {
  const filtered = filteredStatements.get(filteredName(request, hasCategoryMarks) ?? '')
  if (filtered !== undefined) return filtered
  return (hasCategoryMarks ? statementsByAnyMark : statements)[isBefore(request) ? 'before' : 'page']
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
