import { html, nothing } from 'lit/html.js'
import type { Stage } from '../demonstration-page.ts'
import type { Act } from '../experiments/experiments.ts'

const hopMs = 900

export class Player {
  at = 0
  #shown: unknown
  #timer: ReturnType<typeof setInterval> | undefined
  readonly #changed: () => void

  constructor(changed: () => void) {
    this.#changed = changed
  }

  /** If readers want no motion, all hops show at once. An undefined moment is only planned. */
  show(moment: unknown, hops: number): void {
    if (moment === this.#shown && moment !== undefined) return
    this.#shown = moment
    clearInterval(this.#timer)
    const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches
    this.at = isStill || moment === undefined ? hops : Math.min(1, hops)
    if (this.at === hops) return
    this.#timer = setInterval(() => {
      this.at++
      if (this.at >= hops) clearInterval(this.#timer)
      this.#changed()
    }, hopMs)
  }

  to(at: number): void {
    clearInterval(this.#timer)
    this.at = at
    this.#changed()
  }
}

type Bar = {
  moment: unknown
  lanes: readonly (readonly { sentence: string }[])[]
  acts: unknown
}

export function barView({ player, texts }: Stage, { moment, lanes, acts }: Bar) {
  const hops = Math.max(...lanes.map(({ length }) => length))
  player.show(moment, hops)
  const sentences = lanes.map((lane) => lane[player.at - 1]?.sentence ?? '')
  const move = ({ target }: Event) => player.to(Number((target as HTMLInputElement).value))
  const slider = html`<label class="hops">
    ${texts.hops}
    <input type="range" min="0" max=${hops} .value=${String(player.at)} aria-valuetext=${sentences.join('. ')} @input=${move} />
    <output>${player.at}/${hops}</output>
  </label>`
  return html`<div class="acts buttons">${acts} ${moment === undefined ? nothing : slider}</div>`
}

type Moments = { labels: readonly Act['label'][]; shown: number; show: (at: number) => void }

export function momentsView({ texts }: Stage, { labels, shown, show }: Moments) {
  const choice = (label: Act['label'], at: number) =>
    html`<button type="button" aria-pressed=${shown === at} @click=${() => show(at)}>${texts.acts[label]}</button>`
  return html`<div class="buttons" role="group" aria-label=${texts.moments}>${labels.map(choice)}</div>`
}
