// Notifications in the language of their reader. The language is read after them, and only if they have texts in several: if it changes in
// between, the inbox has another version by then, and its clients load the list again.
import { get, type Read } from '../store/statements.ts'
import type { Store } from '../store/store.ts'
import { changesSince } from './inbox.store.ts'
import type { Change, Changes, ChangesQuery } from './inbox-state.ts'
import { localize, mayHaveTexts } from './notification-json.ts'

/** A language tag (BCP 47), or null if it is not known. */
export function* readLocale(userId: string): Read<string | null> {
  return (yield* get<{ locale: string | null }>`select locale from "user" where id = ${userId}`)?.locale ?? null
}

/** A client that has missed more changes than this gets a reset: it reads a page faster than this many changes. */
export const maxBehind = 10_000

/** What `changesSince` reads. */
export async function readChanges(store: Store, query: Omit<ChangesQuery, 'maxBehind'>): Promise<Changes | 'reset'> {
  const found = await store.read(changesSince, { ...query, maxBehind })
  const isTranslated = (change: Change) => 'notification' in change && mayHaveTexts(change.notification)
  if (found === 'reset' || !found.changes.some(isTranslated)) return found
  const locale = await store.read(readLocale, query.userId)
  const changes = found.changes.map((change) =>
    'notification' in change ? { ...change, notification: localize(change.notification, locale) } : change,
  )
  return { ...found, changes }
}
