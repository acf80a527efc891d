// The language in which a user reads notifications that have texts in several.
import { get, type Read, send, signal, userKey, type Write } from '../store/statements.ts'

/** A language tag (BCP 47), or null if it is not known. */
export function* readLocale(userId: string): Read<string | null> {
  return (yield* get<{ locale: string | null }>`select locale from "user" where id = ${userId}`)?.locale ?? null
}

/** In the step that changes the user's language: the pages of the inbox are others, and its clients load the list again. */
export function* changeLanguage(userId: string): Write<void> {
  yield* send`
    update inbox set version = version + 1, reset_version = version + 1 where user_id = ${userKey(userId)}`
  yield* signal({ about: 'inbox', userId })
}
