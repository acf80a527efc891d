import { mailRules } from '../config/values.ts'
import * as t from '../http/openapi/schema.ts'
import { inLanguages } from '../inbox/inbox.schemas.ts'
import { pushRules } from '../inbox/mail-rules.ts'
import { mailWays } from '../inbox/reminders.store.ts'
import { maxMuted } from './preferences.store.ts'

const name = t.example(inLanguages(t.text(1, 64)), { en: 'Builds', de: 'Builds' })
const description = t.example(inLanguages(t.text(1, 200)), 'What became of each build')
const mandatory = t.boolean('Nobody can mute it')

const mailNote = 'When a mail is sent if it is unread; null for the default'
const mail = t.example(t.orNull(t.oneOf(mailRules, mailNote)), '15m')

export const CategoryBody = t.component('CategoryDeclaration', {
  name,
  description: t.optional(t.nullable(description)),
  mandatory: t.optional(t.orNull(mandatory)),
  mail: t.optional(mail),
})
export type CategoryBody = t.TypeOf<typeof CategoryBody>
export const CategoryResponse = t.dataOf(
  t.component('Category', { name, description: t.nullable(description), mandatory, mail }),
)

const mutedUntil = t.example(
  t.orNull(t.text(0, 40, 'A time in the future (ISO 8601), `forever`, or null')),
  'forever',
)
const push = t.example(t.orNull(t.oneOf(pushRules, 'Whether it is pushed; null for `on`')), 'off')
const choice = {
  mutedUntil: t.optional(mutedUntil),
  mail: t.optional(mail),
  push: t.optional(push),
}
/** A client may send back all that it got. */
const same = t.optional<t.Schema>({ description: 'As in the response; it changes nothing' })
const Choice = t.component('CategoryChoice', {
  ...choice,
  label: same,
  description: same,
  mandatory: same,
  usualMail: same,
})
const choices = t.record(Choice, {
  maxProperties: maxMuted,
  propertyNames: { minLength: 1, maxLength: 64 },
})
const timeOfDay = { type: 'string', pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$' } as t.Schema<string>
const quietHours = t.component('QuietHours', {
  from: t.example(timeOfDay, '22:00'),
  to: t.example(timeOfDay, '07:00'),
})
const hours = {
  timeZone: t.example(
    t.orNull(t.text(1, 64, 'Such as `Europe/Berlin`; null for UTC')),
    'Europe/Berlin',
  ),
  digestAt: t.example(
    t.orNull(
      t.integer({ minimum: 0, maximum: 23, description: 'The hour of digests; null for 8' }),
    ),
    8,
  ),
  quietHours: t.nullable(quietHours),
}
export const PreferencesBody = t.component('PreferencesChange', {
  ...choice,
  usualMail: same,
  ways: same,
  timeZone: t.optional(hours.timeZone),
  digestAt: t.optional(hours.digestAt),
  quietHours: t.optional(hours.quietHours),
  categories: t.optional(t.example(choices, { builds: { mutedUntil: 'forever' } })),
})
export type PreferencesBody = t.TypeOf<typeof PreferencesBody>

const usualMail = t.oneOf(mailRules, 'The rule that holds while `mail` is null')
const CategoryPreferences = t.component('CategoryPreferences', {
  mutedUntil,
  mail,
  push,
  label: t.example(t.string('In the language of the user'), 'Builds'),
  description: t.nullable(t.string()),
  mandatory,
  usualMail,
})
const Ways = t.component('Ways', {
  mail: t.oneOf(
    [...mailWays, 'off'],
    'Whether mails reach the user. `refused`: by the mail server; `off`: none is set',
  ),
})
const Preferences = t.component('Preferences', {
  mutedUntil,
  mail,
  usualMail,
  push,
  ...hours,
  ways: Ways,
  categories: t.record(CategoryPreferences, 'Those that are declared, muted, or in the inbox'),
})
export const PreferencesResponse = t.dataOf(Preferences)
