// <account-notifications>: what the user mutes, of everything or of a category, and until when.
import { html, nothing, type TemplateResult } from 'lit'
import { live } from 'lit/directives/live.js'
import { LoadedSection } from '../loaded-section.ts'

type Mute = { mutedUntil: string | null }
type Category = Mute & { label: string; description: string | null; mandatory: boolean }
type Preferences = Mute & { categories: Record<string, Category> }

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

export class NotificationsSection extends LoadedSection<Preferences> {
  protected override read(): Promise<Preferences> {
    return this.account.send<Preferences>('api/me/preferences')
  }

  /** `now`: the choice that the service has. */
  async #mute(id: string, now: string, select: HTMLSelectElement): Promise<void> {
    const mute = { mutedUntil: ends[select.value as keyof typeof ends]() }
    const body = id === '' ? mute : { categories: { [id]: mute } }
    const work = () => this.account.send('api/me/preferences', { method: 'PUT', body })
    const isSaved = await this.act(work, (texts) => texts.notifications.saved)
    if (isSaved) await this.reload()
    else select.value = now
  }

  protected override content({ mutedUntil, categories }: Preferences): TemplateResult {
    const { notifications } = this.texts
    const everything = { id: '', label: notifications.everything, description: null, mandatory: false, mutedUntil }
    const rows = Object.entries(categories).map(([id, category]) => ({ id, ...category }))
    rows.sort((one, other) => one.label.localeCompare(other.label, this.account.language))
    return html`<p class="hint">${notifications.hint}</p>
<ul class="entries">${this.entries([everything, ...rows], (row) => this.#item(row))}</ul>
${rows.length > 0 ? nothing : html`<p class="hint">${notifications.none}</p>`}
${this.outcome()}`
  }

  #item({ id, label, description, mandatory, mutedUntil }: Category & { id: string }): TemplateResult {
    const { notifications } = this.texts
    const hint = description && html`<div class="hint">${description}</div>`
    if (mandatory)
      return html`<li><div class="about"><strong>${label}</strong> <span class="badge">${notifications.mandatory}</span>${hint}</div></li>`
    const isTime = mutedUntil !== null && mutedUntil !== 'forever'
    const choices = {
      ...(isTime && { until: notifications.until(this.account.exact(mutedUntil)) }),
      ...notifications.choices,
    }
    const now = isTime ? 'until' : (mutedUntil ?? 'none')
    return html`<li><div class="about"><label for="mute-${id}">${label}</label>${hint}</div>
<select id="mute-${id}" @change=${({ target }: Event) => this.#mute(id, now, target as HTMLSelectElement)}>
${Object.entries(choices).map(([choice, text]) => html`<option value=${choice} .selected=${live(choice === now)}>${text}</option>`)}
</select></li>`
  }
}
