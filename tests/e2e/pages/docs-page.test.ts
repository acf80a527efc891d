// The page of the API in a real Chromium.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { BrowserPages } from '../../support/pages/browser-page.ts'

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
  const icon = await opened.page.locator('link[rel=icon]').evaluate((link) => (link as HTMLLinkElement).href)
  assert.equal((await fetch(icon)).headers.get('content-type'), 'image/svg+xml')
  // All sections have the same form, and axe would need half a minute for each look at all of them.
  await opened.page.evaluate(() => {
    for (const section of document.querySelectorAll(
      'main section:not(#signIn, #listNotifications, #streamNotifications)',
    ))
      section.remove()
  })
  await opened.isAccessible('docs')
})
