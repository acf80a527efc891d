// The shapes of categories, as producers declare them, and of what a user mutes.
import * as t from '../http/openapi/schema.ts'
import { inLanguages } from '../inbox/inbox.schemas.ts'
import { maxMuted } from './preferences.store.ts'

const name = t.example(inLanguages(t.text(1, 64)), { en: 'Builds', de: 'Builds' })
const description = t.example(inLanguages(t.text(1, 200)), 'What became of each build')
const mandatory = t.boolean('Nobody can mute it')

export const CategoryBody = t.component('CategoryDeclaration', {
  name,
  description: t.optional(t.nullable(description)),
  mandatory: t.optional(t.orNull(mandatory)),
})
export type CategoryBody = t.TypeOf<typeof CategoryBody>
export const CategoryResponse = t.dataOf(
  t.component('Category', { name, description: t.nullable(description), mandatory }),
)

const mutedUntil = t.example(t.orNull(t.text(0, 40, 'A time in the future (ISO 8601), `forever`, or null')), 'forever')
const Mute = t.component('Mute', { mutedUntil })
const mutes = t.record(Mute, { maxProperties: maxMuted, propertyNames: { minLength: 1, maxLength: 64 } })
export const PreferencesBody = t.component('PreferencesChange', {
  mutedUntil: t.optional(t.example(mutedUntil, null)),
  categories: t.optional(t.example(mutes, { builds: { mutedUntil: 'forever' } })),
})
export type PreferencesBody = t.TypeOf<typeof PreferencesBody>

const CategoryPreferences = t.component('CategoryPreferences', {
  mutedUntil,
  label: t.example(t.string('In the language of the user'), 'Builds'),
  description: t.nullable(t.string()),
  mandatory,
})
const Preferences = t.component('Preferences', {
  mutedUntil: t.example(mutedUntil, null),
  categories: t.record(CategoryPreferences, 'Those that are declared, muted, or in the inbox'),
})
export const PreferencesResponse = t.dataOf(Preferences)
