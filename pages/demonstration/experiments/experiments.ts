// The experiments below the walk of the demonstration, and the table at the end. Renders into a section of the page.
import { textsOf } from 'carillon-inbox/languages'
import { html, nothing, render } from 'lit/html.js'
import { type World, WorldError } from '../world.ts'
import { experiments } from './all.ts'
import { Bench } from './bench.ts'
import type { Experiment } from './experiment.ts'
import { anchorOf, experimentView, type View } from './experiment-view.ts'
import { tableView } from './table-view.ts'
import { Tabs } from './tabs.ts'
import { type Words, wireView } from './wire-view.ts'

type Options = {
  world: World
  /** Where the demonstration is, such as `demonstration/`. */
  base: string
  language: 'en' | 'de' | 'fr'
}

export async function mountExperiments(section: HTMLElement, options: Options): Promise<void> {
  const { language } = options
  const [texts, walk] = await Promise.all([textsOf('experiments', language), textsOf('demonstration', language)])
  const page = new ExperimentsPage(section, options, { texts, walk, language })
  page.display()
  page.followLink()
  addEventListener('hashchange', () => page.followLink())
}

class ExperimentsPage {
  readonly #section: HTMLElement
  readonly #options: Options
  readonly #words: Words
  readonly #bench: Bench
  readonly #tabs: Tabs
  /** What is shown of the exchanges that the reader opened. */
  readonly #wires = new Map<number, unknown>()

  constructor(section: HTMLElement, options: Options, words: Words) {
    this.#section = section
    this.#options = options
    this.#words = words
    this.#bench = new Bench(options.world, () => this.display())
    const id = String(crypto.getRandomValues(new Uint32Array(2)))
    this.#tabs = new Tabs({ name: `carillon ${location.pathname}`, id, changed: () => this.display() })
    addEventListener('pagehide', () => this.#tabs.leave())
    addEventListener('pageshow', ({ persisted }) => persisted && this.#tabs.comeBack())
  }

  display(): void {
    const view: View = {
      bench: this.#bench,
      texts: this.#words.texts,
      base: this.#options.base,
      run: (experiment) => void this.#run(experiment),
      opened: (exchange, isOpen) => void (isOpen && this.#load(exchange)),
      wireOf: (exchange) => this.#wires.get(exchange) ?? nothing,
    }
    const { title, intro, tabs } = this.#words.texts
    const content = html`<h2 id="experiments-title">${title}</h2>
      <p>${intro}</p>
      <p role="status" class="tabs">${this.#tabs.hasOther ? tabs.other : nothing}</p>
      <div class="experiments" @toggle=${{ handleEvent: noteOpened, capture: true }}>
        ${experiments.map((experiment) => experimentView(view, experiment))}
      </div>
      ${tableView(view)}`
    render(content, this.#section)
  }

  /** Opens the experiment that the address names. */
  followLink(): void {
    const experiment = experiments.find(({ id }) => location.hash === `#${anchorOf(id)}`)
    if (experiment === undefined) return
    const details = this.#detailsOf(experiment)
    if (details === null) return
    details.open = true
    details.scrollIntoView()
    details.querySelector('summary')?.focus()
  }

  async #run(experiment: Experiment): Promise<void> {
    const isMeasured = await this.#bench.run(experiment, this.#tabs)
    // The reader hears the result, not only that a button was pressed.
    if (isMeasured) this.#detailsOf(experiment)?.querySelector<HTMLElement>('.result h4')?.focus()
  }

  #detailsOf({ id }: Experiment): HTMLDetailsElement | null {
    return this.#section.querySelector(`#${anchorOf(id)}`)
  }

  async #load(exchange: number): Promise<void> {
    this.#wires.set(exchange, await this.#wireOf(exchange))
    this.display()
  }

  async #wireOf(exchange: number): Promise<unknown> {
    try {
      return wireView(this.#words, await this.#options.world.exchange(exchange))
    } catch (error) {
      const trouble = error instanceof WorldError ? error.trouble : 'other'
      return html`<p role="alert" class="fault">${this.#words.texts.troubles[trouble]}</p>`
    }
  }
}

/** The address names the experiment that is open, so that it can be copied from there. */
function noteOpened({ target }: Event): void {
  if (!(target instanceof HTMLDetailsElement) || !target.classList.contains('experiment') || !target.open) return
  if (location.hash !== `#${target.id}`) history.replaceState(null, '', `#${target.id}`)
}
