import type { CarillonInbox } from 'carillon-inbox'
import { send } from '../account/requests.ts'
import { keptTheme, onThemeChange } from '../look/preferences.ts'
import { startFirstSteps } from './first-steps.ts'

type Counts = { categories: Readonly<Record<string, unknown>> }
type Known = { categories: Readonly<Record<string, { label: string }>> }

const inbox = document.querySelector('carillon-inbox') as CarillonInbox
const field = document.querySelector('#category-field') as HTMLElement
const select = document.querySelector('#category') as HTMLSelectElement
const parameter = 'category'
const api = `${inbox.dataset.root ?? ''}api/`

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

function showSignedOut(): void {
  const form = document.querySelector('.top .sign-out')
  if (form === null || inbox.source.snapshot()?.state !== 'signed-out') return
  const link = document.createElement('a')
  link.className = 'button'
  link.href = inbox.signInLink
  link.textContent = inbox.source.strings.signIn
  form.replaceWith(link)
  for (const own of document.querySelectorAll('.top [data-own]')) own.remove()
}

/** A bookmark displays the category again. */
function choose(category: string): void {
  if (category === '') inbox.removeAttribute('category')
  else inbox.setAttribute('category', category)
  const address = new URL(location.href)
  if (category === '') address.searchParams.delete(parameter)
  else address.searchParams.set(parameter, category)
  history.replaceState(null, '', address)
}

/** A failure changes nothing: the element says what is wrong. */
async function loadCategories(): Promise<void> {
  timer = undefined
  try {
    await show(await send<Counts>(`${api}notifications/counts`))
  } catch {}
}

/** By their labels, as in the list. */
async function show({ categories }: Counts): Promise<void> {
  const chosen = inbox.getAttribute('category') ?? ''
  const names = new Set([...Object.keys(categories).sort(), ...(chosen === '' ? [] : [chosen])])
  field.classList.toggle('not-yet', names.size === 0)
  // The page replaces the options only by other ones: the list may be open.
  const listed = [...select.options].slice(1).map(({ value }) => value)
  if ([...names].join('\n') === listed.join('\n')) return
  const { categories: known } = await send<Known>(`${api}me/preferences`)
  select.length = 1
  select.append(...[...names].map((name) => new Option(known[name]?.label ?? name, name)))
  select.value = inbox.getAttribute('category') ?? ''
}

/**
 * A mail's link names a notification, which gets the focus unless the reader has done something. It
 * stays unread until it is opened.
 */
let linked = location.hash.slice(1)
for (const act of ['wheel', 'touchmove', 'keydown', 'pointerdown'])
  addEventListener(act, () => (linked = ''), { passive: true })

function showLinked(): void {
  if (linked === '') return
  const article = inbox.renderRoot.querySelector<HTMLElement>(
    `article[data-id="${CSS.escape(linked)}"]`,
  )
  if (article === null) return
  linked = ''
  article.scrollIntoView({ block: 'center' })
  article.focus()
}

const steps = document.querySelector<HTMLElement>('.first-steps')
if (steps !== null) startFirstSteps(steps, inbox)
void customElements.whenDefined('carillon-inbox').then(() => {
  document.querySelector('.not-started')?.remove()
  inbox.addController({ hostUpdated: showSignedOut })
  inbox.addController({ hostUpdated: showLinked })
})
void start()
