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
import { isTimeZone, type MailRule, ruleFor, timeZoneFault } from '../inbox/mail-rules.ts'
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
  type Choice,
  type Chosen,
  changePreferences,
  maxDeclared,
  maxMuted,
  type Preferences,
  putCategory,
  readCategory,
  readPreferences,
} from './preferences.store.ts'

/** `wall`: the clock of mutes. `mailUnread`: the service's rule; undefined without mail server. */
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
  maxFields: 9 * maxMuted,
  refusals: ['CONFLICT'],
  async handle({ preferences: { store, wall } }: Needs, { caller: { userId }, body }) {
    const { categories = {}, timeZone, digestAt, quietHours } = body
    if (timeZone != null && !isTimeZone(timeZone)) throw invalidField('timeZone', timeZoneFault)
    if (quietHours?.from !== undefined && quietHours.from === quietHours.to)
      throw invalidField('quietHours', 'must not end when it begins; null means no quiet hours')
    const now = iso(wall())
    const choices = Object.entries({ '': body, ...categories }).map(
      ([category, { mutedUntil, mail, push }]) => {
        const place = category === '' ? [] : [`categories.${category}`]
        if (category !== '') refuseName(category, place.join())
        const field = [...place, 'mutedUntil'].join('.')
        return { category, mail, push, mutedUntil: timeIn(mutedUntil, field, now) }
      },
    )
    const found = await store.read(readPreferences, { userId, now })
    const declared = withSecurity(found?.declared)
    for (const choice of choices)
      if (declared.get(choice.category)?.mandatory)
        refuseOff(choice, found?.choices.get(choice.category))
    const hours = { timeZone, digestAt, quietHours }
    const outcome = await store.write(changePreferences, { userId, choices, hours, now })
    if (outcome === 'absent') throw notAuthenticated()
    if (outcome === 'too-many') throw conflict(`You can choose for ${maxMuted} categories at most`)
  },
})

/** `before`: what the reader chose while the category could be turned off may be sent again. */
function refuseOff({ category, mutedUntil, mail, push }: Chosen, before?: Partial<Chosen>): void {
  const refused = [
    mutedUntil && mutedUntil !== before?.mutedUntil && 'it cannot be muted',
    mail === 'off' && mail !== before?.mail && 'its mails cannot be turned off',
    push === 'off' && push !== before?.push && 'its pushes cannot be turned off',
  ]
  const why = refused.find(Boolean)
  if (why) throw conflict(`The category ${category} is mandatory: ${why}`)
}

const withZone = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/

function timeIn(text: string | null | undefined, field: string, now: string) {
  if (text == null || text === 'forever') return text
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
  const { user, choices, hours, present } = found
  const declared = withSecurity(found.declared)
  const ofAll = choices.get('')?.mail ?? null
  const names = new Set([...found.declared.keys(), ...present, ...choices.keys()])
  names.delete('')
  const categories = Array.from(names, (name) => {
    const { label, description = null, mandatory, mail = null } = declared.get(name) ?? {}
    const isMandatory = mandatory === 1
    const usualMail = ruleFor({ own: null, ofAll, declared: mail, isMandatory }, ofService)
    const inLanguage = (json: string) => textFor(user.locale, JSON.parse(json))
    const texts = {
      label: label ? inLanguage(label) : name,
      description: description && inLanguage(description),
    }
    return [
      name,
      { ...choiceOf(choices.get(name)), ...texts, mandatory: isMandatory, usualMail },
    ] as const
  })
  const all = { ...choiceOf(choices.get('')), usualMail: ofService, ...hours }
  return { ...all, ways: { mail: mailWay }, categories: Object.fromEntries(categories) }
}

function choiceOf({ mutedUntil = null, mail = null, push = null }: Partial<Choice> = {}) {
  return { mutedUntil, mail, push }
}

/** The service's reports about an account are never muted. */
const ownLabel = JSON.stringify({ en: 'Security', de: 'Sicherheit', fr: 'Sécurité' })
const security: Category = { name: 'security', label: ownLabel, description: null, mandatory: 1 }

function withSecurity(declared: Preferences['declared'] = new Map()) {
  return new Map([...declared, [security.name, security]])
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
