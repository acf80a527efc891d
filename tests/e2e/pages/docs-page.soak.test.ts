// The page of the API in a real Chromium.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { updateUser } from '../../../server/users/users.store.ts'
import { BrowserPages, becomes } from '../../support/pages/browser-page.ts'

const pages = await BrowserPages.start()
after(() => pages[Symbol.asyncDispose]())

test('the page of the API is accessible and fits a narrow screen, and every link in it leads to a section', async () => {
  await using opened = await pages.open('/docs')
  const broken = await opened.page.evaluate(() =>
    [...document.querySelectorAll<HTMLAnchorElement>('a[href^="#"]')]
      .map(({ hash }) => hash.slice(1))
      .filter((id) => document.getElementById(id) === null),
  )
  assert.deepEqual(broken, [])
  assert.ok(
    (await opened.page
      .locator('details:not([open]) > summary', { hasText: 'Common errors' })
      .count()) > 30,
  )
  const icon = await opened.page
    .locator('link[rel=icon]')
    .evaluate((link) => (link as HTMLLinkElement).href)
  assert.equal((await fetch(icon)).headers.get('content-type'), 'image/svg+xml')
  // axe would need half a minute for all sections, which have the same form.
  await opened.page.evaluate(() => {
    for (const section of document.querySelectorAll(
      'main section:not(#signIn, #listNotifications, #streamNotifications)',
    ))
      section.remove()
  })
  await opened.isAccessible('docs')
})

test('the page has the frame, the language and the theme of the other pages, and names no user', async () => {
  const user = await pages.service.user()
  await pages.service.store.write(updateUser, { userId: user.id, locale: 'fr' })
  await using opened = await pages.open('/account', { user, language: 'de' })
  const { page } = opened
  await page.evaluate(() => localStorage.setItem('carillon-theme', 'dark'))
  await page.getByRole('link', { name: 'Documentation' }).click()
  await opened.heading(/^Documentation Carillon/)
  assert.equal(await page.locator('html').getAttribute('lang'), 'fr')
  assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark')
  await page.getByLabel('Filtrer les routes').waitFor()
  for (const name of ['Boîte de réception', 'Compte'])
    await page.getByRole('navigation').first().getByRole('link', { name }).waitFor()
  assert.equal((await page.content()).includes(user.username), false)
  await page.getByRole('button', { name: 'Se déconnecter' }).click()
  await page.goto(`${pages.url}/docs`)
  await page.getByRole('link', { name: 'Anmelden' }).waitFor()
})

test('the filter leaves the routes that have every word, and says if none has', async () => {
  await using opened = await pages.open('/docs')
  const { page } = opened
  const shown = () =>
    page
      .locator('section:has(> .who):visible')
      .evaluateAll((found) => found.map(({ id }) => id).join())
  const all = await shown()
  await page.getByLabel('Filter the routes').fill('PATCH /unread')
  await becomes(shown, 'markUnread')
  assert.deepEqual(await page.locator('.docs nav h2:visible').allTextContents(), ['inbox'])
  await page.getByLabel('Filter the routes').fill('no such words')
  await page.getByRole('status').filter({ hasText: 'No route matches.' }).waitFor()
  await becomes(shown, '')
  await page.getByLabel('Filter the routes').fill('')
  await becomes(shown, all)
})

test('a button copies an example, or says that the browser does not allow it', async () => {
  await using opened = await pages.open('/docs')
  const { page } = opened
  const copy = () => page.locator('#markRead > pre + button')
  await copy().click()
  await becomes(async () => (await copy().textContent()) ?? '', 'Your browser blocked it')
  await opened.context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await copy().click()
  await becomes(async () => (await copy().textContent()) ?? '', 'Copied')
  const copied = await page.evaluate(() => navigator.clipboard.readText())
  assert.equal(copied, await page.locator('#markRead > pre').textContent())
  assert.match(copied, /^curl -X PATCH /)
})

test('a browser lays out the parts in view first, and the others in steps, so that no task takes long', async () => {
  const partsOf = (page: Page) =>
    page
      .locator('.docs section')
      .evaluateAll((all) =>
        [...new Set(all.map((one) => getComputedStyle(one).contentVisibility))].join(),
      )
  await using still = await pages.open('/docs', { hasScript: false })
  assert.equal(await partsOf(still.page), 'auto')
  await using opened = await pages.open('/docs')
  await becomes(() => partsOf(opened.page), 'visible')
})
