// The page of the gallery: the real elements, with lists given in place of a server. The address selects one state
// (`?state=empty`), the theme and the language (`?theme=dark&lang=de`), so that each can be linked, and opened by a test.
import type { CarillonBell, CarillonInbox } from '../carillon-inbox.ts'
import '../carillon-inbox.ts'
import type { Carillon } from '../../client/carillon-client.ts'
import type { OpenOptions } from '../../client/store/inbox-list.ts'
import { GivenInbox } from './given-inbox.ts'
import { type State, states } from './states.ts'

type Choice = { theme: 'auto' | 'light' | 'dark'; language: string }

const query = new URLSearchParams(location.search)
const inboxes = new Map<string, GivenInbox>()

show()
await ready()
// For tests.
document.documentElement.dataset.ready = ''

/** Every element has its texts, and the fonts are there. */
async function ready(): Promise<void> {
  const elements = [...document.querySelectorAll<CarillonInbox | CarillonBell>('carillon-inbox, carillon-bell')]
  const isReady = (element: CarillonInbox | CarillonBell) =>
    element.source.strings.locale === element.lang && element.shadowRoot?.querySelector('[part=root],[part=bell]')
  while (!elements.every(isReady)) await new Promise(requestAnimationFrame)
  await Promise.all(elements.map((element) => element.updateComplete))
  await document.fonts.ready
}

function show(): void {
  const theme = (query.get('theme') ?? 'auto') as Choice['theme']
  const language = query.get('lang') ?? 'en'
  const selected = states.find(({ name }) => name === query.get('state'))
  const main = find('main', HTMLElement)
  main.className = selected?.inPage ? 'one application' : selected ? 'one' : ''
  main.append(...(selected ? [selected] : states).map((state) => sectionOf(state, { theme, language })))
  document.documentElement.dataset.theme = selected?.theme ?? theme
  showBell(selected, { theme: selected?.theme ?? theme, language: selected?.language ?? language })
}

function sectionOf(state: State, choice: Choice): HTMLElement {
  const section = document.createElement('section')
  const heading = document.createElement('h2')
  const link = document.createElement('a')
  link.href = `?state=${state.name}`
  link.textContent = state.title
  heading.append(link)
  section.append(heading)
  const hint = document.createElement('p')
  hint.className = 'hint'
  hint.textContent = state.hint ?? ''
  if (state.hint) section.append(hint)
  section.append(state.inPage ? orders() : inboxOf(state, choice))
  return section
}

function orders(): HTMLElement {
  const table = document.createElement('table')
  const rows = [
    ['Order', 'Customer', 'Placed', 'Total'],
    ['10482', 'Nordwind GmbH', 'today', '€ 1,240.00'],
    ['10481', 'Atelier Marchand', 'today', '€ 318.50'],
    ['10480', 'Okafor & Daughters', 'yesterday', '€ 2,075.20'],
    ['10479', 'Café Lumière', 'yesterday', '€ 96.40'],
    ['10478', 'Hansen Boats', '19 November', '€ 12,900.00'],
    ['10477', 'Studio Vermeer', '19 November', '€ 450.00'],
  ]
  rows.forEach((cells, index) => {
    const row = table.insertRow()
    for (const text of cells) {
      const cell = document.createElement(index === 0 ? 'th' : 'td')
      cell.textContent = text
      row.append(cell)
    }
  })
  return table
}

function inboxOf(state: State, choice: Choice): HTMLElement {
  const inbox = document.createElement('carillon-inbox')
  inbox.carillon = carillonOf(state, choice)
  inbox.lang = state.language ?? choice.language
  inbox.theme = state.theme ?? choice.theme
  inbox.signInUrl = '/?state=many'
  inbox.classList.toggle('narrow', state.width !== undefined)
  inbox.classList.toggle('zoomed', state.zoom !== undefined)
  return inbox
}

/** The bell of the page displays the selected state, or the first one. */
function showBell(selected: State | undefined, { theme, language }: Choice): void {
  const bell = find('carillon-bell', HTMLElement) as HTMLElementTagNameMap['carillon-bell']
  bell.lang = language
  bell.theme = theme
  bell.signInUrl = '/?state=many'
  const [first] = states
  const state = selected ?? first
  if (state) bell.carillon = carillonOf(state, { theme, language })
}

/** The elements use nothing of a client but its lists. */
function carillonOf(state: State, { language }: Choice): Carillon {
  const inbox = inboxes.get(state.name) ?? new GivenInbox(state.given(state.language ?? language, Date.now()))
  inboxes.set(state.name, inbox)
  return { inbox: { open: (options?: OpenOptions) => inbox.open(options) } } as unknown as Carillon
}

function find<Kind extends HTMLElement>(selector: string, kind: new () => Kind): Kind {
  const found = document.querySelector(selector)
  if (!(found instanceof kind)) throw new Error(`The page has no ${selector}.`)
  return found
}
