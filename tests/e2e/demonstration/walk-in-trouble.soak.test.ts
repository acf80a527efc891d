// The walk of the demonstration when something fails: each time a sentence that says what is wrong, what was displayed stays, and there is a way on.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { TcpProxy } from '../../support/network/tcp-proxy.ts'
import { BrowserPages } from '../../support/pages/browser-page.ts'
import { WalkPage } from '../../support/pages/walk-page.ts'
import { startTestService } from '../../support/service.ts'

const service = await startTestService()
const proxy = await TcpProxy.to(Number(new URL(service.url).port))
const pages = await BrowserPages.start({ service, url: proxy.urlFor(service.url).replace(/\/$/, '') })
after(async () => {
  await pages[Symbol.asyncDispose]()
  await proxy[Symbol.asyncDispose]()
})

test('a server that dies in the middle of a step: a sentence, the last step stays, and "Try again" goes on', async () => {
  await using walk = await WalkPage.open(pages, '/demonstration#sign-in')
  walk.opened.expects(/ERR_\w+ \w+ .*\/demonstration/)
  await walk.arrived('sign-in')
  proxy.isRefusing = true
  proxy.disconnect()
  await walk.page.locator('#next').click()
  await walk.opened.alerts('The service does not respond.')
  assert.equal(await walk.page.locator('h2#sign-in').count(), 1, 'what was displayed stays')
  await walk.opened.isAccessible('demonstration-unreachable')
  proxy.isRefusing = false
  await walk.page.getByRole('button', { name: 'Try again' }).click()
  await walk.arrived('with-proof')
  assert.equal(await walk.page.getByRole('alert').count(), 0)
})

test('a demonstration that is gone says so, and starts again at the same step', async () => {
  await using walk = await WalkPage.open(pages, '/demonstration#with-proof')
  walk.opened.expects(/^404 /)
  await walk.arrived('with-proof')
  // Another tab of this browser starts anew: the world of this one is removed.
  await walk.page.evaluate(() => fetch('demonstration/visits', { method: 'POST' }))
  await walk.page.locator('#next').click()
  await walk.opened.alerts('Your copy of the service is gone')
  await walk.page.getByRole('button', { name: 'Start again' }).click()
  await walk.arrived('list')
})

test('a browser that keeps no cookies is told so, and not that it is signed out', async () => {
  await using walk = await WalkPage.open(pages)
  await walk.page.route('**/demonstration/visits', async (route) => {
    const response = await route.fetch()
    const { 'set-cookie': _, ...headers } = response.headers()
    await walk.opened.context.clearCookies()
    await route.fulfill({ response, headers })
  })
  walk.opened.expects(/^404 GET .*\/demonstration\/visit$/)
  await walk.page.locator('#next').click()
  await walk.opened.alerts('Your browser does not keep the cookie of this page.')
  await walk.page.unroute('**/demonstration/visits')
  await walk.page.getByRole('button', { name: 'Try again' }).click()
  await walk.arrived('without-proof')
})

test('a proof that an experiment has ended: the step shows the response as it is, and offers to start again', async () => {
  await using walk = await WalkPage.open(pages, '/demonstration#sign-in')
  walk.opened.expects(/^401 /)
  await walk.arrived('sign-in')
  await walk.page.evaluate(() =>
    fetch('demonstration/controls', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ action: 'revoke' }),
    }),
  )
  await walk.next('with-proof')
  await walk.opened.alerts('An experiment has ended the token')
  assert.equal(await walk.status('session'), '401 Unauthorized')
  await walk.page.getByRole('button', { name: 'Start again' }).first().click()
  await walk.page.locator('.finding').waitFor()
  assert.equal(await walk.status('session'), '200 OK')
})

test('after an experiment that signed in anew, a step displays the proof that it sent, and its row', async () => {
  await using walk = await WalkPage.open(pages, '/demonstration#with-proof')
  await walk.arrived('with-proof')
  const experiment = walk.page.locator('#experiment-restart')
  await experiment.locator('> summary').click()
  for (const label of await experiment.getByText('The proof is still accepted').all()) await label.click()
  await experiment.getByRole('button').first().click()
  await experiment.getByText('You predicted this.').first().waitFor()
  await walk.next('list')
  for (const lane of ['session', 'token'] as const) {
    const kept = (await walk.lane(lane).locator('.block').textContent()) ?? '?'
    const { head } = await walk.displayed(lane, 'request')
    assert.ok(head.join('\n').includes(kept), `${lane}: ${kept}`)
  }
  assert.equal(await walk.lane('session').locator('.row').count(), 1)
})

test('without the clipboard the command is displayed and selected', async () => {
  await using walk = await WalkPage.open(pages, '/demonstration#without-proof')
  await walk.arrived('without-proof')
  await walk.page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }))
  await walk.lane('token').getByRole('button', { name: 'Copy as curl' }).click()
  await walk.page.getByText('press Ctrl+C').waitFor()
  assert.match(await walk.page.evaluate(() => String(getSelection())), /^curl -si/)
})

test('without script, the page says what it needs', async () => {
  await using opened = await pages.open('/demonstration', { hasScript: false })
  await opened.heading('Session or token: watch both at work')
  assert.match((await opened.page.locator('noscript').textContent()) ?? '', /needs JavaScript/)
})

test('when all places are taken, the page says in how many minutes to try again', async () => {
  let status = 201
  for (let n = 0; n < 20 && status === 201; n++)
    status = (await service.request('/demonstration/visits', { method: 'POST' })).status
  assert.equal(status, 503)
  await using opened = await pages.open('/demonstration')
  opened.expects(/^503 POST .*\/demonstration\/visits$/)
  await opened.page.locator('#next').click()
  await opened.alerts(/All places of the demonstration are taken\. Try again in \d+ minutes?\./)
  await opened.isAccessible('demonstration-full')
})
