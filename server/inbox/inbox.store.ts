// Reads one user's inbox: its state, one notification, counts. Pages and changes have a form for each engine (sqlite/, postgres/).
import { all, get, type Read } from '../store/statements/statements.ts'
import { Part, userKey } from '../store/statements/templates.ts'
import { type Counts, emptyInbox, type InboxState, type Input } from '../store/store.ts'
import { notificationText } from './notification-json.ts'

export const inboxReads = { readInbox, readNotification, readCounts }

const columns = new Part(`i.version, i.first_seq as "firstSeq", i.last_seq as "lastSeq", i.total, i.unread, i.read_through as "readThrough",
  i.read_version as "readVersion", i.marked_unread as "markedUnread", i.reset_version as "resetVersion",
  i.category_through as "categoryThrough"`)

export function* readInbox(userId: string): Read<InboxState> {
  return (yield* get<InboxState>`select ${columns} from inbox i where i.user_id = ${userKey(userId)}`) ?? emptyInbox
}

const byId = new Part('indexed by notification_by_id', '')

export function* readNotification({ userId, id }: Input<'readNotification'>): Read<string | undefined> {
  const found = yield* get<{ text: string }>`
    select ${notificationText} as text from notification n ${byId}
    where n.user_id = ${userKey(userId)} and substr(n.id, 1, 13) = ${id.slice(0, 13)} and n.id = ${id}`
  return found?.text
}

type CountRow = InboxState & { category: string | null; ofCategory: number; unreadOfCategory: number }

export function* readCounts(userId: string): Read<Counts> {
  const categories: Counts['categories'] = Object.create(null)
  const rows = yield* all<CountRow>`
    select ${columns}, c.category, c.total as "ofCategory", c.unread as "unreadOfCategory"
    from inbox i left join inbox_category c on c.user_id = i.user_id and c.total > 0
    where i.user_id = ${userKey(userId)} order by c.category`
  for (const { category, ofCategory, unreadOfCategory } of rows)
    if (category !== null) categories[category] = { total: ofCategory, unread: unreadOfCategory }
  if (rows[0] === undefined) return { inbox: emptyInbox, categories }
  const { category, ofCategory, unreadOfCategory, ...inbox } = rows[0]
  return { inbox, categories }
}
