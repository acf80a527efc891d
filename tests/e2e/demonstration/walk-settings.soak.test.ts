// The demonstration as the settings change it: switched off, and below paths.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BrowserPages } from '../../support/pages/browser-page.ts'
import { WalkPage } from '../../support/pages/walk-page.ts'
import { startBehindPath } from '../../support/proxies/stripping-proxy.ts'

test('a demonstration that is switched off is a page that says so, and no other page links to it', async () => {
  await using pages = await BrowserPages.start({ env: { CARILLON_DEMONSTRATION: 'off' } })
  await using opened = await pages.open('/demonstration')
  opened.expects(/^404 GET \/demonstration$/)
  await opened.heading('Page not found')
  assert.equal(await opened.page.getByRole('link', { name: 'Demonstration' }).count(), 0)
})

test('the walk works with a prefix of the pages behind a proxy that strips a path; its cookies stay below it', async () => {
  const { service, url, stop } = await startBehindPath('/bell', { CARILLON_PAGES_PREFIX: '/hello' })
  await using pages = await BrowserPages.start({ service, url })
  await using walk = await WalkPage.open(pages, '/hello/demonstration#inbox')
  await walk.arrived('inbox')
  walk.opened.expects(/^401 /)
  for (const lane of ['session', 'token'] as const)
    assert.deepEqual(await walk.statuses(lane), [200, 204, 204])
  for (const { name, path } of await walk.opened.context.cookies())
    assert.equal(path, '/bell/hello/demonstration', name)
  await stop()
})

test('before the first step, the page fits a phone of 320 px in each language', async () => {
  await using pages = await BrowserPages.start()
  for (const language of ['en', 'de', 'fr']) {
    await using opened = await pages.open('/demonstration', { language, width: 320 })
    await opened.page.locator('#next').waitFor()
    assert.equal(
      await opened.page.evaluate(() => document.documentElement.scrollWidth),
      320,
      language,
    )
  }
})
