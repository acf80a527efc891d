// The routes by which users mute categories or everything.
import { iso, parseTime } from '../basics/clock.ts'
import { CarillonError, invalidField, notAuthenticated } from '../basics/errors.ts'
import { forUser } from '../http/operation.ts'
import { sendData } from '../http/response/send.ts'
import { fallbackOf, type Texts, tagsOf } from '../inbox/notification-json.ts'
import type { Store } from '../store/store.ts'
import { PreferencesBody, PreferencesResponse } from './preferences.schemas.ts'
import { type Category, changeMutes, maxMuted, type Preferences, readPreferences } from './preferences.store.ts'

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
    const mutes = Object.entries(categories).map(([category, mute]) => {
      return { category, mutedUntil: timeIn(mute.mutedUntil, `categories.${category}.mutedUntil`, now) }
    })
    if (mutedUntil !== undefined) mutes.push({ category: '', mutedUntil: timeIn(mutedUntil, 'mutedUntil', now) })
    const declared = byName((await store.read(readPreferences, { userId, now }))?.declared ?? [])
    const refused = mutes.find(({ category, mutedUntil: until }) => until && declared.get(category)?.mandatory)
    if (refused)
      throw new CarillonError('CONFLICT', `The category ${refused.category} is mandatory: it cannot be muted`)
    const outcome = await store.write(changeMutes, { userId, mutes, now })
    if (outcome === 'absent') throw notAuthenticated()
    if (outcome === 'too-many') throw new CarillonError('CONFLICT', `You can mute ${maxMuted} categories at most`)
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
