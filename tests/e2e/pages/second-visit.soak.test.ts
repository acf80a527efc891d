// A browser that comes back to a page receives the page and its data; scripts, style sheets and the
// description of the API are in its cache.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { BrowserPages } from '../../support/pages/browser-page.ts'

const maxBytes = 6_500
const pages = await BrowserPages.start()
after(() => pages[Symbol.asyncDispose]())
const { service } = pages
const { key } = await service.producerKey(['users'])

async function linkFor(purpose: 'reset' | 'invite'): Promise<string> {
  const headers = { authorization: `Bearer ${key}` }
  const { id } = (
    await service.post('/api/users', { username: `linked-${purpose}` }, headers)
  ).json().data
  const made = await service.post(`/api/users/${id}/links`, { purpose }, headers)
  return made.json().data.url.replace(service.url, '')
}

/** Names the address of each page, and what it displays at last. */
const ofAll = {
  '/': 'h1',
  '/sign-in': '#password',
  '/forgot': 'h1',
  [await linkFor('reset')]: '#password',
  [await linkFor('invite')]: '#password',
  '/demonstration': '#next',
  '/docs': '#routes-filter',
}
const ofUsers = {
  '/': 'h1',
  '/docs': '#routes-filter',
  '/account': 'account-activity li',
  '/inbox': 'article',
}

for (const [isUser, found] of [
  [false, ofAll],
  [true, ofUsers],
] as const)
  for (const [path, last] of Object.entries(found))
    test(`a second visit of ${path.replace(/#.*/, '')} ${isUser ? 'by a user' : 'by a stranger'} transfers at most ${maxBytes} bytes, and no script`, async () => {
      const user = await service.user()
      await service.deliver({ to: user, title: 'Tea is ready' })
      await using first = await pages.open(path, isUser ? { user } : {})
      await first.page.locator(last).first().waitFor()
      await first.page.waitForLoadState('load')
      const page = await first.context.newPage()
      const received = await transfers(page)
      await page.goto(pages.url + path)
      await page.locator(last).first().waitFor()
      const sum = received.reduce((bytes, one) => bytes + one.bytes, 0)
      assert.ok(
        received.length > 0 && sum <= maxBytes,
        `${sum} bytes: ${JSON.stringify(received, null, 1)}`,
      )
      assert.deepEqual(
        received.filter(({ url }) => url.includes('/carillon-scripts/')),
        [],
      )
      await page.close()
    })

test('the pages name the scripts that their scripts import, so that the browser requests them at once', async () => {
  await using opened = await pages.open('/account', { user: await service.user() })
  const named = await opened.page
    .locator('link[rel=modulepreload]')
    .evaluateAll((links) => links.map((link) => (link as HTMLLinkElement).href))
  const initiators = await opened.page.evaluate(() =>
    (performance.getEntriesByType('resource') as PerformanceResourceTiming[]).map(
      ({ name, initiatorType }) => ({
        name,
        initiatorType,
      }),
    ),
  )
  assert.ok(named.length > 3, `${named}`)
  // They say so, because a browser without script would report each as refused.
  const media = await opened.page.locator('link[rel=modulepreload]').first().getAttribute('media')
  assert.equal(await opened.page.evaluate((query) => matchMedia(query).matches, media ?? ''), true)
  for (const name of named)
    assert.deepEqual(
      initiators.filter((one) => one.name === name).length,
      1,
      `${name} was requested once`,
    )
})

/** Collects what this page receives over the network; nothing for what comes from the cache. */
async function transfers(page: Page): Promise<{ url: string; bytes: number }[]> {
  const received: { url: string; bytes: number }[] = []
  const urls = new Map<string, string>()
  const session = await page.context().newCDPSession(page)
  session.on('Network.requestWillBeSent', ({ requestId, request }) =>
    urls.set(requestId, request.url),
  )
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength: bytes }) => {
    if (bytes > 0) received.push({ url: urls.get(requestId) ?? '', bytes })
  })
  await session.send('Network.enable')
  return received
}
