// The routes by which users mute categories or everything, and producers declare the categories of their application.
import { iso, parseTime } from '../basics/clock.ts'
import { conflict, invalidField, invalidRequest, notAuthenticated, notFound } from '../basics/errors.ts'
import { forProducer, forUser, type GuardedRequest, type ProducerCaller } from '../http/operation.ts'
import { sendData } from '../http/response/send.ts'
import { categoryFault } from '../inbox/category-name.ts'
import { fallbackOf, type Texts, tagsOf } from '../inbox/notification-json.ts'
import type { Store } from '../store/store.ts'
import { languageFaults } from '../users/profile.ts'
import { CategoryBody, CategoryResponse, PreferencesBody, PreferencesResponse } from './preferences.schemas.ts'
import {
  type Category,
  changeMutes,
  maxDeclared,
  maxMuted,
  type Preferences,
  putCategory,
  readCategory,
  readPreferences,
} from './preferences.store.ts'

/** `wall`: the clock by which deliveries are muted. */
type Needs = { preferences: { store: Store; wall: () => number } }

export const get = forUser({
  summary: 'What the user has muted, with each category that is declared, muted, or in the inbox',
  responses: { 200: PreferencesResponse },
  async handle({ preferences: { store, wall } }: Needs, { caller }, reply) {
    const found = await store.read(readPreferences, { userId: caller.userId, now: iso(wall()) })
    if (found === undefined) throw notAuthenticated()
    return sendData(reply, displayed(found))
  },
})

export const put = forUser({
  summary: 'Mute categories or everything until a time or for ever, or end a mute; what is not named stays as it is',
  body: PreferencesBody,
  bodyLimit: 128 * 1024,
  maxFields: 3 * maxMuted,
  refusals: ['CONFLICT'],
  async handle({ preferences: { store, wall } }: Needs, { caller: { userId }, body }) {
    const { mutedUntil, categories = {} } = body
    const now = iso(wall())
    for (const category of Object.keys(categories)) refuseName(category, `categories.${category}`)
    const mutes = Object.entries(categories).map(([category, mute]) => {
      return { category, mutedUntil: timeIn(mute.mutedUntil, `categories.${category}.mutedUntil`, now) }
    })
    if (mutedUntil !== undefined) mutes.push({ category: '', mutedUntil: timeIn(mutedUntil, 'mutedUntil', now) })
    const declared = byName((await store.read(readPreferences, { userId, now }))?.declared ?? [])
    const refused = mutes.find(({ category, mutedUntil: until }) => until && declared.get(category)?.mandatory)
    if (refused) throw conflict(`The category ${refused.category} is mandatory: it cannot be muted`)
    const outcome = await store.write(changeMutes, { userId, mutes, now })
    if (outcome === 'absent') throw notAuthenticated()
    if (outcome === 'too-many') throw conflict(`You can mute ${maxMuted} categories at most`)
  },
})

const withZone = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/

/** A time is in the form in which it is stored. */
function timeIn(text: string | null, field: string, now: string): string | null {
  if (text === null || text === 'forever') return text
  const time = iso((withZone.test(text) && parseTime(text)) || 0)
  if (time > now) return time
  throw invalidField(field, 'must be a time in the future (ISO 8601, with a time zone), "forever" or null')
}

function displayed({ user, mutes, declared, present }: Preferences) {
  const untils = new Map(mutes.map(({ category, mutedUntil }) => [category, mutedUntil]))
  const known = byName(declared)
  const others = [...present, ...mutes].map(({ category }) => category)
  const names = new Set([...declared.map(({ name }) => name), ...others])
  names.delete('')
  const categories = Array.from(names, (name) => {
    const { label, description = null, mandatory } = known.get(name) ?? {}
    const texts = { label: label ? textFor(user, label) : name, description: description && textFor(user, description) }
    return [name, { mutedUntil: untils.get(name) ?? null, ...texts, mandatory: mandatory === 1 }] as const
  })
  return { mutedUntil: untils.get('') ?? null, categories: Object.fromEntries(categories) }
}

/** The text in the user's language, chosen as that of a notification. */
function textFor({ locale }: Pick<Preferences['user'], 'locale'>, json: string): string {
  const texts: Texts = JSON.parse(json)
  if (typeof texts === 'string') return texts
  const own = tagsOf(locale).findLast((tag) => texts[tag] !== undefined) ?? ''
  return texts[own] ?? fallbackOf(texts)
}

/** What the service itself reports about an account is never muted. */
const ownLabel = JSON.stringify({ en: 'Security', de: 'Sicherheit', fr: 'Sécurité' })
const security: Category = { name: 'security', label: ownLabel, description: null, mandatory: 1 }

/** What the user's application has declared takes the place of what the producers of none have. */
function byName(declared: Preferences['declared']) {
  return new Map([...declared, security].map((category) => [category.name, category]))
}

export const declareCategory = forProducer({
  summary: 'Declare a category: its name and description for readers, and whether nobody can mute it',
  body: CategoryBody,
  bodyLimit: 64 * 1024,
  maxFields: 100,
  refusals: ['CONFLICT'],
  async handle({ preferences: { store } }: Needs, request) {
    const { name, description = null, mandatory } = request.body
    const faults = languageFaults({ name, description })
    if (faults.length > 0) throw invalidRequest(faults)
    const texts = { label: JSON.stringify(name), description: description && JSON.stringify(description) }
    if (!(await store.write(putCategory, { ...categoryOf(request), ...texts, mandatory: mandatory ? 1 : 0 })))
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
    const [name, description] = [found.label, found.description ?? 'null'].map((text) => JSON.parse(text))
    return sendData(reply, { name, description, mandatory: found.mandatory === 1 })
  },
})

/** Throws NOT_FOUND without a name, and INVALID_REQUEST for one that no producer can declare. */
function categoryOf({ caller, params }: GuardedRequest<ProducerCaller>) {
  const { category: name } = params
  if (name === '') throw notFound('The path has no name of a category')
  refuseName(name, 'category')
  if (name === 'security') throw invalidField('category', 'must not be security: the service itself has it')
  if ([...name].length > 64) throw invalidField('category', 'must have at most 64 characters')
  return { application: caller.application, name }
}

function refuseName(category: string, field: string): void {
  const reason = categoryFault(category)
  if (reason !== undefined) throw invalidField(field, reason)
}
