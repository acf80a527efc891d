// One transaction updates counters and rows, so a difference is a defect of Carillon or of the
// disk.
import { get, type Read } from '../../store/statements.ts'
import { userKey } from '../user-key.ts'

const counters = ['total', 'unread', 'archived', 'snoozed', 'unseen', 'unreadOfCategories'] as const
type Counter = (typeof counters)[number]
type Row = Record<Counter | `${Counter}Found`, number>

export function* driftOf(userId: string): Read<string[]> {
  const user = userKey(userId)
  const row = yield* get<Row>`
    select i.total, i.unread, i.archived, i.snoozed, i.unseen,
      (select count(*) from notification where user_id = ${user} and state in ('unread', 'read')) as "totalFound",
      (select count(*) from notification where user_id = ${user} and state = 'unread') as "unreadFound",
      (select count(*) from notification where user_id = ${user} and state = 'archived') as "archivedFound",
      (select count(*) from notification where user_id = ${user} and state = 'snoozed') as "snoozedFound",
      (select count(*) from notification where user_id = ${user} and state in ('unread', 'read') and seq > i.seen_through) as "unseenFound",
      (select cast(coalesce(sum(unread), 0) as bigint) from inbox_category where user_id = ${user}) as "unreadOfCategories",
      (select count(*) from notification where user_id = ${user} and category is not null and state = 'unread') as "unreadOfCategoriesFound"
    from inbox i where i.user_id = ${user}`
  if (row === undefined) return []
  const different = counters.filter((name) => row[name] !== row[`${name}Found`])
  return different.map((name) => `${name} ${row[name]}, found ${row[`${name}Found`]}`)
}
