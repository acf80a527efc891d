// The script of the demonstration: starts the walk, follows the address of the page, and renders again after each change.
import { render } from 'lit/html.js'
import { pageLanguageOf, textsOf } from '../../server/pages/texts/texts.ts'
import { mountExperiments } from './experiments/experiments.ts'
import { stepIds } from './steps.ts'
import type { DemonstrationOptions, Stage } from './view/stage.ts'
import { type Actions, walkView } from './view/walk-view.ts'
import { type Place, Walk } from './walk.ts'
import { World } from './world.ts'

/** The width in pixels from which the page has two columns. */
const columnsFrom = 900

class DemonstrationPage {
  readonly #host: HTMLElement
  readonly #options: DemonstrationOptions
  readonly #walk: Walk
  /** The messages that are displayed with all fields. */
  readonly #whole = new Set<string>()

  constructor(host: HTMLElement, options: DemonstrationOptions) {
    this.#host = host
    this.#options = options
    const prepare = () => this.#fillInbox()
    this.#walk = new Walk(options.world, { prepare, changed: () => this.#render() })
    addEventListener('hashchange', () => void this.#go(placeIn(location.hash)))
    new ResizeObserver(() => this.#render()).observe(host)
  }

  async start(): Promise<void> {
    this.#host.replaceChildren()
    this.#render()
    const place = placeIn(location.hash)
    if (place !== undefined && place !== 'start') await this.#go(place)
  }

  /** So that the list has something to read, in the language of the reader. */
  async #fillInbox(): Promise<void> {
    const { world, texts } = this.#options
    for (const title of texts.titlesOfNotifications) await world.control('deliver', { title })
  }

  async #go(place: Place | undefined): Promise<void> {
    if (place === undefined || this.#walk.sending !== undefined) return
    await this.#walk.show(place)
    this.#arrive()
  }

  /** The address names the step that is shown; the focus is on its heading, or on what went wrong. */
  #arrive(): void {
    const { place, trouble } = this.#walk
    const hash = place === 'start' ? '#start' : `#${place}`
    if (trouble === undefined && location.hash !== hash) history.pushState(null, '', hash)
    const target = document.getElementById(trouble === undefined ? (place === 'start' ? 'top' : place) : 'trouble')
    target?.focus({ preventScroll: true })
    target?.scrollIntoView({ block: trouble === undefined ? 'start' : 'center' })
    const current = this.#host.querySelector('.steps [aria-current]')
    current?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }

  async #startAgain(): Promise<void> {
    await this.#walk.restart(this.#walk.trouble?.wanted ?? this.#walk.place)
    this.#arrive()
  }

  #toggle(name: string): void {
    if (!this.#whole.delete(name)) this.#whole.add(name)
    this.#render()
  }

  readonly #actions: Actions = {
    go: (place) => void this.#go(place),
    startAgain: () => void this.#startAgain(),
  }

  #render(): void {
    const { world, texts } = this.#options
    const { visit } = world
    const stage = visit && this.#stage(visit)
    const view = { walk: this.#walk, texts, stage, actions: this.#actions }
    render(walkView(view), this.#host)
  }

  #stage(visit: Stage['visit']): Stage {
    const width = this.#host.clientWidth
    const inner = width >= columnsFrom ? (width - 24) / 2 : width
    return {
      ...this.#options,
      visit,
      whole: this.#whole,
      toggle: (name) => this.#toggle(name),
      diagramWidth: Math.max(240, Math.floor(inner) - 34),
    }
  }
}

/** The step that an address names; undefined if it names something else on the page. */
function placeIn(hash: string): Place | undefined {
  const name = hash.slice(1)
  return name === '' || name === 'start' ? 'start' : stepIds.find((id) => id === name)
}

const walkPlace = document.getElementById('walk')
if (walkPlace !== null) {
  const language = pageLanguageOf([document.documentElement.lang])
  const texts = await textsOf('demonstration', language)
  const { base = 'demonstration/' } = walkPlace.dataset
  const options = { world: new World(base), base, language, texts }
  void new DemonstrationPage(walkPlace, options).start()
  const experiments = document.getElementById('experiments')
  if (experiments !== null) mountExperiments(experiments, options)
}
