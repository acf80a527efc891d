// The experiments if something is missing or fails: a dead server, an ended visit, a second tab, no Web Crypto, no Ed25519, no prediction.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { BrowserPages } from '../../support/pages/browser-page.ts'
import { ExperimentsPage } from '../../support/pages/experiments-page.ts'

const pages = await BrowserPages.start()
after(() => pages[Symbol.asyncDispose]())

test('without a prediction for each lane nothing is sent, and a sentence says what to do', async () => {
  await using opened = await pages.open('/demonstration#experiment-restart')
  const experiments = new ExperimentsPage(opened.page)
  await experiments.start('restart')
  await opened.alerts('Choose a prediction for each lane first.')
  assert.equal(experiments.seen.size, 0)
})

test('a server that dies in the middle of an experiment: a sentence, the predictions are kept, and the next run works', async () => {
  await using opened = await pages.open('/demonstration#experiment-restart')
  const experiments = new ExperimentsPage(opened.page)
  await experiments.predict('restart', { session: 'yes', token: 'no' })
  await opened.page.route('**/demonstration/controls', (route) => route.abort('connectionrefused'))
  await experiments.start('restart')
  await opened.alerts('The service does not respond.')
  assert.equal(await experiments.of('restart').getByRole('radio').nth(0).isChecked(), true)
  assert.equal(await experiments.of('restart').getByRole('radio').nth(3).isChecked(), true)
  await opened.page.unroute('**/demonstration/controls')
  await experiments.start('restart')
  await experiments.result('restart')
  assert.equal(await experiments.of('restart').getByRole('alert').textContent(), '')
  opened.expects(/ERR_CONNECTION_REFUSED POST .*controls/)
})

test('a visit that has ended: a sentence, and the next run makes a new one', async () => {
  await using opened = await pages.open('/demonstration')
  const experiments = new ExperimentsPage(opened.page)
  await experiments.predict('restart', { session: 'yes', token: 'yes' })
  await experiments.start('restart')
  await experiments.result('restart')
  await opened.context.clearCookies()
  await experiments.start('restart')
  await opened.alerts('Your copy of the service is gone')
  await experiments.start('restart')
  await opened.page.waitForFunction(() => document.querySelector('.experiment[open] [role=alert]')?.textContent === '')
  await opened.page.waitForFunction(() => document.activeElement?.textContent === 'Result')
  opened.expects(/^404 /)
})

test('two tabs: both say so, and an experiment waits for that of the other tab', async () => {
  await using one = await pages.open('/demonstration')
  await using other = await pages.open('/demonstration', { beside: one })
  for (const { page } of [one, other])
    await page.getByRole('status').filter({ hasText: 'open in another tab too' }).waitFor()
  const [first, second] = [new ExperimentsPage(one.page), new ExperimentsPage(other.page)]
  await first.predict('outage', { session: 'no', token: 'yes' })
  await second.predict('restart', { session: 'yes', token: 'yes' })
  await first.start('outage')
  await one.page.getByRole('status').filter({ hasText: 'The database is gone' }).waitFor()
  await second.start('restart')
  await other.alerts('An experiment is running in another tab.')
  assert.equal(second.seen.size, 0)
  await first.result('outage')
  await second.start('restart')
  await second.result('restart')
  one.expects(/^503 /)
})

test('on plain HTTP beyond localhost the token is read but not checked, and a sentence says why', async () => {
  // Linux sends this address to the same machine; to the browser it is no secure context.
  const { port } = new URL(pages.url)
  await using opened = await pages.open(`http://0.0.0.0:${port}/demonstration#experiment-offline`)
  assert.equal(await opened.page.evaluate(() => isSecureContext), false)
  const experiments = new ExperimentsPage(opened.page)
  await experiments.predict('offline', { session: 'no', token: 'yes' })
  await experiments.start('offline')
  const token = (await experiments.result('offline')).locator('.lane-token')
  const text = await token.textContent()
  assert.match(text ?? '', /Not measured in this browser/)
  assert.match(text ?? '', /no Web Crypto on a page that came by plain HTTP/)
  assert.match(text ?? '', /preferred_username/)
  assert.doesNotMatch(text ?? '', /You predicted/)
})

test('in a browser without Ed25519 a sentence says so', async () => {
  await using opened = await pages.open('/docs')
  await opened.context.addInitScript(() => {
    const refuse = () => Promise.reject(new DOMException('Unrecognized name', 'NotSupportedError'))
    Object.assign(SubtleCrypto.prototype, { generateKey: refuse })
  })
  await opened.page.goto(`${pages.url}/demonstration#experiment-offline`)
  const experiments = new ExperimentsPage(opened.page)
  await experiments.predict('offline', { session: 'no', token: 'yes' })
  await experiments.start('offline')
  const token = (await experiments.result('offline')).locator('.lane-token')
  assert.match((await token.textContent()) ?? '', /does not know Ed25519/)
})
