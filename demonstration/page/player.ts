// Which hop of the pictures has arrived; a reader can go back and forth.
import { html } from 'lit/html.js'
import type { Texts } from '../texts/texts.ts'
import type { Act } from './experiments.ts'
import type { Stage } from './stage.ts'

const hopMs = 900

export class Player {
  at = 0
  #shown: unknown
  #timer: ReturnType<typeof setInterval> | undefined
  readonly #changed: () => void

  constructor(changed: () => void) {
    this.#changed = changed
  }

  /** All hops are there at once if the reader prefers no motion. */
  show(moment: unknown, hops: number): void {
    if (moment === this.#shown) return
    this.#shown = moment
    clearInterval(this.#timer)
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
      this.at = hops
      return
    }
    this.at = Math.min(1, hops)
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

/** `sentences`: of the hop that arrives. */
export function sliderView(
  player: Player,
  texts: Texts,
  { hops, sentences }: { hops: number; sentences: readonly string[] },
) {
  const move = ({ target }: Event) => player.to(Number((target as HTMLInputElement).value))
  return html`<label class="hops">
    ${texts.hops}
    <input type="range" min="0" max=${hops} .value=${String(player.at)} aria-valuetext=${sentences.join('. ')} @input=${move} />
    <output>${player.at}/${hops}</output>
  </label>`
}

export function momentsView(
  { texts, bench }: Pick<Stage, 'texts' | 'bench'>,
  labels: readonly Act['label'][],
  show: (at: number) => void,
) {
  const choice = (label: Act['label'], at: number) =>
    html`<button type="button" aria-pressed=${bench.shown === at} @click=${() => show(at)}>${texts.acts[label]}</button>`
  return html`<div class="buttons" role="group" aria-label=${texts.moments}>${labels.map(choice)}</div>`
}
