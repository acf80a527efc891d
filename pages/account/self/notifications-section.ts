// <account-notifications>: what the user mutes, of everything or of a category, and until when.
import { html, nothing, type PropertyDeclarations, type PropertyValues, type TemplateResult } from 'lit'
import type { Account } from '../account-section.ts'
import { SecuritySection } from '../security/security-section.ts'

type Mute = { mutedUntil: string | null }
type Category = Mute & { label: string; description: string | null; mandatory: boolean }
type Preferences = Mute & { categories: Record<string, Category> }
/** A row of the list. `id`: the name of the category, or '' for everything. */
type Row = Category & { id: string }

const hour = 3_600_000
/** When each choice ends, as the service takes it. */
const ends = {
  none: () => null,
  hour: () => iso(Date.now() + hour),
  tomorrow: () => iso(new Date().setHours(24 + 8, 0, 0, 0)),
  week: () => iso(Date.now() + 7 * 24 * hour),
  forever: () => 'forever',
}
type Choice = keyof typeof ends
const choices = Object.keys(ends) as Choice[]

export class NotificationsSection extends SecuritySection {
  static override properties: PropertyDeclarations = { preferences: { state: true } }
  declare preferences: Preferences | undefined

  protected override async load(): Promise<void> {
    this.preferences = await this.account.send<Preferences>('api/me/preferences')
  }

  /** The service has the names of categories in the language that the user has just chosen. */
  protected override willUpdate(changed: PropertyValues<this>): void {
    super.willUpdate(changed)
    const before = changed.get('account') as Account | undefined
    if (before !== undefined && before.language !== this.account.language) void this.reload()
  }

  async #mute({ id, mutedUntil }: Row, select: HTMLSelectElement): Promise<void> {
    const mute = { mutedUntil: ends[select.value as Choice]() }
    const body = id === '' ? mute : { categories: { [id]: mute } }
    const isSaved = await this.act(
      () => this.account.send('api/me/preferences', { method: 'PUT', body }),
      (texts) => texts.notifications.saved,
    )
    // The list shows what the service has.
    if (isSaved) await this.reload()
    else select.value = choiceOf(mutedUntil)
  }

  protected override render(): TemplateResult {
    return this.whenLoaded(this.preferences && this.#content(this.preferences))
  }

  #content({ mutedUntil, categories }: Preferences): TemplateResult {
    const { notifications } = this.texts
    const rows = Object.entries(categories).map(([id, category]) => ({ id, ...category }))
    rows.sort((one, other) => one.label.localeCompare(other.label, this.account.language))
    const everything = { id: '', label: notifications.everything, description: null, mandatory: false, mutedUntil }
    return html`<p class="hint">${notifications.hint}</p>
<ul class="entries">${this.entries([everything, ...rows], (row) => this.#item(row))}</ul>
${rows.length > 0 ? nothing : html`<p class="hint">${notifications.none}</p>`}
${this.outcome()}`
  }

  #item(row: Row): TemplateResult {
    const { notifications } = this.texts
    const { id, label, description, mandatory } = row
    const hint = description === null ? nothing : html`<div class="hint">${description}</div>`
    if (mandatory)
      return html`<li><div class="about"><strong>${label}</strong> <span class="badge">${notifications.mandatory}</span>${hint}</div></li>`
    const { mutedUntil } = row
    const kept = choiceOf(mutedUntil)
    const isOwn = kept === 'until'
    return html`<li><div class="about"><label for="mute-${id}">${label}</label>${hint}</div>
<select id="mute-${id}" aria-disabled=${this.isBusy} @change=${({ target }: Event) => this.#mute(row, target as HTMLSelectElement)}>
${isOwn ? html`<option value="until" .selected=${isOwn}>${notifications.until(this.exactly(mutedUntil ?? ''))}</option>` : nothing}
${choices.map((choice) => html`<option value=${choice} .selected=${choice === kept}>${notifications.choices[choice]}</option>`)}
</select></li>`
  }
}

/** What the list shows for a mute: `until` for its time. */
function choiceOf(mutedUntil: string | null): 'none' | 'forever' | 'until' {
  if (mutedUntil === null) return 'none'
  return mutedUntil === 'forever' ? 'forever' : 'until'
}

function iso(at: number): string {
  return new Date(at).toISOString()
}
