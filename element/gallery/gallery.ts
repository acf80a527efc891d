// The gallery: the real elements with given lists. Its address selects state, theme and language:
// `?state=empty&theme=dark&lang=de`.
import { html, nothing, render } from 'lit'
import type { CarillonBell, CarillonInbox } from '../carillon-inbox.ts'
import '../carillon-inbox.ts'
import { GivenInbox } from './given-inbox.ts'
import { samples } from './samples.ts'
import { type State, states } from './states.ts'

const query = new URLSearchParams(location.search)
const selected = states.find(({ name }) => name === query.get('state'))
const inboxes = new Map<string, GivenInbox>()

const theme = query.get('theme') ?? 'auto'
const language = query.get('lang') ?? 'en'

document.documentElement.style.colorScheme = theme
render(pageView(selected ?? states[0]), document.body)
await ready()
document.documentElement.dataset.ready = ''

async function ready(): Promise<void> {
  const elements = [
    ...document.querySelectorAll<CarillonInbox | CarillonBell>('carillon-inbox, carillon-bell'),
  ]
  const isReady = (element: CarillonInbox | CarillonBell) =>
    element.source.strings.locale === element.lang &&
    element.shadowRoot?.querySelector('[part=root],[part=bell]')
  while (!elements.every(isReady)) await new Promise(requestAnimationFrame)
  for (const inbox of document.querySelectorAll<CarillonInbox>('section > carillon-inbox'))
    await select(inbox)
  await Promise.all(elements.map((element) => element.updateComplete))
  await document.fonts.ready
}

async function select({ dataset, shadowRoot }: CarillonInbox): Promise<void> {
  const press = (selector: string) => shadowRoot?.querySelector<HTMLElement>(selector)?.click()
  if (dataset.tab === 'snoozed') {
    press('[part=list-more]')
    while (!shadowRoot?.querySelector('[part=menu]:popover-open'))
      await new Promise(requestAnimationFrame)
    press('[role=menuitem]:last-of-type')
  } else if (dataset.tab) press(`#${dataset.tab}`)
}

function pageView(inBell: State) {
  const displayed = selected ? [selected] : states
  return html`<header><h1>Carillon: gallery of the elements</h1></header>
    <div id="page">
      <nav aria-label="Harbour">
        <a href="/">Harbour</a>
        <carillon-bell .carillon=${carillonOf(inBell)} lang=${language} theme=${theme}
          sign-in-url="/?state=many" all-url="/?state=many"></carillon-bell>
      </nav>
      <main class=${selected ? 'one' : ''}>${displayed.map(sectionView)}</main>
    </div>`
}

function sectionView(state: State) {
  return html`<section>
    <h2><a href="?state=${state.name}">${state.title}</a></h2>
    ${
      state.inPage
        ? nothing
        : html`<carillon-inbox data-tab=${state.tab ?? ''} .carillon=${carillonOf(state)} lang=${language} theme=${theme}
            sign-in-url="/?state=many"></carillon-inbox>`
    }
  </section>`
}

/** The bell and the list of a state have the same inbox. */
function carillonOf(state: State) {
  const now = Date.now()
  const inbox = inboxes.get(state.name) ?? new GivenInbox(state.given(samples(language, now), now))
  inboxes.set(state.name, inbox)
  return { inbox }
}
