// The sign-in page offers passkeys in the field of the name, and the account page tells the browser which passkeys there are, in a real browser
// whose `PublicKeyCredential` notes what the pages request.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { BrowserPages } from '../../support/pages/browser-page.ts'
import { addPasskey } from '../../support/passkeys.ts'
import { SoftwareAuthenticator } from '../../support/software-authenticator.ts'

const pages = await BrowserPages.start()
const { service } = pages
after(() => pages[Symbol.asyncDispose]())
const origin = pages.url.replace('127.0.0.1', 'localhost')
const authenticator = new SoftwareAuthenticator({ origin })

type Noted = { mediation?: string; challenge: string; isAborted: () => boolean }
declare global {
  var requests: Noted[]
  var noted: [name: string, options: object][]
  var answer: (response: object) => void
}

/** In the page: keeps the requests, of which none is ever answered but by `answer`. */
function noteRequests(): void {
  globalThis.requests = []
  globalThis.noted = []
  // In Firefox, about:blank is no secure context and has no passkeys.
  if (!('PublicKeyCredential' in globalThis)) return
  PublicKeyCredential.isConditionalMediationAvailable = async () => true
  navigator.credentials.get = async ({ mediation, signal, publicKey } = {}) => {
    const bytes = new Uint8Array(publicKey?.challenge as ArrayBuffer)
    const challenge = String.fromCharCode(...bytes)
    globalThis.requests.push({
      ...(mediation && { mediation }),
      challenge,
      isAborted: () => signal?.aborted ?? false,
    })
    return new Promise((resolve, reject) => {
      globalThis.answer = (response) => resolve({ toJSON: () => response } as unknown as Credential)
      signal?.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')))
    })
  }
  PublicKeyCredential.signalAllAcceptedCredentials = async (options) =>
    void globalThis.noted.push(['all', options])
  PublicKeyCredential.signalCurrentUserDetails = async (options) =>
    void globalThis.noted.push(['details', options])
}

test('the field of the name offers passkeys, with a new challenge every four minutes, and one of them signs in', async () => {
  const ann = await service.user()
  const passkey = await addPasskey(service, authenticator, ann)
  await using opened = await pages.open('about:blank')
  const { page } = opened
  await page.addInitScript(noteRequests)
  await page.clock.install()
  await page.goto(`${origin}/sign-in`)
  assert.equal(await page.getByLabel('Username').getAttribute('autocomplete'), 'username webauthn')
  const count = (n: number) =>
    page.waitForFunction((wanted) => globalThis.requests.length === wanted, n)
  const states = () =>
    page.evaluate(() =>
      globalThis.requests.map(({ mediation, isAborted }) => [mediation, isAborted()]),
    )
  await count(1)
  await page.clock.fastForward(4 * 60_000 + 1_000)
  await count(2)
  assert.deepEqual(await states(), [
    ['conditional', true],
    ['conditional', false],
  ])
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await count(3)
  assert.deepEqual((await states()).slice(1), [
    ['conditional', true],
    [undefined, false],
  ])
  await page.reload()
  await count(1)
  const [challenge = ''] = await page.evaluate(() =>
    globalThis.requests.map((one) => one.challenge),
  )
  const response = authenticator.get(passkey, {
    challenge: Buffer.from(challenge).toString('base64url'),
  })
  await page.evaluate((given) => globalThis.answer(given), response)
  await page.waitForURL(`${origin}/inbox`)
})

test('the account page tells the browser all passkeys and the names of the user, also after a new name', async () => {
  const ann = await service.user()
  const { cookie = '' } = await service.signIn(ann, 'stateful')
  const passkey = await addPasskey(service, authenticator, ann)
  await using opened = await pages.open('about:blank')
  const { page, context } = opened
  const [name = '', value = ''] = cookie.split('=')
  await context.addCookies([{ name, value, url: origin }])
  await page.addInitScript(noteRequests)
  await page.goto(`${origin}/account`)
  const user = { rpId: 'localhost', userId: passkey.userHandle }
  const signals = () => page.evaluate(() => globalThis.noted)
  await page.waitForFunction(() => globalThis.noted.length >= 2)
  assert.deepEqual((await signals()).slice(0, 2), [
    ['all', { ...user, allAcceptedCredentialIds: [passkey.id] }],
    ['details', { ...user, name: ann.username, displayName: ann.username }],
  ])
  await page.getByLabel('Display name').fill('Ann Lee')
  await page.getByRole('button', { name: 'Save' }).first().click()
  await page.waitForFunction(() =>
    globalThis.noted.some(
      ([, options]) => 'displayName' in options && options.displayName === 'Ann Lee',
    ),
  )
})
