// When something fails, the walk says in a sentence what is wrong, keeps what was displayed, and
// offers a way on.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { TcpProxy } from '../../support/network/tcp-proxy.ts'
import { BrowserPages } from '../../support/pages/browser-page.ts'
import { WalkPage } from '../../support/pages/walk-page.ts'
import { startTestService } from '../../support/service.ts'

const service = await startTestService()
const proxy = await TcpProxy.to(Number(new URL(service.url).port))
const pages = await BrowserPages.start({
  service,
  url: proxy.urlFor(service.url).replace(/\/$/, ''),
})
// The tests share a profile, whose first tab stays open.
const beside = await pages.open('/sign-in')
after(async () => {
  await beside[Symbol.asyncDispose]()
  await pages[Symbol.asyncDispose]()
  await proxy[Symbol.asyncDispose]()
})

test('a server that dies in the middle of a step: a sentence, the last step stays, and "Try again" goes on', async () => {
  await using walk = await WalkPage.open(pages, '/demonstration#sign-in', { beside })
  walk.opened.expects(/ERR_\w+ \w+ .*\/demonstration/, /^401 /)
  await walk.arrived('sign-in')
  proxy.isRefusing = true
  proxy.disconnect()
  await walk.page.locator('#next').click()
  await walk.opened.alerts('The service does not respond.')
  assert.equal(
    await walk.page.getByRole('heading', { name: 'Sign in' }).count(),
    1,
    'what was displayed stays',
  )
  await walk.opened.isAccessible('demonstration-unreachable')
  proxy.isRefusing = false
  await walk.page.getByRole('button', { name: 'Try again' }).click()
  await walk.arrived('with-proof')
  assert.equal(await walk.page.getByRole('alert').count(), 0)
})

test('a demonstration that is gone says so, and starts again at the same step', async () => {
  await using walk = await WalkPage.open(pages, '/demonstration#with-proof', { beside })
  walk.opened.expects(/^404 /, /^401 /)
  await walk.arrived('with-proof')
  // Another tab of this browser starts anew: the world of this one is removed.
  await walk.page.evaluate(() => fetch('demonstration/visits', { method: 'POST' }))
  await walk.page.locator('#next').click()
  await walk.opened.alerts('Your own service is gone')
  await walk.page.getByRole('button', { name: 'Try again' }).click()
  await walk.arrived('inbox')
})

test('a browser that keeps no cookies is told so, and not that it is signed out', async () => {
  await using walk = await WalkPage.open(pages, '/demonstration', { beside })
  await walk.page.route('**/demonstration/visits', async (route) => {
    const response = await route.fetch()
    const { 'set-cookie': _, ...headers } = response.headers()
    await walk.opened.context.clearCookies()
    await route.fulfill({ response, headers })
  })
  walk.opened.expects(/^404 GET .*\/demonstration\/visit$/, /^401 /)
  await walk.page.locator('#next').click()
  await walk.opened.alerts('Your browser does not keep the cookie of this page.')
  await walk.page.unroute('**/demonstration/visits')
  await walk.page.getByRole('button', { name: 'Try again' }).click()
  await walk.arrived('without-proof')
})

test('an experiment whose server dies: a sentence, the predictions are kept, and the next run works', async () => {
  await using walk = await WalkPage.open(pages, '/demonstration#stolen', { beside })
  const { page } = walk
  walk.opened.expects(/ERR_CONNECTION_REFUSED POST .*visits/)
  await page.route('**/demonstration/visits', (route) => route.abort('connectionrefused'))
  await page.locator('.prediction').first().waitFor()
  for (const arrow of await page.locator('.prediction').all())
    await arrow.locator('label').first().click()
  await page.getByRole('button', { name: 'Run it' }).click()
  await walk.opened.alerts('The service does not respond.')
  assert.equal(await page.getByRole('radio', { checked: true }).count(), 4)
  await page.unroute('**/demonstration/visits')
  await page.getByRole('button', { name: 'Run it' }).click()
  await page.locator('.finding').waitFor({ timeout: 30_000 })
})

test('a service that is overloaded does not say that all places are taken', async () => {
  await using walk = await WalkPage.open(pages, '/demonstration', { beside })
  walk.opened.expects(/^503 POST .*visits$/)
  await walk.page.route('**/demonstration/visits', (route) => route.fulfill({ status: 503 }))
  await walk.page.locator('#next').click()
  await walk.opened.alerts('The service does not respond.')
})

test('without the clipboard the command is displayed and selected', async () => {
  await using walk = await WalkPage.open(pages, '/demonstration#without-proof', { beside })
  await walk.arrived('without-proof')
  await walk.page.evaluate(() =>
    Object.defineProperty(navigator, 'clipboard', { value: undefined }),
  )
  walk.opened.expects(/^401 /)
  await walk.unfold('token')
  await walk.lane('token').getByRole('button', { name: 'Copy as curl' }).click()
  await walk.page.getByText('press Ctrl+C').waitFor()
  assert.match(await walk.page.evaluate(() => String(getSelection())), /^curl -si/)
})

test('without script, the page says what it needs', async () => {
  await using opened = await pages.open('/demonstration', { hasScript: false })
  await opened.heading('Session or token: watch both at work')
  assert.match((await opened.page.locator('noscript').textContent()) ?? '', /needs JavaScript/)
})

test('before the first step, the page fits a phone of 320 px in each language', async () => {
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

test('a demonstration that is switched off is a page that says so, and no other page links to it', async () => {
  await using without = await BrowserPages.start({ env: { CARILLON_DEMONSTRATION: 'off' } })
  await using opened = await without.open('/demonstration')
  opened.expects(/^404 GET \/demonstration$/)
  await opened.heading('Page not found')
  assert.equal(await opened.page.getByRole('link', { name: 'Demonstration' }).count(), 0)
})

test('when all places are taken, the page says how many people use it, and in how many minutes to try again', async () => {
  let status = 201
  for (let n = 0; n < 20 && status === 201; n++)
    status = (await service.request('/demonstration/visits', { method: 'POST' })).status
  assert.equal(status, 503)
  await using opened = await pages.open('/demonstration')
  opened.expects(/^503 POST .*\/demonstration\/visits$/)
  await opened.page.locator('#next').click()
  await opened.alerts(
    /10 people are using it\. Watch the recording .* meanwhile\. Try again in \d+ min\./,
  )
  await opened.isAccessible('demonstration-full')
})
