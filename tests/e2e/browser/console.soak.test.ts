// What a developer sees in a real Chromium if no user is signed in, or if the service does not allow the page's origin.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { Chromium } from '../../support/chromium.ts'
import { startTestService } from '../../support/service.ts'

const service = await startTestService()
after(() => service.stop())
/** No server listens here; the test serves its pages. */
const elsewhere = 'http://localhost:7000'

async function openPage(
  browser: Chromium,
  origin: string,
): Promise<{ page: Page; errors: string[] }> {
  const errors: string[] = []
  browser.context.on(
    'console',
    (message) => message.type() === 'error' && errors.push(message.text()),
  )
  await browser.serveClientAt(origin)
  const page = await browser.page(`${origin}/tab.html`)
  await page.waitForFunction(() => 'tab' in globalThis)
  return { page, errors }
}

test('on a page without a signed-in user, `me` returns null, `subscribe` throws UNAUTHORIZED, and the console has no error', async () => {
  await using browser = await Chromium.start()
  const { page, errors } = await openPage(browser, service.url)
  const found = await page.evaluate(async () => {
    const carillon = tab.createCarillon()
    const me = await carillon.me()
    const subscribing = carillon.inbox.subscribe().next()
    return { me, code: await subscribing.catch(({ code }) => code) }
  })
  assert.deepEqual(found, { me: null, code: 'UNAUTHORIZED' })
  // The browser displays a refusal last, so all that was displayed before it has arrived.
  const displayed = page.waitForEvent('console')
  await page.evaluate(() => fetch('/api/me'))
  await displayed
  assert.equal(errors.length, 1, errors.join())
  assert.match(errors[0] ?? '', /401/)
  assert.deepEqual(browser.uncaught, [])
})

test('on a page of an origin that the service does not allow, the error names the origin and CARILLON_ALLOWED_ORIGINS', async () => {
  await using browser = await Chromium.start()
  await browser.context.grantPermissions(['local-network-access'])
  const { page } = await openPage(browser, elsewhere)
  const failing = (baseUrl: string) =>
    page.evaluate(async (url) => {
      const carillon = tab.createCarillon({ baseUrl: url, auth: () => 'a.b.c' })
      return String(await carillon.inbox.list().catch((error) => error))
    }, baseUrl)
  const message = await failing(service.url)
  assert.match(
    message,
    /^CarillonError: No response from Carillon, or CARILLON_ALLOWED_ORIGINS of http:\/\/127\.0\.0\.1:\d+ lacks/,
  )
  assert.match(message, / lacks http:\/\/localhost:7000$/)
})
