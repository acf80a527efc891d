// The script of the demonstration: shows the place that the address names.
import { html, nothing, render } from 'lit/html.js'
import { pageLanguageOf } from '../../server/pages/texts/texts.ts'
import { demonstrationTexts, filled, type Texts } from '../texts/texts.ts'
import { classView } from './class-view.ts'
import { Bench, experimentIds, predictedAct } from './experiments.ts'
import { Player } from './player.ts'
import { recordingHere } from './recording.ts'
import { type Finding, fragmentOf, measurementIn } from './result.ts'
import { resultView } from './result-view.ts'
import { SignatureCheck } from './signature-view.ts'
import { hashOf, isOneOf, type Place, placeOf, type Stage } from './stage.ts'
import { experimentsView, startView, storyView } from './story-view.ts'
import { stepIds, Walk } from './walk.ts'
import { World } from './world.ts'

/** The width in pixels from which the page has two columns. */
const columnsFrom = 860

class DemonstrationPage {
  readonly #host: HTMLElement
  readonly #stage: Stage
  #place: Place = 'start'

  constructor(host: HTMLElement, texts: Texts, language: string) {
    const { base = 'demonstration/', places = '' } = host.dataset
    const changed = () => this.#render()
    const recording = recordingHere()
    const world = new World(base, Object.values(texts.notifications), changed)
    this.#host = host
    this.#stage = {
      world,
      walk: new Walk(world, recording?.walk),
      recording,
      bench: new Bench(),
      player: new Player(changed),
      check: new SignatureCheck(world),
      result: {},
      places,
      texts,
      language,
      ...presentOf(host, world),
    }
    addEventListener('hashchange', () => void this.follow())
    new ResizeObserver(changed).observe(host)
    host.replaceChildren()
    this.#render()
  }

  async follow(): Promise<void> {
    const place = placeOf(location.hash)
    if (place !== undefined && (location.hash !== '' || this.#place !== 'start'))
      await this.#show(place)
  }

  async #show(place: Place): Promise<void> {
    const { world, walk } = this.#stage
    world.failure = undefined
    if (!isOneOf(stepIds, place) || walk.results.has(place)) return this.#arrive(place)
    const reach = () => walk.reach(place).then(() => this.#arrive(place))
    if (!(await world.run(place, reach))) this.#focus('failure')
  }

  #arrive(place: Place): void {
    const { world, bench, check, result } = this.#stage
    if (place === 'with-proof') check.begin(world.token ?? check.real)
    if (place === 'result') readLink(result)
    bench.shown = isOneOf(experimentIds, place) ? predictedAct(bench.outcomes[place]) : 0
    this.#place = place
    this.#render()
    this.#focus('place')
  }

  #focus(id: string): void {
    const target = document.getElementById(id) ?? document.getElementById('top')
    target?.focus({ preventScroll: true })
    this.#host.scrollIntoView({ block: 'start' })
  }

  #render(): void {
    const stage = Object.assign(this.#stage, presentOf(this.#host, this.#stage.world))
    const isBusy = stage.world.running !== undefined
    const content = html`${placesView(stage, this.#place)} ${failureView(stage)}
      <div class="step" aria-busy=${isBusy}>${placeView(stage, this.#place)}</div>`
    render(content, this.#host)
    document.body.classList.toggle('is-underway', this.#place !== 'start')
  }
}

function presentOf({ clientWidth }: HTMLElement, { visit }: World) {
  const isWide = clientWidth >= columnsFrom
  const width = Math.max(250, Math.floor(isWide ? (clientWidth - 20) / 2 - 34 : clientWidth - 22))
  return { isWide, width, cookieName: visit?.cookieName ?? 'carillon-demonstration' }
}

function readLink(result: Finding): void {
  const found = measurementIn(location.hash)
  if (
    found === undefined ||
    (result.measurement && fragmentOf(result.measurement) === location.hash)
  )
    return
  result.measurement = found
  result.isShared = true
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
    <p class="fault">${filled(texts.troubles[trouble], places)} ${retryAfter === undefined ? nothing : `${texts.freeIn}${Math.ceil(retryAfter / 60)} min.`}</p>
    <button type="button" class="primary" @click=${failure.again}>${trouble === 'gone' ? texts.startAgain : texts.tryAgain}</button>
  </div>`
}

const walkPlace = document.getElementById('walk')
if (walkPlace !== null) {
  const asked = recordingHere() ? navigator.languages : [document.documentElement.lang]
  const language = pageLanguageOf([...asked])
  document.documentElement.lang = language
  void new DemonstrationPage(walkPlace, demonstrationTexts(language), language).follow()
}
