// The audit log; the trail of one user has the user's id in the address.
import { html, nothing, type TemplateResult } from 'lit'
import { states } from '../account/account-section.ts'
import type { Page } from '../account/loaded-section.ts'
import { type Counts, type Span, timeOf } from './brush.ts'
import { OperatorView, type Row, valuesOf } from './operator-view.ts'

type Entry = Row & { id: string }
type Counted = Counts & { events: readonly string[]; examined: number }

export class AuditView extends OperatorView<Page<Entry>> {
  static override properties = states('counted')

  /** What the filter finds at any time, so that the bars stay while a span is chosen. */
  declare counted: Counted | undefined
  #countedFor: string | undefined
  #filter: Record<string, string> = {}
  #span: Span = {}

  #query(more: Record<string, string> = {}): string {
    const { argument } = this.account
    return String(
      new URLSearchParams({ ...this.#filter, ...(argument && { user: argument }), ...more }),
    )
  }

  protected override async read(after?: string): Promise<Page<Entry>> {
    const query = this.#query()
    if (this.#countedFor !== query) this.counted = await this.call<Counted>(`audit/counts?${query}`)
    this.#countedFor = query
    return this.call(`audit?${this.#query({ ...this.#span, ...(after && { after }) })}`)
  }

  #find(event: Event): Promise<void> {
    this.#filter = valuesOf(event)
    this.#span = {}
    return this.reload()
  }

  #narrow({ detail }: CustomEvent<Span>): Promise<void> {
    this.#span = detail
    return this.reload()
  }

  protected override content(page: Page<Entry>): TemplateResult {
    const { own, account, counted } = this
    const { audit, titles } = own
    const fields = html`<div class="field"><label for="event">${own.columns.event}</label><select id="event" name="event"><option value="">${audit.all}</option>
${counted?.events.map((name) => html`<option>${name}</option>`)}</select></div>
${this.field('actor', audit.actor)}`
    const exported = html`<a class="button" href="${account.root}api/operator/audit/export?${this.#query(this.#span)}">${audit.export}</a>`
    return html`${this.search(this.#find, fields, exported)}
${counted === undefined ? nothing : this.#histogram(counted)}
${this.table(titles.audit, { rows: page.items, empty: own.noMatch, columns: ['at', 'event', 'name', 'actor', 'address', 'device', 'detail'] })}
<p class="buttons">${this.moreButton(page, (after) => this.read(after))}</p>${this.outcome()}`
  }

  #histogram(counted: Counted): TemplateResult {
    const { own, account } = this
    const { counts, since, examined } = counted
    const rows = counts.map((entries, bar) => ({ at: timeOf(counted, bar), entries }))
    const hint = own.audit.hint(examined.toLocaleString(account.language), account.exact(since))
    return html`<p class="hint">${hint}</p>
<operator-brush .account=${account} .counts=${counted} @span-chosen=${this.#narrow}></operator-brush>
${this.numbers(own.audit.title, { rows: rows.filter(({ entries }) => entries > 0) })}`
  }
}
