// The preferences of one device in a real Chromium: the theme of all pages.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import {
  type BrowserPage,
  BrowserPages,
  type PageOptions,
} from '../../../support/pages/browser-page.ts'

const pages = await BrowserPages.start()
after(() => pages[Symbol.asyncDispose]())
const { service } = pages

async function openPreferences(options: PageOptions): Promise<BrowserPage> {
  const opened = await pages.open('/account#preferences', options)
  await opened.page.locator('section#preferences.target:focus').waitFor()
  return opened
}

const choice = ({ page }: BrowserPage, name: string) =>
  page.getByRole('radio', { name, exact: true })
const background = (page: Page) =>
  page.evaluate(() => getComputedStyle(document.body).backgroundColor)
const light = 'rgb(255, 255, 255)'
const dark = 'rgb(20, 21, 26)'

test('a theme that the user chooses is that of every page and of the tabs that are open, and stays on this device', async () => {
  const ann = await service.user()
  await using opened = await openPreferences({ user: ann, theme: 'light' })
  await using other = await pages.open('/', { beside: opened })
  assert.ok(await choice(opened, 'Same as this device').isChecked())
  assert.equal(await background(opened.page), light)
  await opened.isAccessible('preferences')
  await choice(opened, 'Dark').check()
  assert.equal(await background(opened.page), dark)
  await other.page.waitForFunction(() => document.documentElement.dataset.theme === 'dark')
  assert.equal(await background(other.page), dark)
  for (const path of ['/inbox', '/account', '/']) {
    await other.page.goto(pages.url + path)
    assert.equal(await background(other.page), dark, path)
    if (path === '/inbox') await other.page.locator('carillon-inbox[theme=dark]').waitFor()
  }
  await opened.page.reload()
  assert.ok(await choice(opened, 'Dark').isChecked())
  await choice(opened, 'Same as this device').check()
  assert.equal(await background(opened.page), light)
  await opened.page.emulateMedia({ colorScheme: 'dark' })
  assert.equal(await background(opened.page), dark)
  await choice(opened, 'Light').check()
  assert.equal(await background(opened.page), light)
})

test('a page is never painted in another theme than the chosen one', async () => {
  await using opened = await openPreferences({ user: await service.user(), theme: 'light' })
  await choice(opened, 'Dark').check()
  const { page } = opened
  // The script of the theme arrives half a second after everything else.
  await page.route('**/every-page-*.js', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 500))
    await route.continue()
  })
  await page.reload()
  await page.waitForFunction(() => performance.getEntriesByName('first-paint').length > 0)
  const [painted = 0, requested = 0] = await page.evaluate(() =>
    ['first-paint', '/every-page-'].map(
      (part) => performance.getEntries().find(({ name }) => name.includes(part))?.startTime,
    ),
  )
  assert.ok(
    requested > 0 && painted > requested + 500,
    `painted at ${painted} ms, script requested at ${requested} ms`,
  )
})

test('a browser that keeps nothing for the site says so, and the theme changes for this page', async () => {
  await using opened = await openPreferences({ user: await service.user(), theme: 'light' })
  const { page } = opened
  // As a browser in which the user has forbidden site data.
  await page.addInitScript(() =>
    Object.defineProperty(globalThis, 'localStorage', {
      get: () => {
        throw new DOMException('The operation is insecure.', 'SecurityError')
      },
    }),
  )
  await page.reload()
  await choice(opened, 'Dark').check()
  await opened.alerts('Your browser keeps nothing for this site')
  assert.equal(await background(page), dark)
  await opened.isAccessible('preferences-not-kept')
})
