// The script of the demonstration: shows the place that the address names, and renders again after each change.
import { html, nothing, render } from 'lit/html.js'
import { pageLanguageOf } from '../../server/pages/texts/texts.ts'
import type { Texts } from '../texts/en.ts'
import { demonstrationTexts } from '../texts/texts.ts'
import { Bench } from './bench.ts'
import { experimentsView, experimentView } from './experiment-view.ts'
import { play } from './picture-view.ts'
import { hashOf, type Place, placeOf } from './places.ts'
import { tokenSentBy } from './proof-parts.ts'
import { ResultState, resultView } from './result-view.ts'
import { SignatureCheck } from './signature-view.ts'
import type { Stage } from './stage.ts'
import { stepIds, Walk } from './walk.ts'
import { startView, stepView, troubleView } from './walk-view.ts'
import { World } from './world.ts'

/** The width in pixels from which the page has two columns. */
const columnsFrom = 860

class DemonstrationPage {
  readonly #host: HTMLElement
  readonly #texts: Texts
  readonly #language: string
  readonly #base: string
  readonly #world: World
  readonly #walk: Walk
  readonly #bench: Bench
  readonly #check: SignatureCheck
  readonly #result: ResultState
  #place: Place = { kind: 'start' }
  /** The pictures whose envelope has travelled. */
  readonly #played = new Set<string>()

  constructor(host: HTMLElement, texts: Texts, language: string) {
    const { base = 'demonstration/' } = host.dataset
    const changed = () => this.#render()
    this.#host = host
    this.#texts = texts
    this.#language = language
    this.#base = base
    this.#world = new World(base, texts.notifications)
    this.#walk = new Walk(this.#world, changed)
    this.#bench = new Bench(changed)
    this.#check = new SignatureCheck(this.#world, changed)
    this.#result = new ResultState(changed)
    addEventListener('hashchange', () => void this.#follow())
    new ResizeObserver(changed).observe(host)
  }

  async start(): Promise<void> {
    this.#host.replaceChildren()
    this.#render()
    if (location.hash.length > 1) await this.#follow()
  }

  /** Goes to the place that the address names. */
  async #follow(): Promise<void> {
    const place = placeOf(location.hash)
    if (place !== undefined) await this.#show(place)
  }

  #go(place: Place): void {
    if (location.hash === hashOf(place)) void this.#show(place)
    else location.hash = hashOf(place)
  }

  async #show(place: Place): Promise<void> {
    if (place.kind === 'step' && !(await this.#walk.reach(place.id))) return this.#focus('trouble')
    const [sent] = this.#walk.results.get('with-proof')?.token ?? []
    if (sent !== undefined) this.#check.begin(tokenSentBy(sent) ?? '')
    if (place.kind === 'result') this.#result.read(location.hash)
    if (place.kind === 'experiment') this.#bench.shown = 0
    this.#place = place
    this.#render()
    this.#focus('place')
  }

  #focus(id: string): void {
    const target = document.getElementById(id) ?? document.getElementById('top')
    target?.focus({ preventScroll: true })
    this.#host.scrollIntoView({ block: 'start' })
  }

  #startAgain(): void {
    const wanted = this.#walk.trouble?.wanted
    this.#walk.restart()
    void this.#show(wanted === undefined ? this.#place : { kind: 'step', id: wanted })
  }

  #render(): void {
    const width = this.#host.clientWidth
    const isWide = width >= columnsFrom
    const stage: Stage = {
      world: this.#world,
      texts: this.#texts,
      language: this.#language,
      base: this.#base,
      cookieName: this.#world.visit?.cookieName ?? 'carillon-demonstration',
      isWide,
      width: Math.max(250, Math.floor(isWide ? (width - 20) / 2 - 34 : width - 22)),
      go: (place) => this.#go(place),
      startAgain: () => this.#startAgain(),
    }
    const { trouble } = this.#walk
    render(
      html`${this.#steps()} ${trouble ? troubleView(stage, trouble) : nothing}<div class="step" aria-busy=${this.#walk.sending}>${this.#view(stage)}</div>`,
      this.#host,
    )
    document.body.classList.toggle('is-underway', this.#place.kind !== 'start')
    this.#playNew()
  }

  #steps() {
    const { steps, walk, experimentsTitle, table } = this.#texts
    const link = (place: Place, label: string, text: string) => {
      const isHere =
        hashOf(place) === hashOf(this.#place) || (place.kind === 'experiments' && this.#place.kind === 'experiment')
      const isDone = place.kind === 'step' && this.#walk.results.has(place.id)
      return html`<li>
        <a href=${hashOf(place)} class=${isDone ? 'is-done' : ''} aria-current=${isHere ? 'step' : nothing}><span class="number">${label}</span> <span class="step-name">${text}</span></a>
      </li>`
    }
    return html`<nav class="steps" aria-label=${walk}>
      <ol>
        ${stepIds.map((id, at) => link({ kind: 'step', id }, String(at + 1), steps[id].short))}
        ${link({ kind: 'experiments' }, '?', experimentsTitle)} ${link({ kind: 'result' }, '=', table.short)}
      </ol>
    </nav>`
  }

  #view(stage: Stage) {
    const place = this.#place
    if (place.kind === 'experiments') return experimentsView(stage, this.#bench)
    if (place.kind === 'experiment') return experimentView(stage, this.#bench, place.id)
    if (place.kind === 'result') return resultView(stage, this.#result)
    const results = place.kind === 'step' ? this.#walk.results.get(place.id) : undefined
    if (place.kind !== 'step' || results === undefined) return startView(stage, this.#walk)
    return stepView(stage, { walk: this.#walk, id: place.id, results, check: this.#check })
  }

  #playNew(): void {
    for (const figure of this.#host.querySelectorAll<HTMLElement>('.picture[data-key]')) {
      const { key = '' } = figure.dataset
      if (this.#played.has(key)) continue
      this.#played.add(key)
      void play(figure)
    }
  }
}

const walkPlace = document.getElementById('walk')
if (walkPlace !== null) {
  const language = pageLanguageOf([document.documentElement.lang])
  void new DemonstrationPage(walkPlace, await demonstrationTexts(language), language).start()
}
