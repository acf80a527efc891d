// The first steps of a new service in a real Chromium: each row ticks itself, and what it says works for a page on another port.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, test } from 'node:test'
import { setRole } from '../../../server/users/access/roles.store.ts'
import { listening } from '../../support/network/free-port.ts'
import { BrowserPages } from '../../support/pages/browser-page.ts'

let content = ''
const site = createServer((_request, response) => {
  response.setHeader('content-type', 'text/html; charset=utf-8').end(content)
})
const origin = `http://127.0.0.1:${await listening(site)}`
after(() => site.close())

const allowed = `https://one.example.org,${origin}`
const pages = await BrowserPages.start({ env: { CARILLON_ALLOWED_ORIGINS: allowed } })
after(() => pages[Symbol.asyncDispose]())

test('the only user, an operator, signs in and is on Now; the first steps tick themselves; a second user has none', async () => {
  const user = await pages.service.user()
  await pages.service.store.write(setRole, { userId: user.id, role: 'operator' })
  await using opened = await pages.open('/sign-in')
  const { page } = opened
  await opened.sendSignIn(user)
  await page.getByRole('heading', { name: 'Now', exact: true }).waitFor()
  assert.equal(opened.path, '/operator')
  await page.getByRole('link', { name: 'First steps' }).click()
  await page.getByRole('checkbox', { name: 'Signed in' }).waitFor()
  const boxes = page.locator('.first-steps [type=checkbox]')
  const ticked = () =>
    boxes.evaluateAll((all) => all.map((one) => (one as HTMLInputElement).checked))
  assert.deepEqual(await ticked(), [true, false, true, false])
  await opened.isAccessible('inbox-first-steps')
  await page.getByRole('button', { name: 'Send me a notification' }).click()
  await page.locator('#step-test:checked').waitFor()
  await page.getByText('Sent.', { exact: true }).waitFor()
  await pages.service.producerKey()
  await page.evaluate(() => dispatchEvent(new Event('focus')))
  await page.locator('#step-key:checked').waitFor()

  const field = page.getByLabel('Address of your page')
  const setting = page.locator('#bell-setting')
  await field.fill('https://two.example.org/a')
  assert.equal(
    await setting.locator('pre').textContent(),
    `CARILLON_ALLOWED_ORIGINS=${allowed},https://two.example.org`,
  )
  for (const address of [`${pages.url}/orders`, 'javascript:alert(1)', 'two']) {
    await field.fill(address)
    assert.equal(await setting.isHidden(), true, address)
  }
  await field.fill(`${origin}/orders?page=2`)
  await page.locator('#step-bell:checked').waitFor()
  const lines = (await page.locator('#bell-lines').textContent()) ?? ''
  assert.ok(lines.includes(`src="${pages.url}/carillon-inbox.js"`), lines)
  content = `<!doctype html><html lang="en"><title>Orders</title><link rel="icon" href="data:,">${lines}</html>`
  await page.goto(`${origin}/orders`)
  await page.getByRole('button', { name: 'Notifications, 1 unread' }).waitFor()

  // The numbers are written so often while the page is open.
  pages.service.pass(10_000)
  await page.goto(`${pages.url}/operator`)
  await page.locator('operator-strip canvas').first().waitFor()
  await page.getByRole('row', { name: 'Deliveries 0 1' }).waitFor()
  await using inbox = await pages.open('/sign-in')
  await inbox.sendSignIn(await pages.service.user())
  await inbox.heading('Inbox')
  assert.equal(await inbox.page.locator('.first-steps').count(), 0)
})

test('without a setting, no step is done but the sign-in', async () => {
  await using plain = await BrowserPages.start()
  await using opened = await plain.open('/inbox', { user: await plain.service.user() })
  await opened.page.locator('#step-bell').waitFor()
  assert.equal(await opened.page.locator('.first-steps :checked').count(), 1)
})
