// Puts notifications into their reader's language. If that changes in between, the inbox gets
// another version, and its clients load the list again.
import { get, type Read } from '../store/statements.ts'
import type { Store } from '../store/store.ts'
import { changesSince } from './inbox.store.ts'
import type { Change, Changes, ChangesQuery } from './inbox-state.ts'
import { localize, mayHaveTexts } from './notification-json.ts'

export function* readLocale(userId: string): Read<string | null> {
  return (
    (yield* get<{ locale: string | null }>`select locale from "user" where id = ${userId}`)
      ?.locale ?? null
  )
}

/** A client that missed more gets a reset: it reads a page faster. */
export const maxBehind = 10_000

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
