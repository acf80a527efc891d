import { html, nothing, render } from 'lit/html.js'
import { pageLanguageOf } from '../../server/pages/texts/texts.ts'
import { demonstrationTexts, filled, type Texts } from '../texts/texts.ts'
import { classView } from './class-view.ts'
import { Bench, experimentIds } from './experiments/experiments.ts'
import { Player } from './picture/player.ts'
import { hashOf, isHere, isOneOf, type Place, placeOf } from './places.ts'
import { SignatureCheck } from './proof/signature-view.ts'
import { recordingHere } from './recording.ts'
import type { Finding } from './result/result.ts'
import { resultView } from './result/result-view.ts'
import { experimentsView, startView, storyView } from './story-view.ts'
import { stepIds, Walk } from './walk.ts'
import { World } from './world.ts'

/** The width in pixels from which the page has two columns. */
const columnsFrom = 860

export class Stage {
  readonly texts: Texts
  readonly language: string
  /** How many people may use the demonstration. */
  readonly places: string
  /** With one, the page sends nothing. */
  readonly recording = recordingHere()
  readonly world: World
  readonly walk: Walk
  readonly check: SignatureCheck
  readonly bench = new Bench()
  readonly player = new Player(() => this.#render())
  readonly result: Finding = {}
  readonly #host: HTMLElement
  #place: Place = 'start'

  constructor(host: HTMLElement, texts: Texts, language: string) {
    const { base = 'demonstration/', places = '' } = host.dataset
    this.#host = host
    this.texts = texts
    this.language = language
    this.places = places
    this.world = new World(base, Object.values(texts.notifications), () => this.#render())
    this.walk = new Walk(this.world, this.recording?.walk)
    this.check = new SignatureCheck(this.world)
    addEventListener('hashchange', () => void this.follow())
    addEventListener('keydown', (event) => this.#step(event))
    new ResizeObserver(() => this.#render()).observe(host)
    host.replaceChildren()
    this.#render()
  }

  get cookieName(): string {
    return this.world.visit?.cookieName ?? 'carillon-demonstration'
  }

  get isWide(): boolean {
    return this.#host.clientWidth >= columnsFrom
  }

  /** The width of a picture in pixels. */
  get width(): number {
    const { clientWidth } = this.#host
    return Math.max(0, Math.floor(this.isWide ? (clientWidth - 20) / 2 - 34 : clientWidth - 22))
  }

  async follow(): Promise<void> {
    const place = placeOf(location.hash)
    if (place !== undefined && (location.hash !== '' || this.#place !== 'start'))
      await this.#show(place)
  }

  async #show(place: Place): Promise<void> {
    const { world, walk } = this
    world.failure = undefined
    if (!isOneOf(stepIds, place) || walk.results.has(place)) return this.#arrive(place)
    const reach = async () => {
      await walk.reach(place)
      if (isHere(place)) this.#arrive(place)
    }
    if (!(await world.run(place, reach)) && isHere(place)) this.#focus('failure')
  }

  #arrive(place: Place): void {
    const { world, bench, check } = this
    if (place === 'with-proof') check.begin(world.token ?? check.real)
    bench.moments = {}
    this.#place = place
    this.#render()
    this.#focus('place')
  }

  /** Arrow keys go through the hops wherever they have no other meaning. */
  #step({ key, target, altKey, ctrlKey, metaKey }: KeyboardEvent): void {
    const slider = this.#host.querySelector<HTMLInputElement>('.hops input')
    const isElsewhere = altKey || ctrlKey || metaKey || (target as HTMLElement).tabIndex >= 0
    if (!slider || isElsewhere || !/^Arrow(Left|Right)$/.test(key)) return
    slider.focus({ preventScroll: true })
    slider[key === 'ArrowLeft' ? 'stepDown' : 'stepUp']()
    this.player.to(Number(slider.value))
  }

  #focus(id: string): void {
    const target = document.getElementById(id) ?? document.getElementById('top')
    target?.focus({ preventScroll: true })
    this.#host.scrollIntoView({ block: 'start' })
  }

  #render(): void {
    const isBusy = this.world.running !== undefined
    const content = html`${placesView(this, this.#place)} ${failureView(this)}
      <div class="step" aria-busy=${isBusy}>${placeView(this, this.#place)}</div>`
    render(content, this.#host)
    document.body.classList.toggle('is-underway', this.#place !== 'start')
  }
}

function placesView({ texts }: Stage, present: Place) {
  const here = isOneOf(experimentIds, present) ? 'experiments' : present
  const link = (place: keyof Texts['places'], label: string) =>
    html`<li>
      <a href=${hashOf(place)} aria-current=${place === here ? 'step' : nothing}><span class="number">${label}</span> <span class="step-name">${texts.places[place]}</span></a>
    </li>`
  return html`<nav class="steps" aria-label=${texts.walk}>
    <ol>${stepIds.map((id, at) => link(id, String(at + 1)))} ${link('experiments', '?')} ${link('result', '=')} ${link('class', '+')}</ol>
  </nav>`
}

function placeView(stage: Stage, place: Place) {
  const isStep = isOneOf(stepIds, place)
  if (place === 'start' || (isStep && !stage.walk.results.has(place))) return startView(stage)
  if (place === 'experiments') return experimentsView(stage)
  if (place === 'class') return classView(stage)
  return place === 'result' ? resultView(stage) : storyView(stage, place)
}

function failureView({ texts, places, world: { failure } }: Stage) {
  if (failure === undefined) return nothing
  const { trouble, retryAfter } = failure.error
  return html`<div class="card" role="alert" id="failure" tabindex="-1">
    <p class="fault">${filled(texts.troubles[trouble], places, Math.ceil(retryAfter / 60))}</p>
    <button type="button" class="primary" @click=${failure.again}>${texts.tryAgain}</button>
  </div>`
}

const walkPlace = document.getElementById('walk')
if (walkPlace !== null) {
  const asked = recordingHere() ? navigator.languages : [document.documentElement.lang]
  const language = pageLanguageOf([...asked])
  const texts = demonstrationTexts(language)
  document.documentElement.lang = language
  // The service has translated its page; the file has one for all.
  const heading = document.getElementById('top')
  if (recordingHere() && heading) document.title = heading.textContent = texts.walk
  void new Stage(walkPlace, texts, language).follow()
}
