// The routes by which users mute categories or everything.
import { iso } from '../basics/clock.ts'
import { CarillonError, type Fault, invalidRequest, notAuthenticated } from '../basics/errors.ts'
import { forUser } from '../http/operation.ts'
import { sendData } from '../http/response/send.ts'
import { fallbackOf, type Texts } from '../inbox/notification-json.ts'
import type { Store } from '../store/store.ts'
import { PreferencesBody, PreferencesResponse } from './preferences.schemas.ts'
import { changeMutes, type MuteChange, maxMuted, type Preferences, readPreferences } from './preferences.store.ts'

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
  async handle({ preferences: { store, wall } }: Needs, { caller, body }) {
    const now = iso(wall())
    const mutes = mutesIn(body, now)
    const { userId } = caller
    const { declared } = (await store.read(readPreferences, { userId, now })) ?? {}
    refuseMandatory(mutes, declared)
    const outcome = await store.write(changeMutes, { userId, mutes, now })
    if (outcome === 'absent') throw notAuthenticated()
    if (outcome === 'too-many') throw new CarillonError('CONFLICT', `You can mute ${maxMuted} categories at most`)
  },
})

type Mutes = MuteChange['mutes']

/** Throws INVALID_REQUEST with every fault. */
function mutesIn({ mutedUntil, categories = {} }: PreferencesBody, now: string): Mutes {
  const faults: Fault[] = []
  const mutes = Object.entries(categories).map(([category, mute]) => {
    const field = `categories.${category}`
    if (category === '' || [...category].length > 64) faults.push({ field, reason: 'must have 1 to 64 characters' })
    return { category, mutedUntil: timeIn(mute.mutedUntil, `${field}.mutedUntil`) }
  })
  if (mutedUntil !== undefined) mutes.push({ category: '', mutedUntil: timeIn(mutedUntil, 'mutedUntil') })
  if (faults.length > 0) throw invalidRequest(faults)
  return mutes

  function timeIn(text: string | null, field: string): string | null {
    if (text === null || text === 'forever') return text
    const at = withZone.test(text) ? Date.parse(text) : Number.NaN
    if (at > Date.parse(now) && at < endOfTime) return iso(at)
    faults.push({ field, reason: 'must be a time in the future (ISO 8601, with a time zone), "forever" or null' })
    return null
  }
}

const withZone = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/
/** The year 10000, which is written in another form. */
const endOfTime = 253_402_300_800_000

function refuseMandatory(mutes: Mutes, declared: Preferences['declared'] = []): void {
  const mandatory = byName(declared)
  const details = mutes
    .filter(({ category, mutedUntil }) => mutedUntil !== null && mandatory.get(category)?.mandatory)
    .map(({ category }) => ({ field: `categories.${category}.mutedUntil`, reason: 'is of a mandatory category' }))
  if (details.length > 0) throw new CarillonError('CONFLICT', 'A mandatory category cannot be muted', { details })
}

/** Of the service itself: what it reports about an account is never muted. */
const security = {
  name: 'security',
  label: JSON.stringify({ en: 'Security', de: 'Sicherheit', fr: 'Sécurité' }),
  description: null,
  mandatory: 1,
} as const

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

/** The text of the user's exact language tag, or of its first part, as of notifications. */
function textFor({ locale }: Pick<Preferences['user'], 'locale'>, json: string): string {
  const texts: Texts = JSON.parse(json)
  const [language = ''] = locale?.split('-', 1) ?? []
  return (typeof texts === 'object' && (texts[locale ?? ''] ?? texts[language])) || fallbackOf(texts)
}

/** What the user's application has declared takes the place of what the producers of none have. */
function byName(declared: Preferences['declared']) {
  return new Map([security, ...declared].map((category) => [category.name, category]))
}
