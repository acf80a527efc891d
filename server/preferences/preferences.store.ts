// What users have muted, and the categories that producers declared. A delivery reads both by itself (delivery/delivery.store.ts).
import {
  all,
  get,
  givenUser,
  inList,
  lock,
  lockUser,
  type Read,
  rowsOf,
  run,
  send,
  userKey,
  type Write,
} from '../store/statements.ts'
import { findUser, type User } from '../users/users.store.ts'

export const maxMuted = 200
export const maxDeclared = 200

/** `label` and `description` are JSON text: a string, or an object with a text for each language. */
export type Category = { name: string; label: string; description: string | null; mandatory: 0 | 1 }

export function* readCategory(of: { application: string; name: string }): Read<Category | undefined> {
  return yield* get<Category>`
    select name, label, description, mandatory from category where application = ${of.application} and name = ${of.name}`
}

/** Declares a category, or replaces it. False, and changes nothing, if the application has `maxDeclared` others. */
export function* putCategory(category: Category & { application: string }): Write<boolean> {
  const { application, name, label, description, mandatory } = category
  const changed = yield* run`
    insert into category (application, name, label, description, mandatory)
    select ${application}, ${name}, ${label}, cast(${description} as text), cast(${mandatory} as bigint)
    where (select count(*) from category where application = ${application} and name <> ${name}) < ${maxDeclared}
    on conflict (application, name) do update set
      label = excluded.label, description = excluded.description, mandatory = excluded.mandatory`
  return changed > 0
}

/** `category` is '' for everything, and `mutedUntil` is ISO 8601 or 'forever'. */
export type Mute = { category: string; mutedUntil: string }
/** `declared`: those of no application first. `present`: what the user's inbox has notifications of. */
export type Preferences = { user: User; mutes: Mute[]; declared: Category[]; present: { category: string }[] }

export function* readPreferences({ userId, now }: { userId: string; now: string }): Read<Preferences | undefined> {
  const user = yield* findUser(userId)
  if (user === undefined) return undefined
  const declared = yield* all<Category>`
    select name, label, description, mandatory from category where application in ('', ${user.application})
    order by application, name`
  const mutes = yield* all<Mute>`
    select category, muted_until as "mutedUntil" from preference
    where user_id = ${userKey(userId)} and muted_until > ${now} order by category`
  const present = yield* all<{ category: string }>`
    select category from inbox_category
    where user_id = ${userKey(userId)} and total + archived + snoozed > 0 order by category`
  return { user, mutes, declared, present }
}

type MuteChange = { userId: string; mutes: readonly { category: string; mutedUntil: string | null }[]; now: string }

/**
 * Mutes what is named until a time, or with null ends its mute, and removes the mutes that have ended. It takes turns with deliveries:
 * one that begins afterwards is muted. Returns 'too-many' if more than `maxMuted` categories would be muted; then nothing is changed.
 */
export function* changeMutes({ userId, mutes, now }: MuteChange): Write<'done' | 'absent' | 'too-many'> {
  if (!(yield* lockUser(userId))) return 'absent'
  const user = userKey(userId)
  yield* send`insert into inbox (user_id) values (${user}) on conflict do nothing`
  yield* lock`select 1 from inbox where user_id = ${user}`
  const named = inList(mutes.map(({ category }) => category))
  const added = mutes.filter(({ mutedUntil }) => mutedUntil !== null)
  const kept = yield* all<{ category: string }>`
    select category from preference where user_id = ${user} and muted_until > ${now} and not category ${named}`
  const muted = [...kept, ...added]
  if (muted.filter(({ category }) => category !== '').length > maxMuted) return 'too-many'
  yield* send`delete from preference where user_id = ${user} and (muted_until <= ${now} or category ${named})`
  yield* send`
    insert into preference (user_id, category, muted_until)
    select ${givenUser}, given.value ->> 'category', given.value ->> 'mutedUntil'
    from ${rowsOf(added.map((mute) => ({ ...mute, userId })))}`
  yield* send`update inbox set mutes = ${muted.length > 0 ? 1 : 0} where user_id = ${user}`
  return 'done'
}
