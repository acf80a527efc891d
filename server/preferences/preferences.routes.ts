import { iso, parseTime } from '../basics/clock.ts'
import {
  conflict,
  invalidField,
  invalidRequest,
  notAuthenticated,
  notFound,
} from '../basics/errors.ts'
import {
  forProducer,
  forUser,
  type GuardedRequest,
  type ProducerCaller,
} from '../http/operation.ts'
import { sendData } from '../http/response/send.ts'
import { categoryFault } from '../inbox/category-name.ts'
import {
  type Hours,
  isTimeZone,
  type MailRule,
  ruleFor,
  timeZoneFault,
} from '../inbox/mail-rules.ts'
import { textFor } from '../inbox/notification-json.ts'
import type { Store } from '../store/store.ts'
import { languageFaults } from '../users/profile.ts'
import {
  CategoryBody,
  CategoryResponse,
  PreferencesBody,
  PreferencesResponse,
} from './preferences.schemas.ts'
import {
  type Category,
  changePreferences,
  maxDeclared,
  maxMuted,
  type Preferences,
  putCategory,
  readCategory,
  readPreferences,
} from './preferences.store.ts'

/**
 * `wall`: the clock by which deliveries are muted. `mailUnread`: the rule of the service; undefined
 * without a mail server.
 */
type Needs = { preferences: { store: Store; wall: () => number; mailUnread: MailRule | undefined } }

export const get = forUser({
  summary: 'What the user has chosen, with each category that is declared, muted, or in the inbox',
  responses: { 200: PreferencesResponse },
  async handle({ preferences: { store, wall, mailUnread } }: Needs, { caller }, reply) {
    const found = await store.read(readPreferences, { userId: caller.userId, now: iso(wall()) })
    if (found === undefined) throw notAuthenticated()
    return sendData(reply, displayed(found, mailUnread))
  },
})

export const put = forUser({
  summary:
    'Choose what is muted, what is pushed, and when mails are sent about what is unread; what is not named stays as it is',
  body: PreferencesBody,
  bodyLimit: 128 * 1024,
  maxFields: 4 * maxMuted,
  refusals: ['CONFLICT'],
  async handle({ preferences: { store, wall } }: Needs, { caller: { userId }, body }) {
    const { mutedUntil, mail, push, categories = {} } = body
    const now = iso(wall())
    for (const category of Object.keys(categories)) refuseName(category, `categories.${category}`)
    const mutes = Object.entries(categories).flatMap(([category, { mutedUntil: until }]) =>
      until === undefined
        ? []
        : [{ category, mutedUntil: timeIn(until, `categories.${category}.mutedUntil`, now) }],
    )
    if (mutedUntil !== undefined)
      mutes.push({ category: '', mutedUntil: timeIn(mutedUntil, 'mutedUntil', now) })
    const mails = Object.entries(categories).flatMap(([category, { mail: rule }]) =>
      rule === undefined ? [] : [{ category, mail: rule }],
    )
    if (mail !== undefined) mails.push({ category: '', mail })
    const pushes = Object.entries(categories).flatMap(([category, { push: rule }]) =>
      rule === undefined ? [] : [{ category, push: rule }],
    )
    if (push !== undefined) pushes.push({ category: '', push })
    const declared = byName((await store.read(readPreferences, { userId, now }))?.declared ?? [])
    const isMandatory = ({ category }: { category: string }) => declared.get(category)?.mandatory
    const refused = mutes.find((one) => one.mutedUntil && isMandatory(one))
    if (refused) throw conflict(`The category ${refused.category} is mandatory: it cannot be muted`)
    const unmailed = mails.find((one) => one.mail === 'off' && isMandatory(one))
    if (unmailed)
      throw conflict(
        `The category ${unmailed.category} is mandatory: its mails cannot be turned off`,
      )
    const unpushed = pushes.find((one) => one.push === 'off' && isMandatory(one))
    if (unpushed)
      throw conflict(
        `The category ${unpushed.category} is mandatory: its pushes cannot be turned off`,
      )
    const outcome = await store.write(changePreferences, {
      userId,
      mutes,
      mails,
      pushes,
      hours: hoursOf(body),
      now,
    })
    if (outcome === 'absent') throw notAuthenticated()
    if (outcome === 'too-many') throw conflict(`You can choose for ${maxMuted} categories at most`)
  },
})

/** Throws INVALID_REQUEST for an unknown time zone. */
function hoursOf({ timeZone, digestAt, quietHours }: PreferencesBody): Partial<Hours> | undefined {
  if (timeZone != null && !isTimeZone(timeZone)) throw invalidField('timeZone', timeZoneFault)
  const given = Object.entries({ timeZone, digestAt, quietHours }).filter(
    ([, value]) => value !== undefined,
  )
  return given.length === 0 ? undefined : Object.fromEntries(given)
}

const withZone = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/

function timeIn(text: string | null, field: string, now: string): string | null {
  if (text === null || text === 'forever') return text
  const time = iso((withZone.test(text) && parseTime(text)) || 0)
  if (time > now) return time
  throw invalidField(
    field,
    'must be a time in the future (ISO 8601, with a time zone), "forever" or null',
  )
}

function displayed(found: Preferences, mailUnread: MailRule | undefined) {
  const ofService = mailUnread ?? 'off'
  const mailWay = mailUnread === undefined ? 'off' : found.mailWay
  const { user, choices, hours, declared, present } = found
  const chosen = new Map(choices.map((choice) => [choice.category, choice]))
  const known = byName(declared)
  const others = [...present, ...choices].map(({ category }) => category)
  const names = new Set([...declared.map(({ name }) => name), ...others])
  names.delete('')
  const categories = Array.from(names, (name) => {
    const { label, description = null, mandatory, mail: ofCategory = null } = known.get(name) ?? {}
    const isMandatory = mandatory === 1
    const ofAll = chosen.get('')?.mail ?? null
    const usualMail = ruleFor({ own: null, ofAll, declared: ofCategory, isMandatory }, ofService)
    const inLanguage = (json: string) => textFor(user.locale, JSON.parse(json))
    const texts = {
      label: label ? inLanguage(label) : name,
      description: description && inLanguage(description),
    }
    return [
      name,
      { ...choiceOf(chosen.get(name)), ...texts, mandatory: isMandatory, usualMail },
    ] as const
  })
  const all = { ...choiceOf(chosen.get('')), usualMail: ofService, ...hours }
  return { ...all, ways: { mail: mailWay }, categories: Object.fromEntries(categories) }
}

function choiceOf(choice: Preferences['choices'][number] | undefined) {
  return {
    mutedUntil: choice?.mutedUntil ?? null,
    mail: choice?.mail ?? null,
    push: choice?.push ?? null,
  }
}

/** What the service itself reports about an account is never muted. */
const ownLabel = JSON.stringify({ en: 'Security', de: 'Sicherheit', fr: 'Sécurité' })
const security: Category = { name: 'security', label: ownLabel, description: null, mandatory: 1 }

/** What the user's application has declared takes the place of what the producers of none have. */
function byName(declared: Preferences['declared']) {
  return new Map([...declared, security].map((category) => [category.name, category]))
}

export const declareCategory = forProducer({
  summary:
    'Declare a category: its name and description for readers, whether nobody can mute it, and when mails are sent',
  body: CategoryBody,
  bodyLimit: 64 * 1024,
  maxFields: 100,
  refusals: ['CONFLICT'],
  async handle({ preferences: { store } }: Needs, request) {
    const { name, description = null, mandatory, mail = null } = request.body
    const faults = languageFaults({ name, description })
    if (faults.length > 0) throw invalidRequest(faults)
    const texts = {
      label: JSON.stringify(name),
      description: description && JSON.stringify(description),
    }
    if (
      !(await store.write(putCategory, {
        ...categoryOf(request),
        ...texts,
        mandatory: mandatory ? 1 : 0,
        mail,
      }))
    )
      throw conflict(`An application can declare ${maxDeclared} categories at most`)
  },
})

export const getCategory = forProducer({
  summary: 'A category as it was declared',
  responses: { 200: CategoryResponse },
  refusals: ['INVALID_REQUEST'],
  async handle({ preferences: { store } }: Needs, request, reply) {
    const found = await store.read(readCategory, categoryOf(request))
    if (found === undefined) throw notFound('Your application has declared no such category')
    const name = JSON.parse(found.label)
    const description = found.description === null ? null : JSON.parse(found.description)
    return sendData(reply, {
      name,
      description,
      mandatory: found.mandatory === 1,
      mail: found.mail ?? null,
    })
  },
})

/** Throws NOT_FOUND without a name, INVALID_REQUEST for one that no producer can declare. */
function categoryOf({ caller, params }: GuardedRequest<ProducerCaller>) {
  const { category: name } = params
  if (name === '') throw notFound('The path has no name of a category')
  refuseName(name, 'category')
  if (name === 'security')
    throw invalidField('category', 'must not be security: the service itself has it')
  if ([...name].length > 64) throw invalidField('category', 'must have at most 64 characters')
  return { application: caller.application, name }
}

function refuseName(category: string, field: string): void {
  const reason = categoryFault(category)
  if (reason !== undefined) throw invalidField(field, reason)
}
