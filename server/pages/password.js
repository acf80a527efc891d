// The pages /reset and /invite: takes the token out of the address, sends it with the new password, and shows what the service responded.
// It runs in browsers as it is written here.

/** 32 bytes as base64url. */
const tokenShape = /^[\w-]{43}$/
const timeoutMs = 30_000

/** @param {string} id */
const element = (id) => /** @type {HTMLElement} */ (document.getElementById(id))
const input = /** @type {HTMLInputElement} */ (element('password'))
const title = document.title

/** Nowhere but here: what is in the address bar could be copied, photographed or synchronized. */
let token = ''
let isSending = false

/** Also if a link is pasted into the address bar of this page, which loads nothing. */
function start() {
  const found = location.hash.slice(1)
  if (found !== '') history.replaceState(null, '', location.pathname + location.search)
  if (!tokenShape.test(found)) {
    token = ''
    return show('missing', 'This page needs the whole link')
  }
  token = found
  show('form', title)
  showFault('')
  input.focus()
}

/**
 * @param {'form' | 'done' | 'invalid' | 'missing'} part
 * @param {string} heading
 */
function show(part, heading) {
  for (const id of ['form', 'done', 'invalid', 'missing']) element(id).hidden = id !== part
  element('heading').textContent = heading
  document.title = heading
  if (part !== 'form') element('heading').focus()
}

/** @param {string} sentence */
function showFault(sentence, isOfPassword = false) {
  element('fault').textContent = sentence
  if (isOfPassword) input.setAttribute('aria-invalid', 'true')
  else input.removeAttribute('aria-invalid')
}

/** @param {boolean} isVisible */
function reveal(isVisible) {
  input.type = isVisible ? 'text' : 'password'
  element('reveal').textContent = isVisible ? 'Hide password' : 'Show password'
}

async function send() {
  if (isSending) return
  isSending = true
  // Password managers save the value of a field of this type.
  reveal(false)
  showFault('')
  element('progress').textContent = 'Setting the password…'
  try {
    await showOutcome(await post({ token, newPassword: input.value }))
  } catch {
    showFault('There was no response. Check your connection, then try again.')
  } finally {
    isSending = false
    element('progress').textContent = ''
  }
}

/**
 * Relative, so that it works below a path.
 * @param {{ token: string, newPassword: string }} body
 */
function post(body) {
  return fetch('password/reset', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(timeoutMs),
  })
}

/** @param {Response} response */
async function showOutcome(response) {
  if (response.ok) return end('done', 'Your password is set')
  const { error = {} } = await response.json().catch(() => ({}))
  if (error.code === 'LINK_INVALID') return end('invalid', 'This link does not work any more')
  const reasons = (error.details ?? []).map(sentenceOf)
  showFault(reasons.length > 0 ? reasons.join(' ') : sentenceFor(response), reasons.length > 0)
  input.focus()
}

/**
 * @param {'done' | 'invalid'} part
 * @param {string} heading
 */
function end(part, heading) {
  token = ''
  input.value = ''
  show(part, heading)
}

/** @param {{ reason: string }} fault */
function sentenceOf({ reason }) {
  return `${reason.slice(0, 1).toUpperCase()}${reason.slice(1)}.`
}

/** @param {Response} response */
function sentenceFor({ status, headers }) {
  const when = waitOf(Number(headers.get('retry-after')))
  if (status === 429) return `There were too many attempts. Try again ${when}.`
  if (status === 503) return `The service is busy. Try again ${when}.`
  if (status === 413) return 'This password is too long. Choose a shorter one.'
  return 'The service did not set the password. Try again later.'
}

/** @param {number} seconds Not a number, or 0, if the service did not say it. */
function waitOf(seconds) {
  if (!(seconds > 0)) return 'in a moment'
  const [count, unit] = seconds < 100 ? [Math.ceil(seconds), 'second'] : [Math.ceil(seconds / 60), 'minute']
  return `in ${count} ${unit}${count === 1 ? '' : 's'}`
}

element('form').addEventListener('submit', (event) => {
  event.preventDefault()
  void send()
})
element('reveal').addEventListener('click', () => reveal(input.type === 'password'))
addEventListener('hashchange', () => location.hash !== '' && start())
start()
