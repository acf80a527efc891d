// The experiments below the walk of the demonstration, and the table at the end. Renders into a section of the page.

import { html, nothing, render } from 'lit/html.js'
import { textsOf } from '../../../server/pages/texts/texts.ts'
import { addressOf, copyCommand, curlOf } from '../curl.ts'
import type { Exchange, World } from '../world.ts'
import { experiments } from './all.ts'
import { Bench } from './bench.ts'
import type { Experiment } from './experiment.ts'
import { Tabs } from './tabs.ts'
import { anchorOf, experimentView, type View } from './view/experiment-view.ts'
import { tableView } from './view/table-view.ts'
import { type Copied, type Words, wireView } from './view/wire-view.ts'

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
  #copied: Copied | undefined

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
      ...this.#words,
      base: this.#options.base,
      run: (experiment) => void this.#run(experiment),
      wireOf: (exchange) => this.#wireOf(exchange),
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

  /** Opens the experiment that the address names, or goes to the table. */
  followLink(): void {
    const named = [...this.#section.querySelectorAll<HTMLElement>('.experiment, section')]
    const target = named.find(({ id }) => location.hash === `#${id}`)
    if (target instanceof HTMLDetailsElement) target.open = true
    target?.scrollIntoView()
    const focused = target?.querySelector('summary') ?? target
    focused?.focus({ preventScroll: true })
  }

  async #run(experiment: Experiment): Promise<void> {
    const isMeasured = await this.#bench.run(experiment, this.#tabs)
    // The reader hears the result, not only that a button was pressed.
    if (isMeasured) this.#detailsOf(experiment)?.querySelector<HTMLElement>('.result h4')?.focus()
  }

  #detailsOf({ id }: Experiment): HTMLDetailsElement | null {
    return this.#section.querySelector(`#${anchorOf(id)}`)
  }

  #wireOf(exchange: Exchange): unknown {
    const { base, world } = this.#options
    const address = addressOf({ exchange }, location.href, base)
    const command = curlOf(exchange, { address, cookieName: world.visit?.cookieName ?? '' })
    const copy = () =>
      void copyCommand(command, this.#section, (isDone) => {
        this.#copied = { command, isDone }
        this.display()
      })
    return wireView(this.#words, exchange, { command, copied: this.#copied, copy })
  }
}

/** The address names the experiment that is open, so that it can be copied from there. */
function noteOpened({ target }: Event): void {
  if (!(target instanceof HTMLDetailsElement) || !target.classList.contains('experiment') || !target.open) return
  if (location.hash !== `#${target.id}`) history.replaceState(null, '', `#${target.id}`)
}
