// The client in a real Chromium on a real service: with either proof, compared with the browser's own EventSource, and
// across a loss of the network.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import type { Received } from '../../../client/testing/tab.ts'
import { Chromium } from '../../support/chromium.ts'
import { storedIn } from '../../support/pages/stored.ts'
import { startTestService, variants } from '../../support/service.ts'

/** No server listens here; the test serves its pages. */
const elsewhere = 'http://localhost:7000'
const service = await startTestService({ env: { CARILLON_ALLOWED_ORIGINS: elsewhere } })
after(() => service.stop())

for (const variant of variants)
  test(`a page signs in (${variant}), lists, follows the stream, marks as read, and receives the events`, async () => {
    await using browser = await Chromium.start()
    const ann = await service.user()
    await service.deliver({ to: ann, title: 'Before' })
    const page = await tabOf(browser)
    const listed = await page.evaluate(signInAndFollow, { ...ann, variant, baseUrl: service.url })
    assert.deepEqual(listed, { titles: ['Before'], unread: 1 })
    const [id] = await service.deliver({ to: ann, title: 'Ding 🔔', data: { table: 4 } })
    const received = await until(page, ({ titles }) => titles.includes('Ding 🔔'))
    assert.deepEqual(received.types, ['hello', 'created'])
    const types = await page.evaluate(readOneThenAll, id ?? '')
    assert.deepEqual(types, ['hello', 'created', 'read', 'read-all'])
    assert.equal((await service.list(await service.signIn(ann, variant))).unread, 0)
    assert.deepEqual(await storedIn(page), [])
    assert.deepEqual(browser.uncaught, [])
  })

test('after a sign-out in one tab, no tab displays the list, and nothing of the user is kept in the browser (C14)', async () => {
  await using browser = await Chromium.start()
  const ann = await service.user()
  await service.deliver({ to: ann, title: 'Private' })
  const tabs = [await tabOf(browser), await openTab(browser, service.url)] as const
  await tabs[0].evaluate(async ({ username, password }) => {
    await tab.createCarillon().login({ username, password, variant: 'stateful' })
  }, ann)
  for (const page of tabs) {
    await page.evaluate(() => tab.lists.open('inbox', {}))
    await page.waitForFunction(() => tab.lists.state()[0]?.snapshot.items[0]?.title === 'Private')
  }
  await tabs[0].evaluate(() => tab.createCarillon().logout())
  for (const page of tabs) {
    await page.waitForFunction(() => tab.lists.state()[0]?.snapshot.state === 'signed-out')
    assert.deepEqual(await page.evaluate(() => tab.lists.state()[0]?.snapshot.items), [])
    assert.deepEqual(await storedIn(page), [])
  }
})

test('pages of an allowed origin follow the stream by token', async () => {
  await using browser = await Chromium.start()
  const ann = await service.user()
  await browser.serveClientAt(elsewhere)
  // Chromium treats a page without a server address as one from the internet (Local Network Access, WICG).
  await browser.context.grantPermissions(['local-network-access'])
  const pages = [await openTab(browser, elsewhere), await openTab(browser, elsewhere)]
  for (const page of pages)
    await page.evaluate(signInAndFollow, {
      ...ann,
      variant: 'stateless',
      baseUrl: service.url,
    } as const)
  await service.deliver({ to: ann, title: 'From afar' })
  for (const page of pages) await until(page, ({ titles }) => titles.includes('From afar'))
})

const hostile = [
  'cr\rlf\ncrlf\r\nls\u2028ps\u2029nel\u0085end',
  '\n\nevent: read\ndata: x\n\n',
  '\r\rid: 99\rdata: {"version":99}\r\r',
  'data: x\n\nretry: 1\n\n: comment',
  '"\'`\\ \\n \\u000a </script><!-- ]]> &amp; %0A%0D',
  'bell 🔔, family 👨‍👩‍👧‍👦, flag 🇫🇷, right-to-left \u202e\u2067 mark, zero\u200bwidth, byte order \ufeff mark',
]

test('the client and EventSource receive the same events, and hostile texts arrive unchanged', async () => {
  await using browser = await Chromium.start()
  const ann = await service.user()
  const page = await tabOf(browser)
  await page.evaluate(signInAndFollow, {
    ...ann,
    variant: 'stateful',
    baseUrl: service.url,
  } as const)
  await page.evaluate(() => tab.listen())
  await page.waitForFunction(() => tab.sourceEvents.length === 1)
  const sent = hostile.map((text) => ({ title: `T${text}T`, body: text, data: { [text]: [text] } }))
  for (const content of sent) await service.deliver({ to: ann, ...content })
  await until(page, ({ titles }) => titles.length === sent.length)
  await page.waitForFunction((count) => tab.sourceEvents.length >= count, sent.length + 1)
  await sleep(200)
  const { ours, theirs } = await page.evaluate(() => ({
    ours: tab.events,
    theirs: tab.sourceEvents,
  }))
  assert.deepEqual(
    ours.map(({ type, position, ...data }) => ({ type, id: position, data })),
    theirs.map(({ type, id, data }) => ({ type, id, data: JSON.parse(data) })),
  )
  const received = ours.flatMap((event) => (event.type === 'created' ? [event.notification] : []))
  assert.deepEqual(
    received.map(({ title, body: text, data }) => ({ title, body: text, data })),
    sent,
  )
  const { key } = await service.producerKey()
  const body = { recipients: [{ username: ann.username }], title: 'with NUL \0' }
  assert.equal(
    (await service.post('/api/notifications', body, { authorization: `Bearer ${key}` })).status,
    400,
  )
})

test('when the network returns, the page receives the missed events within seconds', async () => {
  await using browser = await Chromium.start()
  const ann = await service.user()
  const page = await tabOf(browser)
  await page.evaluate(signInAndFollow, {
    ...ann,
    variant: 'stateful',
    baseUrl: service.url,
  } as const)
  // No timer fires from here on, so only the `online` event can make the client reconnect.
  await page.evaluate(() => void Object.assign(globalThis, { setTimeout: () => 0 }))
  await browser.context.setOffline(true)
  // Chromium keeps open connections. This event makes the client drop its own; a new one fails.
  await page.evaluate(() => void dispatchEvent(new Event('online')))
  await service.deliver({ to: ann, title: 'Missed' })
  await sleep(1_500)
  assert.deepEqual((await page.evaluate(() => tab.received())).titles, [])
  await browser.context.setOffline(false)
  const received = await until(page, ({ titles }) => titles.includes('Missed'))
  assert.deepEqual(received.titles, ['Missed'])
})

async function signInAndFollow(how: {
  username: string
  password: string
  variant: 'stateful' | 'stateless'
  baseUrl: string
}): Promise<{ titles: string[]; unread: number }> {
  const { username, password, variant, baseUrl } = how
  const carillon = tab.createCarillon({
    baseUrl,
    auth:
      variant === 'stateful'
        ? 'cookie'
        : async () => (await carillon.login({ username, password, variant: 'stateless' })).token,
  })
  if (variant === 'stateful') await carillon.login({ username, password, variant })
  const { items, unread, version } = await carillon.inbox.list()
  tab.inbox = carillon.inbox
  tab.keep(carillon.inbox.subscribe({ since: version }))
  while (tab.events.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  return { titles: items.map(({ title }) => title), unread }
}

/** Runs in the page: marks one as read, then all. Returns the types of all received events. */
async function readOneThenAll(id: string): Promise<string[]> {
  await tab.inbox?.read(id)
  await tab.inbox?.readAll()
  while (tab.events.at(-1)?.type !== 'read-all')
    await new Promise((resolve) => setTimeout(resolve, 5))
  return tab.events.map(({ type }) => type)
}

async function tabOf(browser: Chromium): Promise<Page> {
  await browser.serveClientAt(service.url)
  return openTab(browser, service.url)
}

async function openTab(browser: Chromium, origin: string): Promise<Page> {
  const page = await browser.page(`${origin}/tab.html`)
  await page.waitForFunction(() => 'tab' in globalThis)
  return page
}

async function until(
  page: Page,
  isSo: (received: Received) => boolean,
  ms = 60_000,
): Promise<Received> {
  const giveUpAt = performance.now() + ms
  for (;;) {
    const received = await page.evaluate(() => tab.received())
    if (isSo(received)) return received
    if (performance.now() > giveUpAt)
      throw new Error(`the page has received ${JSON.stringify(received)}`)
    await sleep(10)
  }
}
