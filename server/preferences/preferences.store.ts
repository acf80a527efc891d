// What users have chosen, and the categories that producers declared. A delivery reads both by itself (delivery/delivery.store.ts).

import type { Hours, MailRule, PushRule } from '../inbox/mail-rules.ts'
import {
  decideAgain,
  hoursIn,
  mailWayOf,
  type mailWays,
  reachBits,
} from '../inbox/reminders.store.ts'
import { givenUser, userKey } from '../inbox/user-key.ts'
import {
  all,
  get,
  lock,
  Part,
  type Read,
  rowsOf,
  run,
  send,
  type Write,
} from '../store/statements.ts'
import { findUser, lockUser, type User } from '../users/users.store.ts'

export const maxMuted = 200
export const maxDeclared = 200

/** `label` and `description` are JSON text: a string, or an object with a text for each language. */
export type Category = {
  name: string
  label: string
  description: string | null
  mandatory: 0 | 1
  /** Null means the rule of the service. */
  mail?: MailRule | null
}
const categoryColumns = new Part('name, label, description, mandatory, mail')

export function* readCategory(of: {
  application: string
  name: string
}): Read<Category | undefined> {
  return yield* get<Category>`
    select ${categoryColumns} from category where application = ${of.application} and name = ${of.name}`
}

/** Declares a category, or replaces it. False, and changes nothing, if the application has `maxDeclared` others. */
export function* putCategory(category: Category & { application: string }): Write<boolean> {
  const { application, name, label, description, mandatory, mail = null } = category
  const changed = yield* run`
    insert into category (application, name, label, description, mandatory, mail)
    select ${application}, ${name}, ${label}, cast(${description} as text), cast(${mandatory} as bigint), cast(${mail} as text)
    where (select count(*) from category where application = ${application} and name <> ${name}) < ${maxDeclared}
    on conflict (application, name) do update set
      label = excluded.label, description = excluded.description, mandatory = excluded.mandatory, mail = excluded.mail`
  return changed > 0
}

/** `category` is '' for everything, and `mutedUntil` is ISO 8601 or 'forever'. Null: nothing is chosen. */
export type Choice = {
  category: string
  mutedUntil: string | null
  mail: MailRule | null
  push: PushRule | null
}
/** `declared`: those of no application first. `present`: what the user's inbox has notifications of. */
export type Preferences = {
  user: User
  choices: Choice[]
  hours: Hours
  declared: Category[]
  present: { category: string }[]
  mailWay: (typeof mailWays)[number]
}

export function* readPreferences({
  userId,
  now,
}: {
  userId: string
  now: string
}): Read<Preferences | undefined> {
  const user = yield* findUser(userId)
  if (user === undefined) return undefined
  const declared = yield* all<Category>`
    select ${categoryColumns} from category where application in ('', ${user.application}) order by application, name`
  const rows = yield* all<Stored>`
    select ${choiceColumns} from preference where user_id = ${userKey(userId)} order by category`
  const choices = rows
    .map((row) => current(row, now))
    .filter(({ mutedUntil, mail, push }) => mutedUntil ?? mail ?? push)
  const present = yield* all<{ category: string }>`
    select category from inbox_category
    where user_id = ${userKey(userId)} and total + archived + snoozed > 0 order by category`
  return {
    user,
    choices: choices.map(({ hours, ...choice }) => choice),
    hours: hoursIn(rows),
    declared,
    present,
    mailWay: yield* mailWayOf(userId),
  }
}

type Stored = Choice & { hours: string | null }
const choiceColumns = new Part('category, muted_until as "mutedUntil", mail, push, hours')

function current(stored: Stored, now: string): Stored {
  const isOver = stored.mutedUntil !== null && stored.mutedUntil <= now
  return isOver ? { ...stored, mutedUntil: null } : stored
}

type Change = {
  userId: string
  mutes?: readonly Pick<Choice, 'category' | 'mutedUntil'>[]
  mails?: readonly Pick<Choice, 'category' | 'mail'>[]
  pushes?: readonly Pick<Choice, 'category' | 'push'>[]
  hours?: Partial<Hours> | undefined
  now: string
}

/**
 * Null ends a mute or a rule; mutes that have ended are removed. A delivery that begins afterwards
 * is muted, and what waits to be sent is decided about again. Returns 'too-many' if more than
 * `maxMuted` categories would have a mute or a rule; then nothing is changed.
 */
export function* changePreferences(change: Change): Write<'done' | 'absent' | 'too-many'> {
  const { userId, mutes = [], mails = [], pushes = [], hours, now } = change
  if (!(yield* lockUser(userId))) return 'absent'
  const user = userKey(userId)
  yield* send`insert into inbox (user_id) values (${user}) on conflict do nothing`
  yield* lock`select 1 from inbox where user_id = ${user}`
  const rows = yield* all<Stored>`select ${choiceColumns} from preference where user_id = ${user}`
  const chosen = new Map(rows.map((row) => [row.category, current(row, now)]))
  const set = (category: string, choice: Partial<Stored>) =>
    chosen.set(category, {
      mutedUntil: null,
      mail: null,
      push: null,
      hours: null,
      ...chosen.get(category),
      ...choice,
      category,
    })
  for (const { category, mutedUntil } of mutes) set(category, { mutedUntil })
  for (const { category, mail } of mails) set(category, { mail })
  for (const { category, push } of pushes) set(category, { push })
  if (hours !== undefined) set('', { hours: JSON.stringify({ ...hoursIn(rows), ...hours }) })
  const after = [...chosen.values()].filter(
    (one) => one.mutedUntil ?? one.mail ?? one.push ?? one.hours,
  )
  if (after.filter(({ category }) => category !== '').length > maxMuted) return 'too-many'
  yield* send`delete from preference where user_id = ${user}`
  yield* send`
    insert into preference (user_id, category, muted_until, mail, push, hours)
    select ${givenUser}, given.value ->> 'category', given.value ->> 'mutedUntil', given.value ->> 'mail', given.value ->> 'push',
      given.value ->> 'hours'
    from ${rowsOf(after.map((one) => ({ ...one, userId })))}`
  const hasMutes = after.some(({ mutedUntil }) => mutedUntil !== null)
  const hasRules = after.some(({ mail, hours: stored }) => mail !== null || stored !== null)
  const ownRules = hasRules ? reachBits.ownRules : 0
  yield* send`
    update inbox set mutes = ${hasMutes ? 1 : 0}, reach = reach - (reach & ${reachBits.ownRules}) + ${ownRules}
    where user_id = ${user}`
  if (mails.length + pushes.length > 0 || hours !== undefined) yield* decideAgain(userId)
  return 'done'
}
