// `limit +?`: a bare parameter decides the plan, so SQLite would prepare the statement each time.
import { yieldToEventLoop } from '../../basics/event-loop.ts'
import type { Reader } from '../../store/sqlite/reader.ts'
import {
  countOf,
  type InboxState,
  inboxColumns,
  type Page,
  type PageQuery,
  type Status,
  toInbox,
} from '../inbox-state.ts'
import { hasAll, listSql, type Place as PlaceSql, rangesOf, type Shape } from '../lists.ts'
import { noItems, notificationJsonSql } from '../notification-json.ts'
import { userBytes } from '../user-key.ts'

export const inboxVersion = 'select version from inbox where user_id = ?'
export const inboxByUser = `select ${inboxColumns} from inbox where user_id = ?`

export type FoundInbox = { user: Uint8Array; inbox: InboxState }

export function inboxOf(reader: Reader, userId: string): FoundInbox {
  const user = userBytes(userId)
  return { user, inbox: toInbox(reader.one(inboxByUser, user)) }
}

/** Takes a millisecond of the event loop. */
const readAtOnce = 10_000
const leastPassed = 100

const text = notificationJsonSql('sqlite')
const listOfShape = (shape: Shape, place: PlaceSql) =>
  listSql('sqlite', shape, place).replaceAll('$', '?')

/** Reads at most `?3` notifications below `?2`, after `?4` others. */
const wholeText = `
  select group_concat(text, ','), min(seq), count(*) from (
    select ${text} as text, n.seq from notification n
    where n.user_id = ?1 and n.seq < ?2 order by n.seq desc limit +?3 offset +?4
  )`

/** `page`: one more if others follow. `skip`: the last one passed over at once. */
export function statementsOf(shape: Shape) {
  const picked = listOfShape(shape, { below: '?2', taken: '?3 + 1', skipped: '+?4' })
  return {
    page: `
  with picked as materialized (${picked})
  select group_concat(text, ','), min(seq), (select count(*) from picked) from (
    select ${text} as text, n.seq from (select seq from picked order by seq desc limit +?3) one
    cross join notification n on n.user_id = ?1 and n.seq = one.seq order by one.seq desc
  )`,
    total: `
  select coalesce(sum(${countOf[shape.status]}), 0) from inbox_category
  where user_id = ?1 and category in (select value from json_each(?2))`,
    skip: listOfShape(shape, { below: '?2', taken: '1', skipped: '+?4' }),
  }
}

const statements = new Map<string, ReturnType<typeof statementsOf>>()

function knownStatements(shape: Shape) {
  const key = `${shape.status} ${shape.hasCategories}`
  const known = statements.get(key) ?? statementsOf(shape)
  statements.set(key, known)
  return known
}

export async function readVersion(
  reader: Reader,
  { userId, kept }: { userId: string; kept: object },
): Promise<number> {
  return reader.kept<[number]>(kept, inboxVersion, () => [userBytes(userId)])?.[0] ?? 0
}

export async function readPage(reader: Reader, query: PageQuery): Promise<Page> {
  const list = listOf(reader, query)
  const start = placeOf(list)
  if (start.skipped < list.passedAtOnce) return pageAt(list, start)
  return reader.atOneMoment(async (moment) => {
    const ofMoment = listOf(moment, query)
    return pageAt(ofMoment, await nearPlace(ofMoment))
  })
}

type List = FoundInbox & {
  reader: Reader
  query: PageQuery
  total: number
  given: string[]
  isWhole: boolean
  passedAtOnce: number
  known: ReturnType<typeof statementsOf>
}

function listOf(reader: Reader, query: PageQuery): List {
  const { status, categories } = query
  const { user, inbox } = inboxOf(reader, query.userId)
  const given = categories === undefined ? [] : [JSON.stringify(categories)]
  const isWhole = hasAll(query, inbox.archived + inbox.snoozed > 0)
  const known = knownStatements({
    status: isWhole ? 'all' : status,
    hasCategories: given.length > 0,
  })
  const [total] =
    given.length === 0
      ? [totalOf(inbox, status)]
      : (reader.one(known.total, user, ...given) as [number])
  const passedAtOnce = Math.max(
    leastPassed,
    Math.floor(readAtOnce / (isWhole ? 1 : rangesOf(query))),
  )
  return { reader, query, user, inbox, given, total, isWhole, passedAtOnce, known }
}

function totalOf({ total, unread, archived, snoozed }: InboxState, status: Status): number {
  if (status === 'inbox') return total
  if (status === 'unread') return unread
  if (status === 'read') return total - unread
  return { archived, snoozed, all: total + archived + snoozed }[status]
}

type Place = { below: number; skipped: number }

function placeOf({ query, inbox, total, isWhole }: List): Place {
  const { firstSeq, lastSeq } = inbox
  const end = lastSeq + 1
  if ('before' in query) return { below: Math.min(query.before, end), skipped: 0 }
  const skipped = (query.page - 1) * query.limit
  if (skipped >= total) return { below: 0, skipped: 0 }
  const hasNoGap = isWhole && total === end - firstSeq
  return hasNoGap ? { below: end - skipped, skipped: 0 } : { below: end, skipped }
}

async function nearPlace(list: List): Promise<Place> {
  const { reader, user, given, passedAtOnce, known } = list
  let { below, skipped } = placeOf(list)
  while (skipped >= passedAtOnce) {
    const passed = reader.one<[number]>(known.skip, user, below, null, passedAtOnce - 1, ...given)
    below = passed?.[0] ?? 0
    skipped -= passedAtOnce
    await yieldToEventLoop()
  }
  return { below, skipped }
}

function pageAt(
  { reader, query, user, inbox, total, given, isWhole, known }: List,
  { below, skipped }: Place,
): Page {
  const empty = { inbox, total, items: noItems, next: null }
  if (total === 0) return empty
  const [statement, more] = isWhole ? [wholeText, []] : [known.page, given]
  const [items, lowest, count] = reader.one(
    statement,
    user,
    below,
    query.limit,
    skipped,
    ...more,
  ) as [string, number, number]
  if (count === 0) return empty
  const hasMore = isWhole ? lowest > inbox.firstSeq : count > query.limit
  return { inbox, total, items: `[${items}]`, next: hasMore ? lowest : null }
}
