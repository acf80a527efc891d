// `$1`: user. `$2`: size. `$3`: below which sequence number, or after how many. `$4`: categories.
import type { Database } from '../../store/postgres/connection/connection.ts'
import type { Row } from '../../store/postgres/connection/gathering.ts'
import {
  countOf,
  emptyInbox,
  inboxColumns,
  type Page,
  type PageQuery,
  toInbox,
} from '../inbox-state.ts'
import { hasAll, listSql, type Shape } from '../lists.ts'
import { notificationJsonSql } from '../notification-json.ts'

const emptyRow = Object.values(emptyInbox)
const orEmpty = inboxColumns.map((column, n) => `coalesce(${column}, ${emptyRow[n]}) as ${column}`)
export const withInbox = `box as (
  select ${orEmpty} from (select 1) one left join inbox on user_id = $1
)`

/** Without a join, every plan reads a range of the index. */
const inboxField = (expression: string) => `(select ${expression} from box)`

type PageShape = Shape & { isNumbered: boolean }

function totalOf({ status, hasCategories }: Shape): string {
  if (!hasCategories) return inboxField(countOf[status])
  return `(select coalesce(sum(${countOf[status]}), 0)::bigint from inbox_category where user_id = $1 and category = any ($4::text[]))`
}

/** PostgreSQL decides this before it reads a row. */
function isWhole({ status, hasCategories }: Shape): string {
  const filter = { status, ...(hasCategories && { categories: [] }) }
  if (hasAll(filter, true)) return 'true'
  return hasAll(filter, false) ? inboxField('archived + snoozed = 0') : 'false'
}

const text = notificationJsonSql('postgres')

/** In a whole list without gaps the place is known; else PostgreSQL passes over those above. */
function placeSql(shape: PageShape): { below: string; skipped: string } {
  if (!shape.isNumbered) return { below: '$3::bigint', skipped: '0' }
  const isDense = `${isWhole(shape)} and ${inboxField(`${countOf.all} = last_seq - first_seq + 1`)}`
  return {
    below: `(${inboxField('last_seq')} + 1 - case when ${isDense} then $3::bigint else 0 end)`,
    skipped: `case when ${isDense} then 0 else $3::bigint end`,
  }
}

function textOf(shape: PageShape): string {
  const place = placeSql(shape)
  const whole = isWhole(shape)
  const found = listSql('postgres', shape, { ...place, taken: '($2::bigint + 1)', unless: whole })
  return `with ${withInbox}, found as (${found}), picked as (
    (select n.seq, ${text} as text from notification n
    where n.user_id = $1 and n.seq < ${place.below} and ${whole} order by n.seq desc limit $2 offset ${place.skipped})
    union all
    select n.seq, ${text} as text from (select seq from found order by seq desc limit $2) chosen
    cross join lateral (select * from notification where user_id = $1 and seq = chosen.seq limit 1) n)
  select box.*, coalesce((select '[' || string_agg(text, ',' order by seq desc) || ']' from picked), '[]'),
    (select min(seq) from picked),
    case when ${whole} then coalesce((select min(seq) from picked) > box.first_seq, false) else (select count(*) from found) > $2 end,
    ${totalOf(shape)} from box`
}

const statements = new Map<string, { name: string; text: string }>()

const isFirst = (query: PageQuery) => 'page' in query && query.page === 1

function pageStatement(query: PageQuery): { name: string; text: string } {
  const { status, categories } = query
  const isNumbered = 'page' in query && !isFirst(query)
  const hasCategories = categories !== undefined
  const inCategories = hasCategories ? 'InCategories' : ''
  const form = isNumbered ? 'Page' : 'Before'
  const name = `${status}${inCategories}${form}`
  const known = statements.get(name) ?? {
    name,
    text: textOf({ status, hasCategories, isNumbered }),
  }
  statements.set(name, known)
  return known
}

function placeOf(query: PageQuery): number {
  if (isFirst(query)) return Number.MAX_SAFE_INTEGER
  return Math.min(
    'before' in query ? query.before : (query.page - 1) * query.limit,
    Number.MAX_SAFE_INTEGER,
  )
}

export async function readVersion(db: Database, { userId }: { userId: string }): Promise<number> {
  const row = await db.one('inboxVersion', 'select version from inbox where user_id = $1', [userId])
  return (row?.[0] as number | undefined) ?? 0
}

export async function readPage(db: Database, query: PageQuery): Promise<Page> {
  const { userId, limit, categories } = query
  const values = [userId, limit, placeOf(query), ...(categories === undefined ? [] : [categories])]
  const statement = pageStatement(query)
  const row = (await db.one(statement.name, statement.text, values)) as Row
  const [items, lowest, hasOlder, total] = row.slice(-4) as [string, number, boolean, number]
  return { inbox: toInbox(row), total, items, next: hasOlder ? lowest : null }
}
