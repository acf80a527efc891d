// The first steps of a new service in a real Chromium: each row ticks itself, and what it says works for a page on another port.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { setRole } from '../../../server/users/access/roles.store.ts'
import { BrowserPages } from '../../support/pages/browser-page.ts'

let content = ''
const site = createServer((_request, response) => {
  response.setHeader('content-type', 'text/html; charset=utf-8').end(content)
})
await once(site.listen(0, '127.0.0.1'), 'listening')
after(() => site.close())
const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`

test('the only user, with the role operator, signs in and is on Now, whose numbers count the test notification', async () => {
  await using pages = await BrowserPages.start()
  const user = await pages.service.user()
  await pages.service.store.write(setRole, { userId: user.id, role: 'operator' })
  await using opened = await pages.open('/sign-in')
  const { page } = opened
  await page.getByLabel('Username').fill(user.username)
  await page.getByLabel('Password', { exact: true }).fill(user.password)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Now', exact: true }).waitFor()
  assert.equal(opened.path, '/operator')
  await page.getByRole('link', { name: 'First steps' }).click()
  await page.getByRole('button', { name: 'Send me a notification' }).click()
  await page.locator('#step-test:checked').waitFor()
  await page.getByRole('link', { name: 'Operator' }).click()
  await page.locator('operator-strip canvas').first().waitFor()
  await page.getByRole('row', { name: 'Deliveries 0 1' }).waitFor()
  const another = await pages.service.user()
  await using inbox = await pages.open('/sign-in')
  await inbox.page.getByLabel('Username').fill(another.username)
  await inbox.page.getByLabel('Password', { exact: true }).fill(another.password)
  await inbox.page.keyboard.press('Enter')
  await inbox.heading('Inbox')
})

test('the rows tick themselves: the sign-in, a test notification that arrives, and a key', async () => {
  await using pages = await BrowserPages.start()
  const user = await pages.service.user()
  await using opened = await pages.open('/inbox', { user })
  const { page } = opened
  const row = (name: string) => page.getByRole('checkbox', { name })
  await row('Signed in').waitFor()
  assert.deepEqual(
    await page
      .locator('.first-steps [type=checkbox]')
      .evaluateAll((all) => all.map((one) => (one as HTMLInputElement).checked)),
    [true, false, false, false],
  )
  await opened.isAccessible('inbox-first-steps')
  await page.getByRole('button', { name: 'Send me a notification' }).click()
  await page.locator('#step-test:checked').waitFor()
  await page.getByText('Sent.', { exact: true }).waitFor()
  await pages.service.producerKey()
  await page.evaluate(() => dispatchEvent(new Event('focus')))
  await page.locator('#step-key:checked').waitFor()
})

test('the two lines and the setting that the page writes put the bell into a page on another port', async () => {
  await using pages = await BrowserPages.start({ env: { CARILLON_ALLOWED_ORIGINS: origin } })
  const user = await pages.service.user()
  await pages.service.deliver({ to: user, title: 'Hello' })
  await using opened = await pages.open('/inbox', { user })
  const { page } = opened
  await page.getByLabel('Address of your page').fill(`${origin}/orders?page=2`)
  assert.equal(
    await page.locator('#bell-setting pre').textContent(),
    `CARILLON_ALLOWED_ORIGINS=${origin}`,
  )
  await page.locator('#step-bell:checked').waitFor()
  const lines = (await page.locator('#bell-lines').textContent()) ?? ''
  assert.ok(lines.includes(`src="${pages.url}/carillon-inbox.js"`), lines)
  content = `<!doctype html><html lang="en"><title>Orders</title><link rel="icon" href="data:,">${lines}</html>`
  await page.goto(`${origin}/orders`)
  await page.getByRole('button', { name: 'Notifications, 1 unread' }).waitFor()
})

test('the setting keeps the origins that are allowed already, and a page of the service needs none', async () => {
  await using pages = await BrowserPages.start({
    env: { CARILLON_ALLOWED_ORIGINS: 'https://one.example.org' },
  })
  await using opened = await pages.open('/inbox', { user: await pages.service.user() })
  const { page } = opened
  const field = page.getByLabel('Address of your page')
  await field.fill('https://two.example.org/a')
  const setting = page.locator('#bell-setting')
  assert.equal(
    await setting.locator('pre').textContent(),
    'CARILLON_ALLOWED_ORIGINS=https://one.example.org,https://two.example.org',
  )
  for (const address of [`${pages.url}/orders`, 'javascript:alert(1)', 'two']) {
    await field.fill(address)
    assert.equal(await setting.isHidden(), true, address)
  }
})
