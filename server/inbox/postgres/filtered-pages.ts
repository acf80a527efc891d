// The SQL that finds the notifications in some categories, the unread or the read ones. They lie in runs, such as the unread ones of a
// category: each run is a range of one index, in the order of the list, of which a page by cursor reads no more than its size. A
// numbered page passes over the index entries above it (decision 0030). The parameters are those of pages.ts; `$4` has the categories.
import type { Filter, PageRequest } from '../inbox-state.ts'
import { coversSql } from '../read-at.ts'

/** What pages.ts completes to a statement. `found` has the sequence numbers of the page and one more. */
export type FilteredSql = { name: string; total: string; found: string }

const readThrough = '(select read_through from box)'
const hasMarkedUnread = '(select marked_unread > 0 from box)'
/** How many unread notifications are above the high-water mark, and whether no others are. */
const unreadAbove = '(unread - marked_unread)'
const isDense = `${unreadAbove} = last_seq - read_through`

const isCovered = `exists (select from category_read_mark m where ${coversSql('$1')})`

/** The unread notifications at or below the high-water mark, as rows `n` of the table notification: few, and in no order. */
const isMarkedUnread = `n.user_id = $1 and ${hasMarkedUnread}
  and n.unread_version >= (select read_version from box) and n.seq <= ${readThrough}`

/** Not in the order of the primary key: the server would pass over all notifications to find a few in this order. */
const newestMarkedFirst = 'n.seq + 0 desc'

/** An array, so that the index of the other notifications has all that is read. */
const noneOf = (isOne: string) => `n.seq <> all (array(select n.seq from notification n where ${isOne}))`

const isRead = 'n.read_at is not null'
const isNotReadAlone = 'n.read_at is null'
const conditions = {
  all: [isRead, isNotReadAlone],
  unread: [`${isNotReadAlone} and n.seq > ${readThrough}`],
  read: [isRead, `${isNotReadAlone} and n.seq <= ${readThrough} and ${noneOf(isMarkedUnread)}`],
} satisfies Record<Filter['status'], string[]>

/** The condition for an inbox that had a read-all of a category. */
const isMarkedUnreadByAnyMark = `${isMarkedUnread} and not ${isCovered}`
const conditionsByAnyMark = {
  all: conditions.all,
  unread: [`${isNotReadAlone} and n.seq > ${readThrough} and not ${isCovered}`],
  read: [
    isRead,
    `${isNotReadAlone} and n.seq <= (select greatest(read_through, category_through) from box)
      and (n.seq <= ${readThrough} or ${isCovered}) and ${noneOf(isMarkedUnreadByAnyMark)}`,
  ],
} satisfies Record<Filter['status'], string[]>

const matching = { all: 'total', unread: 'unread', read: 'total - unread' } satisfies Record<Filter['status'], string>

function totalOf(status: Filter['status'], hasCategories: boolean): string {
  if (!hasCategories) return `(select ${matching[status]} from box)`
  return `(select coalesce(sum(${matching[status]}), 0)::bigint from inbox_category where user_id = $1 and category = any ($4::text[]))`
}

type Shape = { status: Filter['status']; hasCategories: boolean; isNumbered: boolean; hasCategoryMarks: boolean }

function nameOf({ status, hasCategories, isNumbered, hasCategoryMarks }: Shape): string {
  const marks = hasCategoryMarks ? 'ByAnyMark' : ''
  return `${status}${hasCategories ? 'InCategories' : ''}${isNumbered ? 'Page' : 'Before'}${marks}`
}

/**
 * A numbered page of all unread notifications: those above the high-water mark, a range if none is missing, and after them those that
 * were marked as unread. Each of the two is passed over alone.
 */
const unreadPage = `
  (select n.seq from notification n
   where n.user_id = $1 and n.read_at is null and n.seq > ${readThrough} and (select unread > $3::bigint from box)
     and n.seq <= (select last_seq - case when ${isDense} then $3::bigint else 0 end from box)
   order by n.seq desc limit $2::bigint + 1 offset (select case when ${isDense} then 0 else $3::bigint end from box))
  union all
  (select n.seq from notification n where ${isMarkedUnread} and (select unread > $3::bigint from box)
   order by ${newestMarkedFirst}
   limit $2::bigint + 1 offset (select greatest(0, $3::bigint - ${unreadAbove}) from box))
  order by seq desc limit $2::bigint + 1`

function sqlOf(shape: Shape): FilteredSql {
  const { status, hasCategories, isNumbered, hasCategoryMarks } = shape
  const total = totalOf(status, hasCategories)
  // Past the end, a numbered page passes over nothing.
  const place = isNumbered ? `${total} > $3::bigint` : 'n.seq < $3'
  const skipped = isNumbered ? '$3::bigint' : '0'
  const run = (condition: string, order = 'n.seq desc') => `
    (select n.seq from notification n where ${condition} and ${place}
     order by ${order} limit $2::bigint + 1 + ${skipped})`
  const category = hasCategories ? 'and n.category = wanted.category' : ''
  const runs = (hasCategoryMarks ? conditionsByAnyMark : conditions)[status]
    .map((condition) => run(`n.user_id = $1 ${category} and ${condition}`))
    .join(' union all ')
  const runsOfAll = hasCategories
    ? `select run.seq from unnest($4::text[]) as wanted (category) cross join lateral (${runs}) run`
    : runs
  const isMarked = hasCategoryMarks ? isMarkedUnreadByAnyMark : isMarkedUnread
  const marked = run(`${isMarked} ${hasCategories ? 'and n.category = any ($4::text[])' : ''}`, newestMarkedFirst)
  const merged = `
    select seq from (${runsOfAll}${status === 'unread' ? ` union all ${marked}` : ''}) one
    order by seq desc limit $2::bigint + 1 offset ${skipped}`
  const name = nameOf(shape)
  return { name, total, found: name === 'unreadPage' ? unreadPage : merged }
}

const shapes: readonly Pick<Shape, 'status' | 'hasCategories'>[] = [
  { status: 'unread', hasCategories: false },
  { status: 'read', hasCategories: false },
  { status: 'all', hasCategories: true },
  { status: 'unread', hasCategories: true },
  { status: 'read', hasCategories: true },
]

export function filteredPages(hasCategoryMarks: boolean): FilteredSql[] {
  return shapes.flatMap((shape) => [
    sqlOf({ ...shape, hasCategoryMarks, isNumbered: true }),
    sqlOf({ ...shape, hasCategoryMarks, isNumbered: false }),
  ])
}

/** The name of the statement; undefined if the page is one of all notifications. */
export function filteredName(request: PageRequest, hasCategoryMarks = false): string | undefined {
  const { status, categories } = request
  if (categories === undefined && status === 'all') return undefined
  const isNumbered = 'page' in request
  return nameOf({ status, hasCategories: categories !== undefined, isNumbered, hasCategoryMarks })
}
