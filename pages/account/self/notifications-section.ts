// <account-notifications>: what reaches the user in which way, and when. The form is that of the elements.
import type { Preferences, PreferencesChange } from 'carillon-client'
import { html, nothing, type TemplateResult } from 'lit'
import { live } from 'lit/directives/live.js'
import { preferencesForm } from '../../../element/inbox/view/preferences-form.ts'
import { stringsFor } from '../../../element/languages/languages.ts'
import { LoadedSection } from '../loaded-section.ts'

type Shown = { preferences: Preferences; strings: Awaited<ReturnType<typeof stringsFor>> }

export class NotificationsSection extends LoadedSection<Shown> {
  protected override async read(): Promise<Shown> {
    const strings = await stringsFor([this.account.language])
    return { strings, preferences: await this.account.send<Preferences>('api/me/preferences') }
  }

  /** The choices before it: each is saved, also if the next one follows at once. */
  #saving: Promise<void> = Promise.resolve()

  #save(body: PreferencesChange): void {
    this.#saving = this.#saving.then(async () => {
      const work = () => this.account.send('api/me/preferences', { method: 'PUT', body })
      const isSaved = await this.act(work, (texts) => texts.notifications.saved)
      // If it is not saved, the page shows again what the service has.
      if (isSaved) await this.reload()
      else this.requestUpdate()
    })
  }

  protected override content({ preferences: data, strings }: Shown): TemplateResult {
    const { notifications } = this.texts
    const { exact: moment } = this.account
    const save = (change: PreferencesChange) => this.#save(change)
    return html`<p class="hint">${notifications.hint}</p>
${preferencesForm({ lit: { html, nothing, live }, strings, data, moment, save })}
${Object.keys(data.categories).length > 0 ? nothing : html`<p class="hint">${notifications.none}</p>`}
${this.outcome()}`
  }
}
