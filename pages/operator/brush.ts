// Bars over time from which the pointer or two sliders choose a span. A table beside them has the same numbers.
import { html, type PropertyValues, svg, type TemplateResult } from 'lit'
import { PageElement, states } from '../account/account-section.ts'
import type { Operator } from './operator-view.ts'

export type Counts = { since: string; until: string; counts: readonly number[] }
/** Empty for all of it. */
export type Span = { since?: string; until?: string }

export function timeOf({ since, until, counts }: Counts, bar: number): string {
  const start = Date.parse(since)
  const end = Date.parse(until)
  return new Date(start + (bar / counts.length) * (end - start)).toISOString()
}

const height = 20

/** Sends the event `span-chosen` with a `Span`. */
export class OperatorBrush extends PageElement {
  static override properties = {
    account: { attribute: false },
    counts: { attribute: false },
    ...states('from', 'to'),
  }

  declare account: Operator
  declare counts: Counts
  /** The chosen bars, without `to`. */
  declare from: number
  declare to: number

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('counts')) this.#choose(0, this.counts.counts.length)
  }

  #display(bar: number): string {
    return this.account.exact(timeOf(this.counts, bar))
  }

  #choose(from: number, to: number): void {
    this.from = from
    this.to = to
  }

  /** An end that was not moved is no limit. */
  #chosen(): void {
    const { counts, from, to } = this
    const span: Span = {
      ...(from > 0 && { since: timeOf(counts, from) }),
      ...(to < counts.counts.length && { until: timeOf(counts, to) }),
    }
    this.tell('span-chosen', span)
  }

  #drag({ currentTarget, pointerId, clientX }: PointerEvent): void {
    const picture = currentTarget as SVGElement
    const { left, width } = picture.getBoundingClientRect()
    const { length } = this.counts.counts
    const barAt = (x: number) =>
      Math.min(length - 1, Math.max(0, Math.floor(((x - left) / width) * length)))
    const first = barAt(clientX)
    const choose = (x: number) =>
      this.#choose(Math.min(first, barAt(x)), Math.max(first, barAt(x)) + 1)
    choose(clientX)
    picture.setPointerCapture(pointerId)
    picture.onpointermove = (event) => choose(event.clientX)
    picture.onlostpointercapture = () => {
      picture.onpointermove = null
      this.#chosen()
    }
  }

  protected override render(): TemplateResult {
    const { counts } = this.counts
    const { audit } = this.account.own
    const most = Math.max(1, ...counts)
    const isChosen = (bar: number) => bar >= this.from && bar < this.to
    return html`<svg class="bars" aria-hidden="true" viewBox="0 0 ${counts.length} ${height}" preserveAspectRatio="none" @pointerdown=${this.#drag}>
<rect class="ground" width="100%" height="100%"></rect>
${counts.map((count, bar) => {
  const high = (height * count) / most
  return svg`<rect class=${isChosen(bar) ? '' : 'other'} x=${bar} y=${height - high} width="0.85" height=${high}></rect>`
})}</svg>
<div class="span">
${this.#slider(audit.from, this.from, (bar) => this.#choose(bar, Math.max(bar + 1, this.to)), 0)}
${this.#slider(audit.to, this.to, (bar) => this.#choose(Math.min(this.from, bar - 1), bar), 1)}</div>`
  }

  #slider(label: string, bar: number, choose: (bar: number) => void, min: number): TemplateResult {
    const max = this.counts.counts.length - 1 + min
    const take = ({ target }: Event) => choose(Number((target as HTMLInputElement).value))
    return html`<label>${label} ${this.#display(bar)}<input type="range" min=${min} max=${max} .value=${String(bar)}
aria-valuetext=${this.#display(bar)} @input=${take} @change=${this.#chosen}></label>`
  }
}
