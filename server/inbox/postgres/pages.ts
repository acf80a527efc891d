// Reads a page of one user's inbox on PostgreSQL, in one statement, which assembles the notifications as JSON text. `$1` is the user, `$2` the
// size of the page, `$3` where it begins: below a sequence number, or after how many notifications. `$4` has the categories.
import type { Database, Marks } from '../../store/postgres/connection/connection.ts'
import type { Row } from '../../store/postgres/connection/gathering.ts'
import { countOf, emptyInbox, inboxColumns, type Page, type PageQuery, toInbox } from '../inbox-state.ts'
import { countSql, listSql, type Shape } from '../lists.ts'
import { notificationJsonSql } from '../notification-json.ts'
import { placeIn, readAtByAnyMarkSql, readAtSql } from '../read-at.ts'

export const readAtText = readAtSql('$1')
export const readAtByAnyMark = readAtByAnyMarkSql('$1')

const emptyRow = Object.values(emptyInbox)
const orEmpty = inboxColumns.map((column, n) => `coalesce(${column}, ${emptyRow[n]}) as ${column}`)
/** The user's inbox as the table `box` of one row; that of `emptyInbox` if the user has none yet. */
export const withInbox = `box as (
  select ${orEmpty}, coalesce(archive_through, 0) as archive_through
  from (select 1) one left join inbox on user_id = $1
)`

/** A field of `box` as a value, not as a join: a plan that was made without values then always reads a range of the index. */
export const inboxField = (expression: string) => `(select ${expression} from box)`

type PageShape = Shape & { isNumbered: boolean }

function totalOf({ status, hasCategories }: Shape): string {
  if (!hasCategories) return inboxField(countOf[status])
  return `(select coalesce(sum(${countOf[status]}), 0)::bigint from inbox_category where user_id = $1 and category = any ($4::text[]))`
}

/** Whether the list has every sequence number from its lowest one on. */
function isDense(shape: Shape): string {
  if (shape.hasCategories) return 'false'
  if (shape.status === 'unread') return 'marked_unread = 0 and unread = last_seq - read_through'
  return hasAll(shape) ? `${countOf.all} = last_seq - first_seq + 1` : 'false'
}

/** Whether the list has everything, of some categories or of all. */
function hasAll({ status, hasAway }: Shape): boolean {
  return status === 'all' || (status === 'inbox' && !hasAway)
}

/** A page passes over that many notifications. If more are above it, its place is counted first. */
const maxSkipped = 100

/**
 * Counts the notifications above a numbered page, in ranges that have most of them if the list is as dense there as in the range before:
 * `each` is the difference between two of their sequence numbers.
 */
function placeSql(shape: PageShape): string {
  const width = 'ceil(0.9 * skipped * each)::bigint'
  const range = { low: `walk.below - ${width}`, below: 'walk.below', max: 'walk.skipped + 1' }
  return `walk (below, skipped, each) as (
    select case when list.total <= $3 then 0 when is_dense then last_seq + 1 - $3 else last_seq + 1 end,
      case when list.total <= $3 or is_dense then 0 else $3::bigint end, (last_seq - first_seq + 1) / greatest(list.total, 1)::float8
    from box cross join lateral (select ${totalOf(shape)} as total, ${isDense(shape)} as is_dense) list
    union all
    select case when fits then below - ${width} else below end, case when fits then skipped - found.count else skipped end,
      case when not fits then each / 2 when found.count = 0 then each * 2 else ${width} / found.count::float8 end
    from walk cross join lateral (${countSql('postgres', shape, range)}) found
    cross join lateral (select found.count <= skipped as fits) one
    where skipped > ${maxSkipped} and below > 0
  ), place as (select below, skipped from walk order by skipped, below limit 1)`
}

type Rows = { text: string; below: string; skipped: string }

/** All notifications are a range of the primary key. */
function allSql({ text, below, skipped }: Rows): string {
  return `picked as (
    select n.seq, ${text} as text from notification n
    where n.user_id = $1 and n.seq < ${below} order by n.seq desc limit $2 offset ${skipped})`
}

function filteredSql(shape: Shape, { text, below, skipped }: Rows): string {
  return `found as (${listSql('postgres', shape, { below, skipped, taken: '$2::bigint + 1' })}),
  picked as (
    select n.seq, ${text} as text from (select seq from found order by seq desc limit $2) chosen
    cross join lateral (select * from notification where user_id = $1 and seq = chosen.seq limit 1) n)`
}

function textOf(shape: PageShape): string {
  const { hasCategories, isNumbered, hasCategoryMarks } = shape
  const text = notificationJsonSql('postgres', hasCategoryMarks ? readAtByAnyMark : readAtText, placeIn(shape, '$1'))
  const [below, skipped] = isNumbered
    ? ['(select below from place)', '(select skipped from place)']
    : ['$3::bigint', '0']
  const isAll = hasAll(shape) && !hasCategories
  const rows = isAll ? allSql({ text, below, skipped }) : filteredSql(shape, { text, below, skipped })
  const hasOlder = isAll
    ? 'coalesce((select min(seq) from picked) > box.first_seq, false)'
    : '(select count(*) from found) > $2'
  const tables = isNumbered ? `recursive ${withInbox}, ${placeSql(shape)}` : withInbox
  return `with ${tables}, ${rows}
  select box.*, coalesce((select '[' || string_agg(text, ',' order by seq desc) || ']' from picked), '[]'),
    (select min(seq) from picked), ${hasOlder}, ${totalOf(shape)} from box`
}

const statements = new Map<string, { name: string; text: string }>()

/** The first page is the one below a sequence number that no notification reaches. */
const isFirst = (query: PageQuery) => 'page' in query && query.page === 1

function pageStatement(query: PageQuery, marks: Marks): { name: string; text: string } {
  const { status, categories } = query
  const isNumbered = 'page' in query && !isFirst(query)
  const hasCategories = categories !== undefined
  const shape = { status, hasCategories, isNumbered, ...marks }
  const of = hasCategories ? 'InCategories' : ''
  const by = isNumbered ? 'Page' : 'Before'
  const name = `${status}${of}${by}${marks.hasCategoryMarks ? 'ByAnyMark' : ''}${marks.hasAway ? 'SomeAway' : ''}`
  const known = statements.get(name) ?? { name, text: textOf(shape) }
  statements.set(name, known)
  return known
}

/** A request may name a place above every bigint, which PostgreSQL would refuse. */
function placeOf(query: PageQuery): number {
  if (isFirst(query)) return Number.MAX_SAFE_INTEGER
  return Math.min('before' in query ? query.before : (query.page - 1) * query.limit, Number.MAX_SAFE_INTEGER)
}

export async function readPage(db: Database, query: PageQuery): Promise<Page | 'unchanged'> {
  const { userId, limit, categories, unless } = query
  // The version alone costs half as much as a page, and usually nothing has changed.
  if (unless !== undefined) {
    const row = await db.one('inboxVersion', 'select version from inbox where user_id = $1', [userId])
    if ((row?.[0] ?? 0) === unless.version) return 'unchanged'
  }
  const values = [userId, limit, placeOf(query), ...(categories === undefined ? [] : [categories])]
  return db.byMarks(userId, async (marks) => {
    const { name, text } = pageStatement(query, marks)
    const row = (await db.one(name, text, values)) as Row
    const [items, lowest, hasOlder, total] = row.slice(-4) as [string, number, boolean, number]
    return { inbox: toInbox(row), total, items, next: hasOlder ? lowest : null }
  })
}
