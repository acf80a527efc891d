// What became of notifications: of one, of all with a key, and by producer and category. Never what they say.
import { html, nothing, type TemplateResult } from 'lit'
import { states } from '../account/account-section.ts'
import type { Page } from '../account/loaded-section.ts'
import { OperatorView, type Row, valuesOf } from './operator-view.ts'
import { type Aged, curves, type Measure } from './pictures.ts'

type Heard = { since: string | null; examined: number; items: Row[]; ages: Aged[] }
/** `path`: of a key, which can be withdrawn. */
type Found = { facts: Row; path?: string }

const measures: readonly Measure[] = ['seen', 'read', 'archived']
const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const
const idShape = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

export class DeliveriesView extends OperatorView<Heard> {
  static override properties = states('found', 'measure')

  declare found: Found | undefined
  declare measure: Measure

  constructor() {
    super()
    this.measure = 'seen'
  }

  protected override async read(): Promise<Page<Heard>> {
    return { items: [await this.call<Heard>('heard')], next: null }
  }

  async #find(event: Event): Promise<void> {
    const { sent = '', application } = valuesOf(event)
    const path = `by-key/${encodeURIComponent(sent)}${application ? `?application=${encodeURIComponent(application)}` : ''}`
    await this.act(async () => {
      this.found = undefined
      if (idShape.test(sent)) this.found = { facts: await this.#read(`explain/${sent}`) }
      else if (sent !== '') {
        const { counts, ...facts } = await this.#read(path)
        this.found = { facts: { ...facts, ...(counts as Row) }, path }
      }
    })
  }

  #read(path: string): Promise<Row> {
    return this.explained(this.call<Row>(path), { NOT_FOUND: () => this.own.noMatch })
  }

  async #withdraw(path: string): Promise<void> {
    const { withdraw, withdrawn } = this.own.deliveries
    let inboxes = 0
    const work = async () => {
      await this.ask({ title: `${withdraw}?`, text: this.own.users.cannotUndo, action: withdraw })
      inboxes = (await this.call<{ inboxes: number }>(path, { method: 'DELETE' })).inboxes
      this.found = undefined
    }
    await this.act(work, () => withdrawn(inboxes))
  }

  protected override content({ items }: Page<Heard>): TemplateResult {
    const { own, found } = this
    const { since, examined, items: rows, ages } = items[0] as Heard
    const { deliveries } = own
    const columns = ['producer', 'category', 'delivered', 'muted', 'seen', 'read', 'archived']
    return html`<form role="search" @submit=${this.#find}>${this.field('sent', deliveries.find)}${this.field('application', deliveries.application)}
<p class="buttons"><button class="primary">${own.search}</button></p></form>
${
  found
    ? this.facts(
        found.facts,
        Object.keys(found.facts).filter((name) => Object.hasOwn(own.columns, name)),
      )
    : nothing
}
${found?.path ? html`<p class="buttons">${this.button(deliveries.withdraw, () => this.#withdraw(found.path ?? ''), 'danger')}</p>` : nothing}
${this.outcome()}
<h3>${deliveries.heard}</h3>
${since === null ? nothing : html`<p class="hint">${deliveries.heardHint(examined.toLocaleString(this.account.language), this.account.exact(since))}</p>`}
${this.table(deliveries.heard, { rows, columns, empty: deliveries.empty })}
${ages.length === 0 ? nothing : this.#ages(ages)}`
  }

  #ages(ages: readonly Aged[]): TemplateResult {
    const { deliveries, columns, now } = this.own
    const lines = [...Map.groupBy(ages, ({ category }) => category).values()]
    const display = (age: number) => this.#display(age)
    const share = (row: Aged, measure: Measure) =>
      this.#format(row[measure] / row.delivered, { style: 'percent' })
    const rows = ages.map((row) => {
      const shares = measures.map((measure) => [measure, share(row, measure)])
      return { ...row, age: display(row.age), ...Object.fromEntries(shares) }
    })
    return html`<h3>${deliveries.ages}</h3><p class="hint">${deliveries.agesHint}</p>
<p class="buttons" role="group" aria-label=${deliveries.ages}>${measures.map(
      (measure) =>
        html`<button type="button" aria-pressed=${measure === this.measure} @click=${() => {
          this.measure = measure
        }}>${columns[measure]}</button>`,
    )}</p>
${curves(deliveries.ages, lines, { measure: this.measure, display })}
<p class="hint">${lines.map(([row], n) => html`<span class="mark"><svg class="key" aria-hidden="true"><line class="tone-${n}" x2="100%" y1="50%" y2="50%"></line></svg> ${row?.category ?? '–'}</span> `)}</p>
<details><summary>${now.numbers}</summary>${this.table(deliveries.ages, { rows, columns: ['category', 'age', 'delivered', ...measures] })}</details>`
  }

  #display(age: number): string {
    const [unit, seconds] = units.find(([, one]) => age >= one) ?? ['second', 1]
    return this.#format(age / seconds, { style: 'unit', unit, unitDisplay: 'short' })
  }

  #format(value: number, options: Intl.NumberFormatOptions): string {
    return new Intl.NumberFormat(this.account.language, options).format(value)
  }
}
