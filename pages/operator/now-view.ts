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
    const marks = Object.entries(signs) as [keyof typeof signs, string][]
    return html`<p class="lead">${this.#sentence(now, numbers)}</p>
<dl>${this.#fact(own.now.version, now.version)}${this.#fact(own.now.started, account.exact(now.startedAt))}${this.#fact(own.now.nodes, String(now.nodes))}${this.#fact(own.now.backup, this.#backup(numbers))}</dl>
${this.choices(own.now.range, own.now.ranges, { chosen: range, choose: (wanted) => this.#choose(wanted) })}
<p class="hint">${marks.map(([kind, sign]) => html`<span class="mark">${sign} ${own.now.marks[kind]}</span> `)}</p>
${(Object.keys(strips) as StripName[]).map((name) => this.#strip(name, numbers))}
<h3>${own.now.changes}</h3>${this.table(own.now.changes, { rows: this.#changes(numbers), empty: own.now.empty })}
<h3>${own.now.mostStreams}</h3>${this.table(own.now.mostStreams, { rows: now.mostStreams, end: (row) => this.#userLink(row), empty: own.now.noStreams })}
<h3>${own.now.doctor}</h3>
<ul class="entries">${this.#findings(now).map(
      ({
        check,
        state,
        found,
        change,
      }) => html`<li><div class="about"><span class="badge ${state}">${own.now.states[state]}</span> <strong>${check}</strong>
<div>${found}</div>${change && html`<pre>${change}</pre>`}</div></li>`,
    )}</ul>`
  }

  #fact(name: string, value: string): TemplateResult {
    return html`<div><dt>${name}</dt><dd>${value}</dd></div>`
  }

  #userLink({ userId, name }: Now['mostStreams'][number]): TemplateResult {
    return html`<a href="#users/${userId}">${this.own.now.endStreams}<span class="for-readers"> ${name}</span></a>`
  }

  #findings({ findings }: Now): Finding[] {
    return findings.toSorted((one, other) => order.indexOf(one.state) - order.indexOf(other.state))
  }

  #backup({ lastBackup }: Numbers): string {
    return lastBackup
      ? `${this.account.exact(lastBackup.endedAt)}, ${lastBackup.node}`
      : this.own.now.noBackup
  }

  #strip(name: StripName, numbers: Numbers): TemplateResult {
    const { own, account } = this
    const title = own.now.strips[name]
    return html`<h3>${title}</h3>
<operator-strip aria-hidden="true" .account=${account} .strip=${stripOf(name, numbers, own)}></operator-strip>
${this.numbers(title, { rows: numbers.points.toReversed(), columns: ['at', ...strips[name]] })}`
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
      ...(isReady ? [] : [now.notReady]),
      ...(findings.some(({ check }) => check === 'maintenance') ? [now.maintenance] : []),
      ...(count('fault') > 0 ? [now.faults(count('fault'))] : []),
      ...(count('warning') > 0 ? [now.warnings(count('warning'))] : []),
    ]
    const [key, another] = keysExpiring
    const expiring = another === undefined ? this.#expiry(key) : now.expiring(keysExpiring.length)
    const { fullAt } = database
    const full =
      fullAt !== null && Date.parse(fullAt) - Date.now() < soonMs
        ? now.full(this.account.exact(fullAt))
        : ''
    return `${[wrong.join(', ') || now.well, expiring, full].filter(Boolean).join('; ')}.`
  }

  #expiry(key: Now['keysExpiring'][number] | undefined): string | undefined {
    return key && this.own.now.expires(key.name, this.account.exact(key.expiresAt))
  }
}
