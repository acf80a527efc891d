// Reads one user's inbox: its state, one notification, counts. Pages and changes are the most frequent, so each engine reads them in a form of its own.
import { all, get, Part, type Read, userKey } from '../store/statements.ts'
import { type Counts, emptyInbox, type InboxState, inboxFields, type OneNotification } from './inbox-state.ts'
import { notificationText } from './notification-json.ts'
import { changesSince as changesOnPostgres } from './postgres/changes.ts'
import { readPage as pageOnPostgres } from './postgres/pages.ts'
import { changesSince as changesOnSqlite } from './sqlite/changes.ts'
import { readPage as pageOnSqlite } from './sqlite/pages.ts'

const columns = new Part(inboxFields())

export function* readInbox(userId: string): Read<InboxState> {
  return (yield* get<InboxState>`select ${columns} from inbox i where i.user_id = ${userKey(userId)}`) ?? emptyInbox
}

/** Reads one notification of this user as JSON text; another user's notification is absent. */
export function* readNotification({ userId, id }: OneNotification): Read<string | undefined> {
  const found = yield* get<{ text: string }>`
    select ${notificationText} as text from notification n
    where n.user_id = ${userKey(userId)} and n.id = ${id}`
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

/**
 * Reads a page: newest first, in the order of sequence numbers. A page past the end is empty. A page by cursor costs the same
 * at any depth, however few notifications match; so does a numbered page of a list without a filter in which no sequence
 * number is missing. Another numbered page passes over the notifications above it. A list of unread notifications also
 * passes over those that a read-all of categories covers. Returns 'unchanged' if the inbox still has the version of `unless`.
 */
export const readPage = { name: 'readPage', sqlite: pageOnSqlite, postgres: pageOnPostgres }

/**
 * Reads what changed after a version, in order, at most `limit` changes; `more` says that further changes follow. Each
 * notification that arrived is listed once, at the version of its arrival, or as replaced at the version at which it was
 * sent again last; one that changed since is listed again, at its last change. Returns 'reset' if
 * the inbox never reached the version, is more than `maxBehind` changes ahead of it, or had a read-all undone since.
 */
export const changesSince = { name: 'changesSince', sqlite: changesOnSqlite, postgres: changesOnPostgres }
