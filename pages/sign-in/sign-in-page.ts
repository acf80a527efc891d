// The forms work without this script. It adds passkeys and "show password", and keeps what was
// typed if the service does not respond.
import { isCarillonError } from '../../client/transport/errors.ts'
import { hasPasskeys, PasskeyRefused, usePasskey } from '../account/passkeys.ts'
import { send } from '../account/requests.ts'
import { beginWatch, cookieFault } from './cookies.ts'

const page = document.querySelector('#sign-in') as HTMLElement
const { root = '', next = '', ...sentences } = page.dataset
const forms = [...page.querySelectorAll<HTMLFormElement>('form:not(.leave)')]
const timeoutMs = 10_000
/** The challenge of the service is valid for five minutes. */
const renewAutofillMs = 4 * 60_000
let autofill = new AbortController()
let autofillTimer: ReturnType<typeof setTimeout> | undefined
let isSending = false

function say(sentence = ''): void {
  const fault = page.querySelector('#fault')
  if (fault !== null) fault.textContent = sentence
}

/** A provider led back with a challenge in the fragment, which browsers send to no server. */
function continueAfterProvider(): boolean {
  const facts = new URLSearchParams(location.hash.slice(1))
  if (!facts.has('challenge')) return false
  history.replaceState(null, '', location.pathname + location.search)
  const form = Object.assign(document.createElement('form'), {
    method: 'post',
    action: location.pathname,
    hidden: true,
  })
  facts.set('return_to', new URLSearchParams(location.search).get('return_to') ?? '')
  for (const name of ['challenge', 'factors', 'return_to'])
    form.append(
      Object.assign(document.createElement('input'), { name, value: facts.get(name) ?? '' }),
    )
  page.append(form)
  form.submit()
  return true
}

/** The reader opened the link for a first factor, and had to sign in. The address still has it. */
function continueWithLink(): boolean {
  const { leadsTo } = page.querySelector<HTMLElement>('[data-leads-to]')?.dataset ?? {}
  if (leadsTo === undefined || !location.hash.startsWith('#factor-')) return false
  location.replace(leadsTo + location.hash)
  return true
}

/** If nothing responds to a form, the browser displays an error page, and the password is lost. */
async function sendIfAlive(form: HTMLFormElement): Promise<void> {
  if (isSending) return
  isSending = true
  reveal(false)
  say()
  if (await responds()) {
    beginWatch()
    form.action = withFragment(form.action)
    form.submit()
    return
  }
  isSending = false
  say(sentences.noResponse)
}

/**
 * A link such as `account#session-...` leads here with its fragment, and a redirect keeps it
 * (WHATWG Fetch, "HTTP-redirect fetch").
 */
function withFragment(address: string): string {
  const url = new URL(address, location.href)
  url.hash ||= location.hash
  return url.href
}

/** A proxy responds with 502 or 504 in place of the service. */
async function responds(): Promise<boolean> {
  try {
    const { status } = await fetch(location.href, {
      method: 'HEAD',
      signal: AbortSignal.timeout(timeoutMs),
    })
    return status !== 502 && status !== 504
  } catch {
    return false
  }
}

async function signInWithPasskey(button: HTMLButtonElement): Promise<void> {
  const challenge = button.dataset.passkey
  button.disabled = true
  say()
  // A browser has one request for a passkey at a time.
  endAutofill()
  try {
    const passkey = await usePasskey(root, { challenge })
    if (challenge) await send(`${root}login/second-factor`, { body: { challenge, passkey } })
    else await send(`${root}login/passkey`, { body: { response: passkey, variant: 'stateful' } })
    goOn()
  } catch (error) {
    button.disabled = false
    say(sentenceOf(error))
    button.focus()
    void offerAutofill()
  }
}

function goOn(): void {
  beginWatch()
  location.assign(withFragment(next))
}

/** The field of the name offers this browser's passkeys. Failures before a choice are not shown. */
async function offerAutofill(): Promise<void> {
  endAutofill()
  // On a host that can have no passkeys, the field does not say so.
  const takesPasskeys = page.querySelector('[autocomplete~="webauthn"]') !== null
  const canOffer =
    takesPasskeys &&
    (await PublicKeyCredential.isConditionalMediationAvailable?.().catch(() => false))
  if (!canOffer) return
  const offer = new AbortController()
  autofill = offer
  autofillTimer = setTimeout(() => void offerAutofill(), renewAutofillMs)
  const response = await usePasskey(root, { autofill: offer.signal }).catch(() => undefined)
  if (response === undefined || offer.signal.aborted) return
  try {
    await send(`${root}login/passkey`, { body: { response, variant: 'stateful' } })
    goOn()
  } catch (error) {
    say(sentenceOf(error))
    void offerAutofill()
  }
}

function endAutofill(): void {
  clearTimeout(autofillTimer)
  autofill.abort()
}

function sentenceOf(error: unknown): string | undefined {
  if (error instanceof PasskeyRefused) return sentences.passkeyNotUsed
  if (!isCarillonError(error)) return sentences.passkeyFailed
  if (error.code === 'NETWORK') return sentences.noResponse
  if (error.code === 'UNAUTHORIZED') return sentences.tooLate
  return error.code === 'INVALID_CREDENTIALS' ? sentences.passkeyUnknown : sentences.passkeyFailed
}

const revealButton = page.querySelector<HTMLButtonElement>('[data-reveal]')
const password = page.querySelector<HTMLInputElement>('#password')

/** Password managers save the value of a field of the type `password`. */
function reveal(isVisible: boolean): void {
  if (revealButton === null || password === null) return
  const { show = '', hide = '' } = revealButton.dataset
  password.type = isVisible ? 'text' : 'password'
  revealButton.classList.toggle('is-open', isVisible)
  revealButton.ariaLabel = isVisible ? hide : show
}

function offerPasskeys(): void {
  for (const hint of page.querySelectorAll<HTMLElement>('[data-without-passkeys]'))
    hint.hidden = true
  for (const button of page.querySelectorAll<HTMLButtonElement>('[data-passkey]')) {
    for (const around of page.querySelectorAll<HTMLElement>('[hidden]'))
      if (around.contains(button)) around.hidden = false
    button.addEventListener('click', () => void signInWithPasskey(button))
  }
}

function offerReveal(button: HTMLButtonElement): void {
  button.dataset.show = button.ariaLabel ?? ''
  button.hidden = false
  button.addEventListener('click', () => reveal(password?.type === 'password'))
}

function start(): void {
  if (hasPasskeys()) {
    offerPasskeys()
    void offerAutofill()
  }
  if (revealButton !== null) offerReveal(revealButton)
  for (const form of forms)
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      void sendIfAlive(form)
    })
  // A page that comes back from the cache of the browser.
  addEventListener('pageshow', () => (isSending = false))
  const isFirstStep = password !== null && page.querySelector('#fault')?.textContent === ''
  const fault = cookieFault(isFirstStep)
  if (fault !== undefined) say(sentences[fault])
}

if (!continueAfterProvider() && !continueWithLink()) start()
