// The most frequent reads have a form for each engine.
import { all, get, Part, type Read } from '../store/statements.ts'
import type { Store } from '../store/store.ts'
import {
  type Change,
  type Changes,
  type ChangesQuery,
  type Counts,
  emptyInbox,
  type InboxState,
  inboxFields,
  type OneNotification,
} from './inbox-state.ts'
import { localize, mayHaveTexts, notificationText } from './notification-json.ts'
import { changesSince as changesOnPostgres } from './postgres/changes.ts'
import { readPage as pageOnPostgres, readVersion as versionOnPostgres } from './postgres/pages.ts'
import { changesSince as changesOnSqlite } from './sqlite/changes.ts'
import { readPage as pageOnSqlite, readVersion as versionOnSqlite } from './sqlite/pages.ts'
import { userKey } from './user-key.ts'

const columns = new Part(inboxFields())

export function* readInbox(userId: string): Read<InboxState> {
  return (
    (yield* get<InboxState>`select ${columns} from inbox i where i.user_id = ${userKey(userId)}`) ??
    emptyInbox
  )
}

/** Another user's notification is absent. */
export function* readNotification({ userId, id }: OneNotification): Read<string | undefined> {
  const found = yield* get<{ text: string }>`
    select ${notificationText} as text from notification n
    where n.user_id = ${userKey(userId)} and n.id = ${id}`
  return found?.text
}

type CountRow = InboxState & {
  category: string | null
  ofCategory: number
  unreadOfCategory: number
}

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
 * Newest first. A page past the end is empty. A page by cursor costs the same at any depth, however
 * few notifications match. So does a numbered page of an unfiltered list without gaps.
 */
export const readPage = { name: 'readPage', sqlite: pageOnSqlite, postgres: pageOnPostgres }

/** The version costs a fraction of a page. `kept`: what a caller keeps, always the same object. */
export const readVersion = {
  name: 'readVersion',
  sqlite: versionOnSqlite,
  postgres: versionOnPostgres,
}

/**
 * At most `limit` changes after a version, in order. An arrival is listed once, at its version, or
 * as replaced where it was last sent again; one that changed since is listed again, at its last
 * change. Returns 'reset' if the inbox never reached the version, is more than `maxBehind` ahead,
 * or the version is below `resetVersion`.
 */
export const changesSince = {
  name: 'changesSince',
  sqlite: changesOnSqlite,
  postgres: changesOnPostgres,
}

export function* readLocale(userId: string): Read<string | null> {
  const user = yield* get<{ locale: string | null }>`select locale from "user" where id = ${userId}`
  return user?.locale ?? null
}

/** A client that missed more gets a reset: reading a page is faster. */
export const maxBehind = 10_000

/** If the language changes meanwhile, the inbox has a new version: clients load the list again. */
export async function readChanges(
  store: Store,
  query: Omit<ChangesQuery, 'maxBehind'>,
): Promise<Changes | 'reset'> {
  const found = await store.read(changesSince, { ...query, maxBehind })
  const isTranslated = (change: Change) =>
    'notification' in change && mayHaveTexts(change.notification)
  if (found === 'reset' || !found.changes.some(isTranslated)) return found
  const locale = await store.read(readLocale, query.userId)
  const changes = found.changes.map((change) =>
    'notification' in change
      ? { ...change, notification: localize(change.notification, locale) }
      : change,
  )
  return { ...found, changes }
}
