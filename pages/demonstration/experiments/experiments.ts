// The experiments below the walk of the demonstration, and the table at the end. Renders into a section of the page.
import { html, nothing, render } from 'lit/html.js'
import type { DemonstrationOptions } from '../view/stage.ts'
import { experiments } from './all.ts'
import { Bench } from './bench.ts'
import type { Experiment } from './experiment.ts'
import { Tabs } from './tabs.ts'
import { anchorOf, experimentView, type View } from './view/experiment-view.ts'
import { tableView } from './view/table-view.ts'

export function mountExperiments(section: HTMLElement, options: DemonstrationOptions): void {
  const page = new ExperimentsPage(section, options)
  page.display()
  page.followLink()
  addEventListener('hashchange', () => page.followLink())
}

class ExperimentsPage {
  readonly #section: HTMLElement
  readonly #bench: Bench
  readonly #tabs: Tabs
  readonly #view: View

  constructor(section: HTMLElement, options: DemonstrationOptions) {
    this.#section = section
    this.#bench = new Bench(options.world, () => this.display())
    const run = (experiment: Experiment) => void this.#run(experiment)
    this.#view = { ...options, walk: options.texts, texts: options.texts.experiments, bench: this.#bench, run }
    const id = String(crypto.getRandomValues(new Uint32Array(2)))
    this.#tabs = new Tabs({ name: `carillon ${location.pathname}`, id, changed: () => this.display() })
    addEventListener('pagehide', () => this.#tabs.leave())
    addEventListener('pageshow', ({ persisted }) => persisted && this.#tabs.comeBack())
  }

  display(): void {
    const view = this.#view
    const { title, intro, tabs } = view.texts
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
    if (isMeasured) this.#section.querySelector<HTMLElement>(`#${anchorOf(experiment.id)} .result h4`)?.focus()
  }
}

/** The address names the experiment that is open, so that it can be copied from there. */
function noteOpened({ target }: Event): void {
  if (!(target instanceof HTMLDetailsElement) || !target.classList.contains('experiment') || !target.open) return
  if (location.hash !== `#${target.id}`) history.replaceState(null, '', `#${target.id}`)
}
