// How the service is now; what is wrong comes first.
import { html, type TemplateResult } from 'lit'
import { states } from '../account/account-section.ts'
import { type Numbers, type StripName, signs, stripOf, strips } from './now-strips.ts'
import { OperatorView, type Row } from './operator-view.ts'

type Finding = { check: string; state: 'ok' | 'warning' | 'fault'; found: string; change?: string }
type Now = {
  version: string
  startedAt: string
  nodes: number
  isReady: boolean
  keysExpiring: { name: string; expiresAt: string }[]
  mostStreams: Row[]
  findings: Finding[]
}
type Found = Partial<Record<Finding['state'], Finding[]>>
type Whole = { now: Now; numbers: Numbers }
type Range = 'day' | 'month'

const everyMs = 10_000
/** A disk that is full later is no news. */
const soonMs = 60 * 24 * 3_600_000

export class NowView extends OperatorView<Whole> {
  static override properties = states('range')

  declare range: Range
  #timer: ReturnType<typeof setInterval> | undefined

  constructor() {
    super()
    this.range = 'day'
  }

  override connectedCallback(): void {
    super.connectedCallback()
    this.#timer = setInterval(() => {
      if (document.visibilityState === 'visible') void this.reload()
    }, everyMs)
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    clearInterval(this.#timer)
  }

  protected override async read(): Promise<Whole> {
    const [now, numbers] = await Promise.all([
      this.call<Now>('now'),
      this.call<Numbers>(`numbers?range=${this.range}`),
    ])
    return { now, numbers }
  }

  protected override content({ now, numbers }: Whole): TemplateResult {
    const { own, account, range } = this
    const { lastBackup: last } = numbers
    const lastBackup = last ? `${account.exact(last.endedAt)}, ${last.node}` : own.now.noBackup
    const choose = (wanted: Range) => {
      this.range = wanted
      return this.reload()
    }
    const found = Object.groupBy(now.findings, ({ state }) => state)
    return html`<p class="lead">${this.#sentence(now, numbers, found)}</p>
${this.#doctor(found)}
${this.facts({ ...now, lastBackup })}
${this.choices(own.columns.at, own.now.ranges, { chosen: range, choose })}
${this.#events(numbers)}
${(Object.keys(strips) as StripName[]).map((name) => this.#strip(name, numbers))}
${this.section(own.now.changes, { rows: this.#changes(numbers), empty: own.now.empty })}
${this.section(own.now.mostStreams, { rows: now.mostStreams, end: (row) => this.#userLink(row), empty: own.now.noStreams })}`
  }

  #doctor({ fault = [], warning = [], ok = [] }: Found): TemplateResult {
    const { now } = this.own
    return html`<h3>${now.doctor}</h3>
<ul class="entries">${[...fault, ...warning].map(
      ({
        check,
        state,
        found,
        change,
      }) => html`<li><div class="about"><span class="badge ${state}">${now.states[state]}</span> <strong>${check}</strong>
<div>${found}</div>${change && html`<pre>${change}</pre>`}</div></li>`,
    )}</ul>
<p class="hint">${now.states.ok}: ${ok.map(({ check }) => check).join(', ')}</p>`
  }

  #events({ marks }: Numbers): TemplateResult {
    const { now, columns } = this.own
    const rows = marks.toReversed().map(({ at, kind }) => ({ at, event: now.marks[kind] }))
    return html`<details><summary>${Object.entries(now.marks).map(
      ([kind, name]) =>
        html`<span class="mark">${signs[kind as keyof typeof signs]} ${name}</span> `,
    )}</summary>${this.table(columns.events, { rows })}</details>`
  }

  #userLink({ userId, name }: Row): TemplateResult {
    return html`<a href="#users/${userId}">${this.own.now.endStreams}<span class="for-readers"> ${name}</span></a>`
  }

  #strip(name: StripName, numbers: Numbers): TemplateResult {
    const { own, account } = this
    const title = own.now.strips[name]
    const table = { rows: numbers.points.toReversed(), columns: ['at', ...strips[name]] }
    return html`<h3>${title}</h3>
${this.drawn(title, stripOf(name, numbers, account), table)}`
  }

  #changes({ days: [before = {}, now = {}] }: Numbers): Row[] {
    const names = Object.keys(now).filter((name) => name !== 'at' && (before[name] || now[name]))
    return names.map((name) => ({
      name: this.columnName(name),
      before: before[name],
      now: now[name],
    }))
  }

  #sentence(
    { isReady, keysExpiring }: Now,
    { database }: Numbers,
    { fault, warning }: Found,
  ): string {
    const { now } = this.own
    const wrong = [
      !isReady && now.notReady,
      fault && now.faults(fault.length),
      warning && now.warnings(warning.length),
    ]
    const { exact } = this.account
    const [key, another] = keysExpiring
    const expiring = another
      ? now.expiring(keysExpiring.length)
      : key && now.expires(key.name, exact(key.expiresAt))
    const { fullAt } = database
    const isFull = fullAt !== null && Date.parse(fullAt) - Date.now() < soonMs
    const all = [
      wrong.filter(Boolean).join(', ') || now.well,
      expiring,
      isFull && now.full(exact(fullAt)),
    ]
    return `${all.filter(Boolean).join('; ')}.`
  }
}
