// What became of notifications, never what they say.
import { html, nothing, type TemplateResult } from 'lit'
import { states } from '../account/account-section.ts'
import { OperatorView, type Row, valuesOf } from './operator-view.ts'
import type { Strip } from './strip.ts'

type Measure = 'seen' | 'read' | 'archived'
/** `age`: seconds. */
type Aged = Row & { age: number; category: string | null; delivered: number } & Record<
    Measure,
    number
  >
type Heard = { since: string | null; examined: number; items: Row[]; ages: Aged[] }
type Keyed = { key: string; path: string }
/** What has a key can be withdrawn. */
type Found = { facts: Row; keyed?: Keyed }

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

  protected override read(): Promise<Heard> {
    return this.call('heard')
  }

  async #find(event: Event): Promise<void> {
    const { sent = '', application } = valuesOf(event)
    const path = `by-key/${encodeURIComponent(sent)}${application ? `?application=${encodeURIComponent(application)}` : ''}`
    await this.act(async () => {
      this.found = undefined
      if (idShape.test(sent)) this.found = { facts: await this.#read(`explain/${sent}`) }
      else if (sent !== '') {
        const { counts, ...facts } = await this.#read(path)
        const keyed = { key: sent, path }
        this.found = { facts: { ...facts, ...(counts as Row) }, keyed }
      }
    })
  }

  #read(path: string): Promise<Row> {
    return this.explained(this.call<Row>(path), { NOT_FOUND: () => this.own.noMatch })
  }

  async #withdraw({ key, path }: Keyed): Promise<void> {
    const { withdraw, withdrawn } = this.own.deliveries
    let inboxes = 0
    const work = async () => {
      await this.sure(withdraw, key)
      inboxes = (await this.call<{ inboxes: number }>(path, { method: 'DELETE' })).inboxes
      this.found = undefined
    }
    await this.act(work, () => withdrawn(inboxes))
  }

  protected override content({ since, examined, items: rows, ages }: Heard): TemplateResult {
    const { own, found } = this
    const { deliveries } = own
    const keyed = found?.keyed
    const fields = html`${this.field('sent', deliveries.find)}${this.field('application', own.keys.application)}`
    return html`${this.search(this.#find, fields)}
${found && this.facts(found.facts)}
${keyed && html`<p class="buttons">${this.button(deliveries.withdraw, () => this.#withdraw(keyed), 'danger')}</p>`}
${this.outcome()}
<h3>${deliveries.heard}</h3>
${since && html`<p class="hint">${deliveries.heardHint(examined.toLocaleString(this.account.language), this.account.exact(since))}</p>`}
${this.table(deliveries.heard, { rows, empty: deliveries.empty })}
${ages.length === 0 ? nothing : this.#ages(ages)}`
  }

  #ages(all: readonly Aged[]): TemplateResult {
    const { measure, own, account } = this
    const { deliveries, columns } = own
    const { format } = new Intl.NumberFormat(account.language, { style: 'percent' })
    const ages = [...new Set(all.map(({ age }) => age))].sort((one, other) => one - other)
    const strip: Strip = {
      lines: [...Map.groupBy(all, ({ category }) => category)].map(([category, ofIt]) => {
        const shares = new Map(ofIt.map((row) => [row.age, row[measure] / row.delivered]))
        const values = ages.map((age) => shares.get(age) ?? null)
        return { label: category ?? '–', values, kind: 'line' }
      }),
      places: ages,
      ages: (age) => this.#display(age),
    }
    const rows = all.map((row) => {
      const shares = measures.map((name) => [name, format(row[name] / row.delivered)])
      return { ...row, age: this.#display(row.age), ...Object.fromEntries(shares) }
    })
    const names = { seen: columns.seen, read: columns.read, archived: columns.archived }
    const choose = (name: Measure) => {
      this.measure = name
    }
    return html`<h3>${deliveries.ages}</h3><p class="hint">${deliveries.agesHint}</p>
${this.choices(deliveries.ages, names, { chosen: measure, choose })}
${this.drawn(deliveries.ages, strip, { rows, columns: ['category', 'age', 'delivered', ...measures] })}`
  }

  #display(age: number): string {
    const [unit, seconds] = units.find(([, one]) => age >= one) ?? ['second', 1]
    const { format } = new Intl.NumberFormat(this.account.language, {
      style: 'unit',
      unit,
      unitDisplay: 'short',
    })
    return format(age / seconds)
  }
}
