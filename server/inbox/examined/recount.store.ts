// Counters and rows change in one transaction: a difference is a defect of Carillon or of the disk.
import { get, Part, type Read } from '../../store/statements.ts'
import { userKey } from '../user-key.ts'

const listed = "state in ('unread', 'read')"
const rules = {
  total: listed,
  unread: "state = 'unread'",
  archived: "state = 'archived'",
  snoozed: "state = 'snoozed'",
  unseen: `${listed} and seq > i.seen_through`,
  unreadOfCategories: "state = 'unread' and category is not null",
}
type Counter = keyof typeof rules
const counters = Object.keys(rules) as Counter[]
const found = new Part(
  counters
    .map((name) => {
      const rows = `select count(*) from notification where user_id = i.user_id and ${rules[name]}`
      return `(${rows}) as "${name}Found"`
    })
    .join(),
)

/** Returns texts such as "unread 3, found 2". */
export function* driftOf(userId: string): Read<string[]> {
  const row = yield* get<Record<Counter | `${Counter}Found`, number>>`
    select i.total, i.unread, i.archived, i.snoozed, i.unseen, ${found},
      (select cast(coalesce(sum(unread), 0) as bigint) from inbox_category where user_id = i.user_id) as "unreadOfCategories"
    from inbox i where i.user_id = ${userKey(userId)}`
  if (row === undefined) return []
  const different = counters.filter((name) => row[name] !== row[`${name}Found`])
  return different.map((name) => `${name} ${row[name]}, found ${row[`${name}Found`]}`)
}
