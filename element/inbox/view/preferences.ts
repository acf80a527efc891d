// The sheet of preferences: it loads, saves and shows the form.
import type { Carillon, Preferences, PreferencesChange } from 'carillon-client'
import type { TemplateResult } from 'lit'
import type { Strings } from '../../languages/en/inbox.ts'
import type { Times } from '../../times.ts'
import type { CarillonInbox } from '../carillon-inbox.ts'
import { html, nothing } from './loaded.ts'
import { preferencesForm } from './preferences-form.ts'

type Setting = { strings: Strings; times: Times; now: number }

export class PreferencesSheet {
  readonly #host: CarillonInbox
  readonly #client: () => Carillon | undefined
  #data: Preferences | undefined
  #failure: string | undefined
  #wasOpened = false
  #saving: Promise<void> = Promise.resolve()

  constructor(host: CarillonInbox, client: () => Carillon | undefined) {
    this.#host = host
    this.#client = client
  }

  /** At once: later, the reader may do something else. */
  async open(strings: Strings): Promise<void> {
    this.#wasOpened = true
    this.#data = undefined
    this.#failure = undefined
    this.#host.requestUpdate()
    await this.#host.updateComplete
    const dialog = this.#host.shadowRoot?.querySelector<HTMLDialogElement>('[part=preferences]')
    dialog?.showModal()
    await this.#run(strings, async () => {})
    dialog?.querySelector('select')?.focus()
  }

  /**
   * Reads what the service has. If it refused a change, the controls still show what the reader
   * chose, and are made again.
   */
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

  render(setting: Setting): TemplateResult {
    const { strings } = setting
    const { preferences: texts } = strings
    return html`<dialog part="preferences" aria-labelledby="preferences-title">
      <h2 part="preferences-title" id="preferences-title">${texts.title}</h2>
      ${this.#data ? this.#content(this.#data, setting) : this.#waiting(strings)}
      <p part="preferences-failure" role="alert">${this.#failure ?? ''}</p>
      ${this.#wasOpened ? html`<form method="dialog"><button part="preferences-close">${texts.close}</button></form>` : nothing}
    </dialog>`
  }

  #waiting({ loading }: Strings): TemplateResult | symbol {
    return this.#wasOpened && this.#failure === undefined ? html`<p>${loading}</p>` : nothing
  }

  #content(data: Preferences, { strings, times, now }: Setting): TemplateResult {
    return preferencesForm({
      lit: { html, nothing, live: (value) => value },
      strings,
      data,
      moment: (at) => times.moment(Date.parse(at), now),
      save: (change) => this.#save(strings, change),
    })
  }
}
