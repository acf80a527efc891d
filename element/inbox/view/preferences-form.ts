// The form of the preferences, in the sheet of the element and on the account page of the service.
import type { MailRule, Preferences, PreferencesChange } from 'carillon-client'
import type * as Lit from 'lit'
import type { Strings } from '../../languages/en/inbox.ts'

type Row = Preferences['categories'][string] & { id: string }
/** What is chosen of a row: for everything, or for a category. */
type Choice = Partial<Pick<Row, 'mutedUntil' | 'mail' | 'push'>>
type Options = readonly (readonly [value: string, text: string])[]

export type PreferencesForm = {
  /** The page and the element each have their own copy. `live`: the control displays its value again. */
  lit: Pick<typeof Lit, 'html' | 'nothing'> & { live: (value: string | boolean) => unknown }
  strings: Strings
  data: Preferences
  /** Writes a time in the future. */
  moment(at: string): string
  save(change: PreferencesChange): void
}

const rules: readonly MailRule[] = ['off', '5m', '15m', '1h', 'hourly', 'daily', 'weekly']
const usualDigestAt = 8
const usualQuietHours = { from: '22:00', to: '07:00' }
const hour = 3_600_000
const ends = {
  hour: () => Date.now() + hour,
  tomorrow: () => new Date().setHours(24 + 8, 0, 0, 0),
  week: () => Date.now() + 7 * 24 * hour,
}
/** In the place of null: the default. */
const usual = ''
/** What the service itself reports about the account. */
const ofService = 'security'

export function preferencesForm(form: PreferencesForm): Lit.TemplateResult {
  const { lit, strings, data } = form
  const { html, nothing } = lit
  const { preferences: texts, locale } = strings
  const { everything: label } = texts
  const all: Row = { ...data, id: '', label, description: null, mandatory: false }
  const rows = Object.entries(data.categories).map(([id, category]): Row => ({ ...category, id }))
  rows.sort((one, other) => one.label.localeCompare(other.label, locale))
  const { mail: way } = data.ways
  const canPush = 'PushManager' in globalThis
  const columns = [{ name: strings.inbox, view: bell }]
  if (way === 'on') columns.push({ name: texts.mail, view: mail })
  if (canPush) columns.push({ name: texts.push, view: push })
  const missing: string[] = []
  if (way !== 'on') missing.push(texts.noMail[way])
  if (!canPush) missing.push(texts.noPush)
  const cell = (row: Row) =>
    columns.map(
      ({ name, view }) =>
        html`<td data-name=${name}>${view(form, row, `${row.label}, ${name}`)}</td>`,
    )
  const line = (row: Row) => html`<tr><th scope="row"><span dir="auto">${row.label}</span>
    ${row.description ? html`<small dir="auto">${row.description}</small>` : nothing}</th>${cell(row)}</tr>`
  return html`<table part="preferences-table">
    <thead><tr>${[texts.category, ...columns.map(({ name }) => name)].map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
    <tbody>${[all, ...rows].map(line)}</tbody></table>
    ${missing.map((sentence) => html`<p>${sentence}</p>`)}
    ${columns.length > 1 ? hours(form) : nothing}`
}

function saveRow({ save }: PreferencesForm, { id }: Row, choice: Choice): void {
  save(id === '' ? choice : { categories: { [id]: choice } })
}

/** The first choice that is about a time takes the time zone of the browser. */
function timed({ data, ...form }: PreferencesForm): PreferencesForm {
  const zone = data.timeZone === null && { timeZone: zoneOfBrowser() }
  return { ...form, data, save: (change) => form.save({ ...zone, ...change }) }
}

function bell(form: PreferencesForm, row: Row, name: string) {
  const { strings, moment } = form
  const { preferences: texts, until } = strings
  const { mandatory, mutedUntil } = row
  if (mandatory) return texts.mandatory
  const isTime = mutedUntil !== null && mutedUntil !== 'forever'
  const end: Options = isTime ? [[mutedUntil, `${until} ${moment(mutedUntil)}`]] : []
  const options: Options = [
    [usual, texts.on],
    ...end,
    ...Object.entries(texts.mutes),
    ['forever', texts.muted],
  ]
  return select(form, { name, options, chosen: mutedUntil ?? usual }, (value) => {
    const at = ends[value as keyof typeof ends]?.()
    saveRow(form, row, {
      mutedUntil: at === undefined ? value || null : new Date(at).toISOString(),
    })
  })
}

function mail(form: PreferencesForm, row: Row, name: string) {
  const { preferences: texts } = form.strings
  if (row.id === ofService) return texts.atOnce
  const offered = row.mandatory ? rules.filter((rule) => rule !== 'off') : rules
  const named = offered.map((rule) => [rule, texts.rules[rule]] as const)
  const options: Options = [[usual, texts.usual(texts.rules[row.usualMail])], ...named]
  const chosen = row.mandatory && row.mail === 'off' ? usual : (row.mail ?? usual)
  return select(form, { name, options, chosen }, (value) =>
    saveRow(timed(form), row, { mail: (value || null) as Row['mail'] }),
  )
}

function push(form: PreferencesForm, row: Row, name: string) {
  const { preferences: texts } = form.strings
  if (row.mandatory) return texts.mandatory
  const ways = { on: texts.on, off: texts.rules.off }
  const usualText = texts.usual(ways[(row.id && form.data.push) || 'on'])
  const options: Options = [[usual, usualText], ...Object.entries(ways)]
  return select(form, { name, options, chosen: row.push ?? usual }, (value) =>
    saveRow(form, row, { push: (value || null) as Row['push'] }),
  )
}

function hours(form: PreferencesForm) {
  const { lit, strings, data, save } = form
  const { html, nothing, live } = lit
  const { preferences: texts, locale } = strings
  const { digestAt, quietHours } = data
  const saveTimed = timed(form).save
  const zone = data.timeZone ?? 'UTC'
  // In one order, so that each option stays in its place.
  const zones = [...new Set([zone, 'UTC', ...Intl.supportedValuesOf('timeZone')])].sort()
  const hourText = new Intl.DateTimeFormat(locale, { timeStyle: 'short', timeZone: 'UTC' })
  const ofDay: Options = Array.from({ length: 24 }, (_, at) => [
    `${at}`,
    hourText.format(at * hour),
  ])
  const ofZones: Options = zones.map((name) => [name, name.replaceAll('_', ' ')])
  const time = (end: 'from' | 'to') =>
    html`<label>${texts[end]} <input type="time" required .value=${live(quietHours?.[end] ?? '')} @change=${({
      target,
    }: Event) => {
      const { value } = target as HTMLInputElement
      if (value && quietHours) saveTimed({ quietHours: { ...quietHours, [end]: value } })
    }}></label>`
  const turn = () => saveTimed({ quietHours: quietHours ? null : usualQuietHours })
  return html`<div part="preferences-hours">
    <label>${texts.timeZone} ${select(form, { name: texts.timeZone, options: ofZones, chosen: zone }, (value) => save({ timeZone: value }))}</label>
    <label>${texts.digestAt} ${select(form, { name: texts.digestAt, options: ofDay, chosen: `${digestAt ?? usualDigestAt}` }, (value) => saveTimed({ digestAt: Number(value) }))}</label>
    <label><input type="checkbox" .checked=${live(quietHours !== null)} @change=${turn}> ${texts.quiet}</label>
    ${quietHours ? html`<span>${time('from')} ${time('to')}</span>` : nothing}
  </div>`
}

function zoneOfBrowser(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone
}

type Shown = { name: string; options: Options; chosen: string }

function select(
  { lit: { html, live } }: PreferencesForm,
  { name, options, chosen }: Shown,
  choose: (value: string) => void,
) {
  return html`<select aria-label=${name} @change=${({ target }: Event) => choose((target as HTMLSelectElement).value)}>
    ${options.map(([value, text]) => html`<option value=${value} .selected=${live(value === chosen)}>${text}</option>`)}
  </select>`
}
