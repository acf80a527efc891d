// The sheet of preferences: a row for a category, and columns for the list, mails and push; below it the hours. The same choices are on the account
// page of the service.
import type { Carillon, MailRule, Preferences, PreferencesChange } from 'carillon-client'
import type { TemplateResult } from 'lit'
import type { Strings } from '../../languages/en/inbox.ts'
import type { Times } from '../../times.ts'
import type { CarillonInbox } from '../carillon-inbox.ts'
import { html, nothing } from './loaded.ts'

type Push = 'on' | 'off' | null
/** `push`: only of a service that sends pushes. */
type Row = Preferences['categories'][string] & { id: string; push?: Push }
type Options = readonly (readonly [value: string, text: string])[]

const rules: readonly MailRule[] = ['off', '5m', '15m', '1h', 'hourly', 'daily', 'weekly']
const usualDigestAt = 8
const usualQuietHours = { from: '22:00', to: '07:00' }
/** In the place of null: the default. */
const usual = ''
/** What the service itself reports about the account. */
const ofService = 'security'

type Setting = { strings: Strings; times: Times; now: number }

export class PreferencesSheet {
  readonly #host: CarillonInbox
  readonly #client: () => Carillon | undefined
  #data: Preferences | undefined
  #failure: string | undefined
  #wasOpened = false
  /** The choices are saved one after the other. */
  #saving: Promise<void> = Promise.resolve()

  constructor(host: CarillonInbox, client: () => Carillon | undefined) {
    this.#host = host
    this.#client = client
  }

  async open(strings: Strings): Promise<void> {
    this.#wasOpened = true
    this.#data = undefined
    await this.#run(strings, async () => {})
    this.#host.shadowRoot?.querySelector<HTMLDialogElement>('[part=preferences]')?.showModal()
  }

  /** Reads what the service has afterwards. If the change was refused, the controls are made again: they show what the reader chose. */
  async #run(strings: Strings, work: () => Promise<unknown>): Promise<void> {
    this.#failure = undefined
    try {
      await work()
    } catch (error) {
      this.#data = undefined
      this.#host.requestUpdate()
      await this.#host.updateComplete
      this.#failure =
        strings.errors[(error as { code?: string }).code ?? ''] ?? strings.errors.other
    }
    try {
      this.#data = await this.#client()?.inbox.preferences()
    } catch {
      this.#failure ??= strings.errors.other
    }
    this.#host.requestUpdate()
    await this.#host.updateComplete
  }

  #save(strings: Strings, change: PreferencesChange): void {
    const work = () => this.#client()?.inbox.setPreferences(change) ?? Promise.resolve()
    this.#saving = this.#saving.then(() => this.#run(strings, work))
  }

  /** The first choice that is about a time takes the time zone of the browser. */
  #saveTimed(strings: Strings, change: PreferencesChange): void {
    this.#save(strings, {
      ...(this.#data?.timeZone === null && { timeZone: zoneOfBrowser() }),
      ...change,
    })
  }

  render(setting: Setting): TemplateResult {
    const { strings } = setting
    const { preferences: texts } = strings
    return html`<dialog part="preferences" aria-labelledby="preferences-title">
      <h2 part="preferences-title" id="preferences-title">${texts.title}</h2>
      ${this.#data ? this.#content(this.#data, setting) : nothing}
      <p part="preferences-failure" role="alert">${this.#failure ?? ''}</p>
      ${this.#wasOpened ? html`<form method="dialog"><button part="preferences-close">${texts.close}</button></form>` : nothing}
    </dialog>`
  }

  #content(data: Preferences, setting: Setting): TemplateResult {
    const { strings } = setting
    const { preferences: texts, locale } = strings
    const all: Row = {
      ...data,
      id: '',
      label: texts.everything,
      description: null,
      mandatory: false,
    }
    const rows = Object.entries(data.categories).map(([id, category]): Row => ({ ...category, id }))
    rows.sort((one, other) => one.label.localeCompare(other.label, locale))
    const hasMail = data.ways.mail === 'on'
    const hasPush = 'push' in data && 'PushManager' in globalThis
    const missing = [
      data.ways.mail === 'on' ? '' : texts.noMail[data.ways.mail],
      'push' in data && !hasPush ? texts.noPush : '',
    ]
    const row = (one: Row) => html`<tr><th scope="row" dir="auto">${one.label}</th>
      <td>${this.#bell(one, setting)}</td>
      ${hasMail ? html`<td>${this.#mail(one, strings)}</td>` : nothing}
      ${hasPush ? html`<td>${this.#push(one, strings)}</td>` : nothing}</tr>`
    return html`<table part="preferences-table">
      <thead><tr><th scope="col">${texts.category}</th><th scope="col">${texts.bell}</th>
        ${hasMail ? html`<th scope="col">${texts.mail}</th>` : nothing}
        ${hasPush ? html`<th scope="col">${texts.push}</th>` : nothing}</tr></thead>
      <tbody>${[all, ...rows].map(row)}</tbody></table>
      ${missing.map((sentence) => (sentence ? html`<p>${sentence}</p>` : nothing))}
      ${hasMail || hasPush ? this.#hours(data, strings) : nothing}`
  }

  #saveRow(
    strings: Strings,
    { id }: Row,
    choice: { mutedUntil?: string | null; push?: Push },
  ): void {
    this.#save(
      strings,
      (id === '' ? choice : { categories: { [id]: choice } }) as PreferencesChange,
    )
  }

  #bell(row: Row, { strings, times, now }: Setting): TemplateResult {
    const { preferences: texts, until } = strings
    const { label, mandatory, mutedUntil } = row
    if (mandatory) return html`${texts.mandatory}`
    const isTime = mutedUntil !== null && mutedUntil !== 'forever'
    const end = isTime
      ? ([[mutedUntil, `${until} ${times.moment(Date.parse(mutedUntil), now)}`]] as const)
      : []
    const options: Options = [[usual, texts.on], ...end, ['forever', texts.muted]]
    return select(
      { name: `${label}, ${texts.bell}`, options, chosen: mutedUntil ?? usual },
      (value) => this.#saveRow(strings, row, { mutedUntil: value === usual ? null : value }),
    )
  }

  #mail({ id, label, mandatory, mail, usualMail }: Row, strings: Strings): TemplateResult {
    const { preferences: texts } = strings
    if (id === ofService) return html`${texts.atOnce}`
    const offered = mandatory ? rules.filter((rule) => rule !== 'off') : rules
    const named = offered.map((rule) => [rule, texts.rules[rule]] as const)
    const options: Options = [[usual, texts.usual(texts.rules[usualMail])], ...named]
    const chosen = mandatory && mail === 'off' ? usual : (mail ?? usual)
    return select({ name: `${label}, ${texts.mail}`, options, chosen }, (value) => {
      const choice = { mail: value === usual ? null : (value as MailRule) }
      this.#saveTimed(strings, id === '' ? choice : { categories: { [id]: choice } })
    })
  }

  #push(row: Row, strings: Strings): TemplateResult {
    const { preferences: texts } = strings
    const options: Options = [
      [usual, texts.usualPush],
      ['on', texts.on],
      ['off', texts.rules.off],
    ]
    const name = `${row.label}, ${texts.push}`
    return select({ name, options, chosen: row.push ?? usual }, (value) =>
      this.#saveRow(strings, row, { push: value === usual ? null : (value as Push) }),
    )
  }

  #hours({ timeZone, digestAt, quietHours }: Preferences, strings: Strings): TemplateResult {
    const { preferences: texts, locale } = strings
    const zone = timeZone ?? zoneOfBrowser()
    // In one order, so that each option stays in its place.
    const zones = [...new Set([zone, 'UTC', ...Intl.supportedValuesOf('timeZone')])].sort()
    const hourText = new Intl.DateTimeFormat(locale, { timeStyle: 'short', timeZone: 'UTC' })
    const ofDay: Options = Array.from({ length: 24 }, (_, at) => [
      `${at}`,
      hourText.format(at * 3_600_000),
    ])
    const ofZones: Options = zones.map((name) => [name, name.replaceAll('_', ' ')])
    const time = (end: 'from' | 'to') =>
      html`<label>${texts[end]} <input type="time" required .value=${quietHours?.[end] ?? ''} @change=${({
        target,
      }: Event) => {
        const { value } = target as HTMLInputElement
        if (value && quietHours)
          this.#saveTimed(strings, { quietHours: { ...quietHours, [end]: value } })
      }}></label>`
    const turn = () => this.#saveTimed(strings, { quietHours: quietHours ? null : usualQuietHours })
    return html`<div part="preferences-hours">
      <label>${texts.timeZone} ${select({ name: texts.timeZone, options: ofZones, chosen: zone }, (value) => this.#save(strings, { timeZone: value }))}</label>
      <label>${texts.digestAt} ${select({ name: texts.digestAt, options: ofDay, chosen: `${digestAt ?? usualDigestAt}` }, (value) => this.#saveTimed(strings, { digestAt: Number(value) }))}</label>
      <label><input type="checkbox" .checked=${quietHours !== null} @change=${turn}> ${texts.quiet}</label>
      ${quietHours ? html`<span>${time('from')} ${time('to')}</span>` : nothing}
    </div>`
  }
}

function zoneOfBrowser(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone
}

type Shown = { name: string; options: Options; chosen: string }

function select({ name, options, chosen }: Shown, choose: (value: string) => void): TemplateResult {
  return html`<select aria-label=${name} @change=${({ target }: Event) => choose((target as HTMLSelectElement).value)}>
    ${options.map(([value, text]) => html`<option value=${value} .selected=${value === chosen}>${text}</option>`)}
  </select>`
}
