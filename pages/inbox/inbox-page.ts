// The script of the inbox page: categories and theme for <carillon-inbox>, which does the rest, and the first steps of a new service.
import type { CarillonInbox } from 'carillon-inbox'
import { send } from '../account/requests.ts'
import { addCopyButtons } from '../docs/copy-buttons.ts'
import { keptTheme, onThemeChange } from '../look/preferences.ts'

type Counts = { categories: Readonly<Record<string, unknown>> }

const inbox = document.querySelector('carillon-inbox') as CarillonInbox
const field = document.querySelector('#category-field') as HTMLElement
const select = document.querySelector('#category') as HTMLSelectElement
const parameter = 'category'

/** Many notifications may arrive at once. */
const loadMs = 250
let timer: ReturnType<typeof setTimeout> | undefined

async function start(): Promise<void> {
  inbox.theme = keptTheme()
  onThemeChange((theme) => (inbox.theme = theme))
  choose(new URLSearchParams(location.search).get(parameter) ?? '')
  select.addEventListener('change', () => choose(select.value))
  inbox.addEventListener('carillon-change', () => (timer ??= setTimeout(loadCategories, loadMs)))
  await loadCategories()
}

/** The address names the category, so that a bookmark or "reload" displays it again. */
function choose(category: string): void {
  if (category === '') inbox.removeAttribute('category')
  else inbox.setAttribute('category', category)
  const address = new URL(location.href)
  if (category === '') address.searchParams.delete(parameter)
  else address.searchParams.set(parameter, category)
  history.replaceState(null, '', address)
}

/** A failure leaves the list of categories as it is: the element says what is wrong. */
async function loadCategories(): Promise<void> {
  timer = undefined
  try {
    show(await send<Counts>(`${inbox.dataset.root ?? ''}api/notifications/counts`))
  } catch {}
}

function show({ categories }: Counts): void {
  const chosen = inbox.getAttribute('category') ?? ''
  const names = new Set([...Object.keys(categories).sort(), ...(chosen === '' ? [] : [chosen])])
  field.classList.toggle('not-yet', names.size === 0)
  // Replaced only by another list: it may be open.
  const listed = [...select.options].slice(1).map(({ value }) => value)
  if ([...names].join('\n') === listed.join('\n')) return
  select.length = 1
  select.append(...[...names].map((name) => new Option(name, name)))
  select.value = chosen
}

function startFirstSteps(steps: HTMLElement): void {
  const button = steps.querySelector('#send-test') as HTMLButtonElement
  const outcome = steps.querySelector('[role=status]') as HTMLElement
  const { sent = '', refused = '' } = button.dataset
  button.addEventListener('click', async () => {
    const sending = send(`${inbox.dataset.root ?? ''}api/me/test-notification`, { method: 'POST' })
    outcome.textContent = await sending.then(
      () => sent,
      () => refused,
    )
  })
  addCopyButtons(steps)
}

const firstSteps = document.querySelector<HTMLElement>('.first-steps')
if (firstSteps !== null) startFirstSteps(firstSteps)
void customElements.whenDefined('carillon-inbox').then(() => document.querySelector('.not-started')?.remove())
void start()
