// The script of /reset and /invite: the token of the address sets the new password.
import { isCarillonError } from '../../client/transport/errors.ts'
import { pageLanguageOf, textsOf } from '../../server/pages/texts/texts.ts'
import { send } from '../account/requests.ts'
import { passwordFaultOf, sentenceOf } from '../account/sentences.ts'

/** 32 bytes as base64url. */
const tokenShape = /^[\w-]{43}$/

const page = document.getElementById('password-page') as HTMLElement
const {
  root = '',
  min = '',
  show: showLabel = '',
  hide: hideLabel = '',
  progress = '',
  failed = '',
} = page.dataset
const element = (id: string) => document.getElementById(id) as HTMLElement
const input = element('password') as HTMLInputElement
const heading = element('heading')
const ownTitle = heading.textContent ?? ''
const titleEnd = document.title.slice(ownTitle.length)
const words = textsOf('requests', pageLanguageOf([document.documentElement.lang])).catch(
  () => undefined,
)

/** The token is nowhere else: an address bar could be photographed or synchronized. */
let token = ''
let returnTo: string | undefined
let isSending = false

type Part = 'form' | 'done' | 'signed-in' | 'invalid' | 'missing'

/** A link that is pasted into the address bar of this page loads nothing. */
function start(): void {
  const found = location.hash.slice(1)
  if (found !== '') history.replaceState(null, '', location.pathname + location.search)
  token = tokenShape.test(found) ? found : ''
  showFault('')
  if (token === '') show('missing')
  else void begin(token)
}

type Facts = { username: string; returnTo?: string; mailedTo?: string }

/** Without a response, the form has no name: sending says why. */
async function begin(own: string): Promise<void> {
  const facts = send<Facts>(`${root}password/link`, { body: { token } })
  const link: Facts & { error?: unknown } = await facts.catch((error: unknown) => ({
    username: '',
    error,
  }))
  if (token !== own) return
  if (isCarillonError(link.error, 'LINK_INVALID')) return end('invalid')
  returnTo = link.returnTo
  const signIn = document.querySelector('#done a') as HTMLAnchorElement
  signIn.search = returnTo === undefined ? '' : `return_to=${encodeURIComponent(returnTo)}`
  element('named').hidden = link.username === ''
  element('username').textContent = link.username
  element('mailed').hidden = link.mailedTo === undefined
  element('address').textContent = link.mailedTo ?? ''
  ;(element('account') as HTMLInputElement).value = link.username
  show('form')
}

function show(part: Part): void {
  for (const id of ['form', 'done', 'signed-in', 'invalid', 'missing'])
    element(id).hidden = id !== part
  const title = part === 'form' ? ownTitle : (element(part).dataset.title ?? '')
  heading.textContent = title
  document.title = title + titleEnd
  if (part === 'form') input.focus()
  else heading.focus()
}

function showFault(sentence: string, isOfPassword = false): void {
  element('fault').textContent = sentence
  input.ariaInvalid = isOfPassword ? 'true' : null
}

function reveal(isVisible: boolean): void {
  input.type = isVisible ? 'text' : 'password'
  element('reveal').classList.toggle('is-open', isVisible)
  element('reveal').ariaLabel = isVisible ? hideLabel : showLabel
}

async function sendPassword(): Promise<void> {
  if (isSending) return
  isSending = true
  reveal(false)
  showFault('')
  element('progress').textContent = progress
  try {
    const body = { token, newPassword: input.value, variant: 'stateful' }
    await send(`${root}password/reset`, { body })
    end('signed-in')
    if (returnTo !== undefined) location.assign(returnTo)
    for (const old of document.querySelectorAll('.top > :not(.brand)')) old.remove()
  } catch (error) {
    if (isCarillonError(error, 'SECOND_FACTOR_REQUIRED')) end('done')
    else if (isCarillonError(error, 'LINK_INVALID', 'CONFLICT')) end('invalid')
    else await explain(error)
  } finally {
    isSending = false
    element('progress').textContent = ''
  }
}

function end(part: Part): void {
  token = ''
  input.value = ''
  show(part)
}

/** Loaded while the reader types. */
async function explain(error: unknown): Promise<void> {
  const loaded = await words
  const ofPassword = loaded && passwordFaultOf(error, loaded, Number(min))
  showFault(ofPassword ?? (loaded ? sentenceOf(error, loaded) : failed), ofPassword !== undefined)
  input.focus()
}

element('form').addEventListener('submit', (event) => {
  event.preventDefault()
  void sendPassword()
})
element('reveal').addEventListener('click', () => reveal(input.type === 'password'))
addEventListener('hashchange', () => location.hash !== '' && start())
start()
document.querySelector('.not-started')?.remove()
