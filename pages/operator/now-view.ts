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
  mostStreams: (Row & { userId: string })[]
  findings: Finding[]
}
type Whole = { now: Now; numbers: Numbers }
type Range = 'day' | 'month'

const order = ['fault', 'warning', 'ok']
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

  #choose(range: Range): Promise<void> {
    this.range = range
    return this.reload()
  }

  protected override content({ now, numbers }: Whole): TemplateResult {
    const { own, account, range } = this
    const { lastBackup: last } = numbers
    const lastBackup = last ? `${account.exact(last.endedAt)}, ${last.node}` : own.now.noBackup
    const findings = now.findings.toSorted(
      (one, other) => order.indexOf(one.state) - order.indexOf(other.state),
    )
    return html`<p class="lead">${this.#sentence(now, numbers)}</p>
${this.facts({ ...now, lastBackup })}
${this.choices(own.columns.at, own.now.ranges, { chosen: range, choose: (wanted) => this.#choose(wanted) })}
${this.#events(numbers)}
${(Object.keys(strips) as StripName[]).map((name) => this.#strip(name, numbers))}
${this.section(own.now.changes, { rows: this.#changes(numbers), empty: own.now.empty })}
${this.section(own.now.mostStreams, { rows: now.mostStreams, end: (row) => this.#userLink(row), empty: own.now.noStreams })}
<h3>${own.now.doctor}</h3>
<ul class="entries">${findings.map(
      ({
        check,
        state,
        found,
        change,
      }) => html`<li><div class="about"><span class="badge ${state}">${own.now.states[state]}</span> <strong>${check}</strong>
<div>${found}</div>${change && html`<pre>${change}</pre>`}</div></li>`,
    )}</ul>`
  }

  /** What the signs in the strips mean, and all of them as a table. */
  #events({ marks }: Numbers): TemplateResult {
    const { now, columns } = this.own
    const rows = marks.toReversed().map(({ at, kind }) => ({ at, event: now.marks[kind] }))
    return html`<details><summary>${Object.entries(now.marks).map(
      ([kind, name]) =>
        html`<span class="mark">${signs[kind as keyof typeof signs]} ${name}</span> `,
    )}</summary>${this.table(columns.events, { rows })}</details>`
  }

  #userLink({ userId, name }: Now['mostStreams'][number]): TemplateResult {
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

  #sentence({ isReady, keysExpiring, findings }: Now, { database }: Numbers): string {
    const { now } = this.own
    const count = (state: string) => findings.filter((one) => one.state === state).length
    const wrong = [
      !isReady && now.notReady,
      findings.some(({ check }) => check === 'maintenance') && now.maintenance,
      count('fault') > 0 && now.faults(count('fault')),
      count('warning') > 0 && now.warnings(count('warning')),
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
