// <account-notifications>: one table of what reaches the user in which way: a row for a category, a column for the bell, mails and push. Below it,
// when: the time zone, the hour of digests, and quiet hours.
import type { MailRule, Preferences, PreferencesChange } from 'carillon-client'
import { html, nothing, type TemplateResult } from 'lit'
import { live } from 'lit/directives/live.js'
import { LoadedSection } from '../loaded-section.ts'

type Push = 'on' | 'off' | null
/** `push`: only of a service that sends pushes. */
type Row = Preferences['categories'][string] & { id: string; push?: Push }
/** What is chosen of a row: for everything, or for a category. */
type Choice = { mutedUntil?: string | null; mail?: MailRule | null; push?: Push }
type Options = Readonly<Record<string, string>>

const hour = 3_600_000
const iso = (at: number) => new Date(at).toISOString()
/** When each choice ends, as the service takes it. */
const ends = {
  none: () => null,
  hour: () => iso(Date.now() + hour),
  tomorrow: () => iso(new Date().setHours(24 + 8, 0, 0, 0)),
  week: () => iso(Date.now() + 7 * 24 * hour),
  forever: () => 'forever',
}
/** What the service itself reports about the account. */
const ofService = 'security'
const usualDigestAt = 8
const usualQuietHours = { from: '22:00', to: '07:00' }
/** In the place of null: the default. */
const usual = ''

const zoneOfBrowser = () => Intl.DateTimeFormat().resolvedOptions().timeZone

export class NotificationsSection extends LoadedSection<Preferences> {
  protected override read(): Promise<Preferences> {
    return this.account.send<Preferences>('api/me/preferences')
  }

  /** The choices before it: each is saved, also if the next one follows at once. */
  #saving: Promise<void> = Promise.resolve()

  /** `isTimed`: it is about a time, so without a time zone it takes that of the browser. */
  #save(change: PreferencesChange, isTimed = false): Promise<void> {
    this.#saving = this.#saving.then(() => this.#send(change, isTimed))
    return this.#saving
  }

  /** If it is not saved, the page shows again what the service has. */
  async #send(change: PreferencesChange, isTimed: boolean): Promise<void> {
    const hasZone = this.data?.timeZone != null
    const body = isTimed && !hasZone ? { timeZone: zoneOfBrowser(), ...change } : change
    const work = () => this.account.send('api/me/preferences', { method: 'PUT', body })
    const isSaved = await this.act(work, (texts) => texts.notifications.saved)
    if (isSaved) await this.reload()
    else this.requestUpdate()
  }

  #saveRow(id: string, choice: Choice): Promise<void> {
    const change = (id === '' ? choice : { categories: { [id]: choice } }) as PreferencesChange
    return this.#save(change, choice.mail != null)
  }

  protected override content(preferences: Preferences): TemplateResult {
    const { notifications } = this.texts
    const { ways, categories } = preferences
    const { everything } = notifications
    const all: Row = {
      ...preferences,
      id: '',
      label: everything,
      description: null,
      mandatory: false,
    }
    const rows = Object.entries(categories).map(([id, category]): Row => ({ ...category, id }))
    rows.sort((one, other) => one.label.localeCompare(other.label, this.account.language))
    const hasMail = ways.mail === 'on'
    const hasPush = 'push' in preferences && 'PushManager' in globalThis
    const missing = [
      ways.mail === 'on' ? undefined : notifications.noMail[ways.mail],
      'push' in preferences && !hasPush ? notifications.noPush : undefined,
    ]
    const { columns: names } = notifications
    const head = (name: string) => html`<th scope="col">${name}</th>`
    const ofMail = hasMail ? head(names.mail) : nothing
    const ofPush = hasPush ? head(names.push) : nothing
    const heads = [head(names.bell), ofMail, ofPush]
    const view = (
      row: Row,
    ) => html`<tr><th scope="row"><span>${row.label}</span>${row.description && html`<div class="hint">${row.description}</div>`}</th>
<td data-name=${names.bell}>${this.#bell(row)}</td>
${hasMail ? html`<td data-name=${names.mail}>${this.#mail(row)}</td>` : nothing}
${hasPush ? html`<td data-name=${names.push}>${this.#push(row)}</td>` : nothing}</tr>`
    return html`<p class="hint">${notifications.hint}</p>
<table class="ways"><thead><tr><th scope="col">${notifications.category}</th>${heads}</tr></thead>
<tbody>${this.entries([all, ...rows], view)}</tbody></table>
${rows.length > 0 ? nothing : html`<p class="hint">${notifications.none}</p>`}
${missing.map((sentence) => sentence && html`<p class="hint">${sentence}</p>`)}
${hasMail || hasPush ? this.#hours(preferences) : nothing}
${this.outcome()}`
  }

  #bell({ id, label, mandatory, mutedUntil }: Row): TemplateResult {
    const { notifications } = this.texts
    if (mandatory) return html`<span class="badge">${notifications.mandatory}</span>`
    const isTime = mutedUntil !== null && mutedUntil !== 'forever'
    const options: Options = {
      ...(isTime && { until: notifications.until(this.account.exact(mutedUntil)) }),
      ...notifications.choices,
    }
    const chosen = isTime ? 'until' : (mutedUntil ?? 'none')
    const name = `${label}, ${notifications.columns.bell}`
    return this.#select({ name, options, chosen }, (value) => {
      // The end that is displayed already.
      if (value === 'until') return
      void this.#saveRow(id, { mutedUntil: ends[value as keyof typeof ends]() })
    })
  }

  #mail({ id, label, mandatory, mail, usualMail }: Row): TemplateResult {
    const { notifications } = this.texts
    if (id === ofService) return html`<span class="badge">${notifications.atOnce}</span>`
    const { off, ...times } = notifications.mails
    const rule = notifications.mails[usualMail]
    const inSentence = rule.charAt(0).toLocaleLowerCase(this.account.language) + rule.slice(1)
    const options: Options = {
      [usual]: notifications.usual(inSentence),
      ...(mandatory ? {} : { off }),
      ...times,
    }
    const name = `${label}, ${notifications.columns.mail}`
    const chosen = mandatory && mail === 'off' ? usual : (mail ?? usual)
    return this.#select({ name, options, chosen }, (value) =>
      this.#saveRow(id, { mail: value === usual ? null : (value as MailRule) }),
    )
  }

  #push({ id, label, push }: Row): TemplateResult {
    const { notifications } = this.texts
    const { on, off } = notifications.pushes
    const options: Options = { [usual]: notifications.pushes.usual, on, off }
    const name = `${label}, ${notifications.columns.push}`
    return this.#select({ name, options, chosen: push ?? usual }, (value) =>
      this.#saveRow(id, { push: value === usual ? null : (value as Push) }),
    )
  }

  #hours({ timeZone, digestAt, quietHours }: Preferences): TemplateResult {
    const { hours } = this.texts.notifications
    const zone = timeZone ?? zoneOfBrowser()
    const zones = [...new Set([zone, 'UTC', ...Intl.supportedValuesOf('timeZone')])].sort()
    const ofZones = Object.fromEntries(zones.map((name) => [name, name.replaceAll('_', ' ')]))
    const ofDay = Object.fromEntries(
      Array.from({ length: 24 }, (_, at) => [`${at}`, this.#timeAt(at)]),
    )
    const time = (end: 'from' | 'to', label: string) =>
      html`<label>${label} <input type="time" required .value=${live(quietHours?.[end] ?? '')} @change=${({
        target,
      }: Event) => {
        const { value } = target as HTMLInputElement
        if (value !== '' && quietHours)
          void this.#save({ quietHours: { ...quietHours, [end]: value } }, true)
      }}></label>`
    return html`<fieldset class="hours"><legend>${hours.title}</legend>
<label>${hours.timeZone} ${this.#select({ name: hours.timeZone, options: ofZones, chosen: zone }, (value) => this.#save({ timeZone: value }))}</label>
<label>${hours.digestAt} ${this.#select({ name: hours.digestAt, options: ofDay, chosen: `${digestAt ?? usualDigestAt}` }, (value) => this.#save({ digestAt: Number(value) }, true))}</label>
<label class="choice"><input type="checkbox" .checked=${live(quietHours !== null)} @change=${() => this.#save({ quietHours: quietHours === null ? usualQuietHours : null }, true)}>
${hours.quiet}</label>
${quietHours === null ? nothing : html`<div class="with-button">${time('from', hours.from)} ${time('to', hours.to)}</div>`}
<p class="hint">${hours.hint}</p></fieldset>`
  }

  #timeAt(at: number): string {
    return new Intl.DateTimeFormat(this.account.language, {
      timeStyle: 'short',
      timeZone: 'UTC',
    }).format(at * hour)
  }

  #select(
    { name, options, chosen }: { name: string; options: Options; chosen: string },
    choose: (value: string) => unknown,
  ): TemplateResult {
    const option = ([value, text]: [string, string]) =>
      html`<option value=${value} .selected=${live(value === chosen)}>${text}</option>`
    return html`<select aria-label=${name} @change=${({ target }: Event) => choose((target as HTMLSelectElement).value)}>
${Object.entries(options).map(option)}</select>`
  }
}
