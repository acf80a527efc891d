// The sign-in page in a real Chromium with passkeys and a real OpenID provider: each alone, as a second step, and each failure.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { linkProviderAccount } from '../../../server/providers/provider-accounts.store.ts'
import { startWithProvider } from '../../support/http/provider-browser.ts'
import { type BrowserPage, BrowserPages } from '../../support/pages/browser-page.ts'
import { virtualAuthenticator } from '../../support/passkeys.ts'
import { carefulUser } from '../../support/sign-in/authenticator.ts'

/** The provider is on another site than the service, as in practice. */
const { app, provider } = await startWithProvider(
  { createUsers: true, displayName: 'Harbour Staff' },
  { host: 'localhost' },
)
const pages = await BrowserPages.start({ service: app })
after(async () => {
  await pages[Symbol.asyncDispose]()
  await provider.stop()
})
const atLocalhost = pages.url.replace('127.0.0.1', 'localhost')

/**
 * The authenticator would use a passkey as soon as the page offers one in the field of the name: no
 * page does here.
 */
async function withAuthenticator({ page }: BrowserPage) {
  await page.addInitScript(() => {
    PublicKeyCredential.isConditionalMediationAvailable = async () => false
  })
  return virtualAuthenticator(page)
}

async function addPasskey({ page }: BrowserPage): Promise<void> {
  const status = await page.evaluate(async () => {
    const post = (path: string, body?: unknown) =>
      fetch(path, {
        method: 'POST',
        ...(body !== undefined && {
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
      })
    const { data } = await (await post('/api/me/factors/passkeys/options')).json()
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(data)
    const created = (await navigator.credentials.create({ publicKey })) as PublicKeyCredential
    return (await post('/api/me/factors/passkeys', { response: created.toJSON(), label: 'Laptop' }))
      .status
  })
  assert.equal(status, 201)
}

async function signOut({ page }: BrowserPage): Promise<void> {
  await page.goto(`${atLocalhost}/sign-in`)
  await page.locator('main').getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('Username').waitFor()
}

test('a user signs in with a passkey alone, and with the password and the passkey as the second step', async () => {
  const ann = await app.user()
  await using opened = await pages.open(`${atLocalhost}/sign-in`)
  const { page } = opened
  const verifies = await withAuthenticator(opened)
  await opened.sendSignIn(ann)
  await page.waitForURL(`${atLocalhost}/inbox`)
  await addPasskey(opened)

  await signOut(opened)
  await opened.isAccessible('sign-in-passkey')
  await page.goto(`${atLocalhost}/sign-in?return_to=%2Faccount%23security`)
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.waitForURL(`${atLocalhost}/account#security`)

  await signOut(opened)
  await opened.sendSignIn(ann)
  await opened.heading('Second step')
  await opened.isAccessible('second-step-passkey')
  await verifies(false)
  await page.getByRole('button', { name: 'Use your passkey' }).click()
  await opened.alerts('No passkey was used.')
  await verifies(true)
  await page.getByRole('button', { name: 'Use your passkey' }).click()
  await page.waitForURL(`${atLocalhost}/inbox`)

  await signOut(opened)
  await opened.sendSignIn(ann)
  await opened.heading('Second step')
  app.pass(5 * 60_000 + 1)
  opened.expects(/^401 POST \/login\/passkey\/options$/)
  await page.getByRole('button', { name: 'Use your passkey' }).click()
  await opened.alerts('This took longer than 5 minutes')
  await page.getByRole('link', { name: 'Start again' }).click()
  await opened.heading('Sign in')
})

test('a passkey that the service does not know, and a browser without passkeys, have a sentence or another way', async () => {
  const ann = await app.user()
  // The inbox would send requests for a user who is gone.
  await using opened = await pages.open(`${atLocalhost}/sign-in?return_to=%2Faccount`)
  const { page } = opened
  await withAuthenticator(opened)
  await opened.sendSignIn(ann)
  await page.waitForURL(`${atLocalhost}/account`)
  await addPasskey(opened)
  const { key } = await app.producerKey(['users'])
  const erased = await app.request(`/api/users/${ann.id}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${key}` },
  })
  assert.equal(erased.status, 204)
  await page.goto(`${atLocalhost}/sign-in`)
  opened.expects(/^401 POST \/login\/passkey$/)
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await opened.alerts('This passkey does not belong to an account here.')
  await opened.hasFocus('Sign in with a passkey')

  await using old = await pages.open('/forgot')
  await old.context.addInitScript(() => Reflect.deleteProperty(globalThis, 'PublicKeyCredential'))
  await old.page.goto(`${atLocalhost}/sign-in`)
  await old.heading('Sign in')
  assert.equal(await old.page.getByRole('button', { name: /passkey/ }).count(), 0)
})

/** The style sheet of the form is on a public server, which no test needs. */
async function goThere(
  { page }: BrowserPage,
  button = 'Sign in with Harbour Staff',
): Promise<void> {
  await page.route('https://fonts.googleapis.com/**', (route) =>
    route.fulfill({ contentType: 'text/css', body: '' }),
  )
  await page.getByRole('link', { name: button }).click()
  await page.locator('input[name=login]').waitFor()
}

async function signInThere(opened: BrowserPage, name: string): Promise<void> {
  const { page } = opened
  await goThere(opened)
  await page.fill('input[name=login]', name)
  await page.fill('input[name=password]', 'any')
  await page.click('button[type=submit]')
  await page.click('button[type=submit]')
}

test('a user signs in with a provider and gets to the page that the application named', async () => {
  await using opened = await pages.open('/sign-in?return_to=%2Faccount%23password')
  await opened.isAccessible('sign-in-provider')
  await signInThere(opened, 'bea')
  await opened.page.waitForURL(`${pages.url}/account#password`)
})

test('a second factor is asked for after the provider, on the same page, and the challenge leaves the address bar', async () => {
  const careful = await carefulUser(app)
  const issuer = provider.url
  const linked = {
    issuer,
    subject: 'cleo',
    userId: careful.id,
    email: null,
    at: app.now(),
    audit: [],
  }
  assert.equal(await app.store.write(linkProviderAccount, linked), 'done')
  await using opened = await pages.open('/sign-in?return_to=%2Faccount%23sessions')
  await signInThere(opened, 'cleo')
  await opened.heading('Second step')
  assert.equal(opened.path, '/sign-in')
  await opened.page.getByLabel('Code', { exact: true }).fill(careful.app.code(app.now()))
  await opened.page.getByRole('button', { name: 'Continue' }).first().click()
  await opened.page.waitForURL(`${pages.url}/account#sessions`)
})

test('a sign-in that fails at the provider, or comes back in another browser, is a page with a way back', async () => {
  await using opened = await pages.open('/sign-in?return_to=%2Faccount%23password', {
    language: 'de',
  })
  const { page } = opened
  await goThere(opened, 'Mit Harbour Staff anmelden')
  // What a provider sends if its user cancels.
  const [cookie] = (await opened.context.cookies(pages.url)).filter(({ name }) =>
    name.includes('-with-'),
  )
  assert.ok(cookie)
  const begun = opened.requests
    .map((request) => new URL(request.url()))
    .find(({ searchParams }) => searchParams.has('state'))
  const state = begun?.searchParams.get('state') ?? ''
  opened.expects(/^403 GET \/login\/with\/staff\/callback$/)
  const query = new URLSearchParams({ error: 'access_denied', state, iss: provider.url })
  await page.goto(`${pages.url}/login/with/staff/callback?${query}`)
  await opened.heading('Die Anmeldung mit Harbour Staff ist fehlgeschlagen')
  await opened.alerts('Sie wurde abgebrochen oder abgelehnt')
  await opened.isAccessible('provider-refused')
  await page.getByRole('link', { name: 'Zurück' }).click()
  await opened.heading('Anmelden')
  assert.match(opened.path, /return_to=%2Faccount%23password/)

  await using other = await pages.open('/forgot')
  other.expects(/^400 GET \/login\/with\/staff\/callback$/)
  await other.page.goto(`${pages.url}/login/with/staff/callback?code=x&state=${state}`)
  await other.alerts('It was not started in this browser')
  await other.page.getByRole('link', { name: 'Back' }).click()
  await other.heading('Sign in')
})
