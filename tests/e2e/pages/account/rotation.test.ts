// Two tabs of one browser: a change in one replaces the cookie of both, and the other one stays signed in and goes on (S17).
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { BrowserPages } from '../../../support/pages/browser-page.ts'

const pages = await BrowserPages.start()
after(() => pages[Symbol.asyncDispose]())
const { service } = pages

/** Longer than an older cookie's stream stays after the first use of the new one. */
const elevenSeconds = 11_000

test('no tab looks signed out after a change in another tab, and its list goes on', async () => {
  const user = await service.user()
  await using account = await pages.open('/account', { user })
  await account.page.locator('#display-name').waitFor()
  // The choice of a category asks at times of its own, such as while the clock jumps.
  await account.page
    .context()
    .route('**/api/notifications/counts', (route) =>
      route.fulfill({ json: { success: true, data: { categories: {} } } }),
    )
  await using inbox = await pages.open('/inbox', { beside: account })
  const requests: Promise<unknown>[] = []
  inbox.page.on('request', (request) => requests.push(request.response().catch(() => {})))
  await service.deliver({ to: user, title: 'Before' })
  await inbox.page.getByText('Before', { exact: true }).waitFor()

  const streams = () => inbox.page.waitForResponse((response) => response.url().includes('/stream'))
  const { page } = account
  const changed = await page.evaluate(async (password) => {
    const body = JSON.stringify({ password })
    const headers = { 'content-type': 'application/json' }
    return (await fetch('/api/me/confirm', { method: 'POST', headers, body })).status
  }, user.password)
  assert.equal(changed, 204)
  assert.equal(await page.evaluate(async () => (await fetch('/api/me')).status), 200)
  const reconnected = streams()
  // Time passes only once nothing is on its way with the old cookie. After a request of its own, the
  // page has told of all before.
  await inbox.page.evaluate(() => fetch('/api/me'))
  await Promise.all(requests)
  service.pass(elevenSeconds)
  assert.equal((await reconnected).status(), 200)

  await service.deliver({ to: user, title: 'After' })
  await inbox.page.getByText('After', { exact: true }).waitFor()
  await page.reload()
  await page.locator('#display-name').waitFor()
  assert.equal(new URL(inbox.page.url()).pathname, '/inbox')
})
