// The account page in a real Chromium, with a real OpenID provider on another site: a user links an account, and unlinks it.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import {
  addProviderUser,
  providerAccounts,
} from '../../../../server/providers/provider-accounts.store.ts'
import { startWithProvider } from '../../../support/http/provider-browser.ts'
import { BrowserPages } from '../../../support/pages/browser-page.ts'

const { app, provider, browser } = await startWithProvider(
  { displayName: 'Example Staff' },
  { host: 'localhost', env: { CARILLON_PAGES_PREFIX: '/hello' } },
)
const pages = await BrowserPages.start({ service: app })
after(async () => {
  await pages[Symbol.asyncDispose]()
  await provider.stop()
})

test('a user links an account at a provider, comes back to the page, signs in with it, and unlinks it after a question', async () => {
  provider.claims.set('ann', { email: 'ann@elsewhere.example', email_verified: true })
  const user = await app.user()
  await using opened = await pages.open('/hello/account#factors', { user })
  const { page } = opened
  await withoutFonts(page)
  await page.getByRole('heading', { name: 'Linked accounts' }).waitFor()
  await opened.isAccessible('providers-none')
  await page.getByRole('button', { name: 'Link Example Staff', exact: true }).click()
  await signInAt(page, 'ann')
  const row = page.locator('account-providers li', { hasText: 'Example Staff' })
  await row.filter({ hasText: 'ann@elsewhere.example' }).waitFor()
  assert.equal(opened.path, '/hello/account#factors')
  assert.equal(
    await page.getByRole('button', { name: 'Link Example Staff', exact: true }).count(),
    0,
  )
  await opened.isAccessible('providers')
  const other = browser()
  assert.equal((await other.signIn('staff', 'ann')).status, 303)

  await row.getByRole('button', { name: 'Unlink Example Staff' }).press('Enter')
  const question = page.getByRole('alertdialog', { name: 'Unlink Example Staff?' })
  await question.waitFor()
  await page.keyboard.press('Escape')
  await question.waitFor({ state: 'hidden' })
  await row.locator('button[aria-disabled="false"]').press('Enter')
  await question.getByRole('button', { name: 'Unlink' }).press('Enter')
  await page.getByRole('status').filter({ hasText: 'Unlinked.' }).waitFor()
  await row.waitFor({ state: 'detached' })
  await opened.hasFocus('Linked accounts')
  assert.equal((await browser().signIn('staff', 'ann')).status, 403)
})

test('the only way to sign in is not unlinked, and the page says what to do first', async () => {
  const id = '01900000-0000-7000-8000-000000000001'
  const account = {
    issuer: provider.url,
    subject: 'only',
    newId: id,
    displayName: 'Only',
    email: null,
    at: app.now(),
  }
  await app.store.write(addProviderUser, account)
  await using opened = await pages.open('/docs')
  const { page } = opened
  await withoutFonts(page)
  await page.goto(`${app.url}/login/with/staff`)
  await signInAt(page, 'only')
  await page.waitForURL(`${app.url}/hello/inbox`)
  await page.goto(`${app.url}/hello/account`)
  await page.getByRole('button', { name: 'Unlink Example Staff' }).click()
  opened.expects(/409 DELETE/)
  await page.getByRole('alertdialog').getByRole('button', { name: 'Unlink' }).click()
  await opened.alerts('This account is your only way to sign in.')
  assert.equal((await app.store.read(providerAccounts, id)).length, 1)
})

/** The pages of the provider load a font of another site. */
function withoutFonts(page: Page): Promise<unknown> {
  return page.route('https://fonts.googleapis.com/**', (route) =>
    route.fulfill({ contentType: 'text/css', body: '' }),
  )
}

async function signInAt(page: Page, username: string): Promise<void> {
  await page.fill('input[name=login]', username)
  await page.fill('input[name=password]', 'any')
  await page.click('button[type=submit]')
  await page.click('button[type=submit]')
}
