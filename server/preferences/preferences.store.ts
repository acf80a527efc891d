// What users chose, and what producers declared. A delivery reads both
// (delivery/delivery.store.ts).

import { type Hours, type MailRule, type PushRule, ruleFor } from '../inbox/mail-rules.ts'
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

export type Category = {
  name: string
  label: string
  description: string | null
  mandatory: 0 | 1
  /** Null for the service's rule. */
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

/** Declares or replaces a category. Returns false, and does nothing, at `maxDeclared` others. */
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

/** Declarations of the user's application precede those of producers without an application. */
function* declaredFor(application: string): Read<Map<string, Category>> {
  const rows = yield* all<Category>`
    select ${categoryColumns} from category where application in ('', ${application}) order by application, name`
  return new Map(rows.map((category) => [category.name, category]))
}

/** 0001-schema.sql explains the columns. Null: nothing is chosen. */
export type Choice = {
  category: string
  mutedUntil: string | null
  mail: MailRule | null
  push: PushRule | null
  hours: string | null
}
const nothing: Choice = { category: '', mutedUntil: null, mail: null, push: null, hours: null }

/** By category, without mutes that have ended at `now`. */
function* choicesOf(userId: string, now = ''): Read<Map<string, Choice>> {
  const rows = yield* all<Choice>`
    select category, case when muted_until > ${now} then muted_until end as "mutedUntil", mail, push, hours
    from preference where user_id = ${userKey(userId)} order by category`
  return new Map(rows.filter(isAny).map((choice) => [choice.category, choice]))
}

function isAny({ mutedUntil, mail, push, hours }: Choice): boolean {
  return (mutedUntil ?? mail ?? push ?? hours) !== null
}

export type Preferences = {
  user: User
  choices: Map<string, Choice>
  hours: Hours
  declared: Map<string, Category>
  present: string[]
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
  const choices = yield* choicesOf(userId, now)
  const present = yield* all<{ category: string }>`
    select category from inbox_category
    where user_id = ${userKey(userId)} and total + archived + snoozed > 0 order by category`
  return {
    user,
    choices,
    hours: hoursIn([...choices.values()]),
    declared: yield* declaredFor(user.application),
    present: present.map(({ category }) => category),
    mailWay: yield* mailWayOf(userId),
  }
}

export type Rules = {
  hours: Hours
  declared: Map<string, Category>
  ruleOf: (category: string | null) => MailRule
  isPushed: (category: string | null) => boolean
  isMuted: (category: string | null) => boolean
}

/** `ofService`: if neither user nor category has a rule. `now`: ISO 8601, for mutes. */
export function* rulesOf({ id, application }: User, ofService: MailRule, now = ''): Read<Rules> {
  const choices = yield* choicesOf(id, now)
  const declared = yield* declaredFor(application)
  const ofAll = choices.get('')
  const found = (category: string | null) => {
    const { mail = null, mandatory = 0 } = declared.get(category ?? '') ?? {}
    return { own: choices.get(category ?? ''), mail, isMandatory: mandatory === 1 }
  }
  return {
    hours: hoursIn([...choices.values()]),
    declared,
    ruleOf(category) {
      const { own, mail, isMandatory } = found(category)
      const choice = {
        own: own?.mail ?? null,
        ofAll: ofAll?.mail ?? null,
        declared: mail,
        isMandatory,
      }
      return ruleFor(choice, ofService)
    },
    isPushed(category) {
      const { own, isMandatory } = found(category)
      return isMandatory || (own?.push ?? ofAll?.push) !== 'off'
    },
    isMuted(category) {
      const { own, isMandatory } = found(category)
      return !isMandatory && (own?.mutedUntil ?? ofAll?.mutedUntil ?? null) !== null
    },
  }
}

type Given<Value> = { [Name in keyof Value]?: Value[Name] | undefined }
export type Chosen = Pick<Choice, 'category'> & Given<Omit<Choice, 'category' | 'hours'>>
/** What is undefined stays as it is. */
type Change = { userId: string; choices?: readonly Chosen[]; hours?: Given<Hours>; now: string }

function given<Value extends object>(change: Value) {
  const entries = Object.entries(change).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [Name in keyof Value]: Exclude<Value[Name], undefined> }
}

/**
 * Null ends a mute or a rule; ended mutes are removed. Later deliveries are muted, and what waits
 * is decided again. Returns 'too-many', and changes nothing, if more than `maxMuted` categories
 * would have a mute or a rule.
 */
export function* changePreferences(change: Change): Write<'done' | 'absent' | 'too-many'> {
  const { userId, choices = [], now } = change
  if (!(yield* lockUser(userId))) return 'absent'
  const user = userKey(userId)
  yield* send`insert into inbox (user_id) values (${user}) on conflict do nothing`
  yield* lock`select 1 from inbox where user_id = ${user}`
  const chosen = yield* choicesOf(userId, now)
  const hours = given(change.hours ?? {})
  const isOfHours = Object.keys(hours).length > 0
  const ofAll = {
    category: '',
    hours: JSON.stringify({ ...hoursIn([...chosen.values()]), ...hours }),
  }
  for (const choice of isOfHours ? [...choices, ofAll] : choices) {
    const before = chosen.get(choice.category) ?? nothing
    chosen.set(choice.category, { ...before, ...given(choice) })
  }
  const after = [...chosen.values()].filter(isAny)
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
  yield* decideAgain(userId)
  return 'done'
}
