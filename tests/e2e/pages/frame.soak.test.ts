// The frame that all pages share, in a real Chromium: languages, theme, sign-out, and pages for what fails.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { BrowserPages } from '../../support/pages/browser-page.ts'

const pages = await BrowserPages.start({
  env: { CARILLON_ACCENT: '#8a2be2', CARILLON_NAME: 'Harbour <Office>' },
})
after(() => pages[Symbol.asyncDispose]())
const { service } = pages

test('the account page has the name of the service and of its user, and its languages, without script too', async () => {
  const user = await service.user()
  for (const [language, heading] of [
    ['en-GB', 'Account'],
    ['de-CH', 'Konto'],
    ['fr', 'Compte'],
    ['ja', 'Account'],
  ] as const) {
    await using opened = await pages.open('/account', { user, language, hasScript: false })
    await opened.heading(heading)
    assert.equal(await opened.page.title(), `${heading} · Harbour <Office>`)
    await opened.page.locator('.who', { hasText: user.username }).waitFor()
  }
})

test('the frame is accessible, fits 320 px and has the accent colour, in light and dark', async () => {
  await using opened = await pages.open('/account', { user: await service.user() })
  await opened.isAccessible('account')
  const accent = () =>
    opened.page
      .locator('.top nav a[aria-current]')
      .evaluate((link) => getComputedStyle(link).boxShadow)
  assert.match(await accent(), /rgb\(138, 43, 226\)/)
})

test('the helper of these tests refuses a page whose load has a failed request or a console error', async () => {
  const opened = await pages.open('/account', { user: await service.user() })
  await opened.page.evaluate(async () => {
    console.error('a complaint')
    await fetch('nothing-here')
  })
  await assert.rejects(
    async () => opened[Symbol.asyncDispose](),
    /a complaint.*404 GET \/nothing-here/s,
  )
})
