// The elements say so when the server, the network or a notification is not as expected, and
// recover without a reload.
import assert from 'node:assert/strict'
import { after, afterEach, test } from 'node:test'
import { ElementPages } from '../../support/element-pages.ts'

const pages = await ElementPages.start()
const { service } = pages
after(() => pages[Symbol.asyncDispose]())
afterEach(async () => {
  for (const page of pages.browser.context.pages()) await page.close()
  assert.deepEqual(pages.errors.splice(0), [])
})

const inbox = '<carillon-inbox></carillon-inbox>'

test('scripts of the list, of a language and of the title that did not arrive are loaded again without a reload', async () => {
  await pages.userWith(1)
  const page = await pages.open('')
  await page.route(/carillon-(inbox-view|de|title-badge)-[^?]*$/, (route) => route.abort())
  await page.evaluate(() => {
    document.body.lang = 'de'
    const bell = document.createElement('carillon-bell')
    bell.titleBadge = true
    document.body.append(bell, document.createElement('carillon-inbox'))
  })
  await page.getByRole('article', { name: 'Ungelesen Number 1' }).waitFor()
  await page.waitForFunction(() => document.title === '(1) Orders')
})

test("if the server is replaced by a page of the network, the element says so in the user's language, and recovers", async () => {
  const user = await pages.userWith(1)
  const page = await pages.open('')
  const response = { contentType: 'text/html', body: '<h1>Pay' }
  await page.route('**/api/**', (route) => route.fulfill(response))
  await page.evaluate(() => {
    document.documentElement.lang = 'de'
    document.body.append(document.createElement('carillon-inbox'))
  })
  await page.locator('[part=error]').getByText('Der Server hat ein Problem').waitFor()
  await page.unroute('**/api/**')
  await page.evaluate(() => dispatchEvent(new Event('focus')))
  await page.getByRole('article').waitFor()
  await service.deliver({ to: user, title: 'Live' })
  await page.getByText('Live', { exact: true }).waitFor()
  await page.locator('[part=error]').waitFor({ state: 'detached' })
})

test('if only the live stream is blocked, the list is displayed, an act is sent, and new ones appear when it is back', async () => {
  const user = await pages.userWith(1)
  const page = await pages.open('')
  await page.route('**/stream*', (route) => route.abort())
  await page.evaluate(() => document.body.append(document.createElement('carillon-inbox')))
  await page.getByText('No connection').waitFor()
  await page
    .getByRole('article', { name: 'Unread Number 1' })
    .getByRole('button', { name: 'Mark as read' })
    .click()
  const proof = await service.signIn(user, 'stateful')
  while ((await service.list(proof)).unread > 0) await page.waitForTimeout(20)
  await service.deliver({ to: user, title: 'Late' })
  await page.unroute('**/stream*')
  await page.evaluate(() => dispatchEvent(new Event('online')))
  await page.getByRole('button', { name: '1 new' }).click()
  await page.getByText('Late', { exact: true }).waitFor()
})

test('fields that are missing, of another type, or of a newer server, break no item', async () => {
  await pages.userWith(1)
  const page = await pages.open('')
  await page.route('**/api/notifications?**', async (route) => {
    const response = await route.fetch()
    const body = await response.json()
    const [known] = body.data.items
    const strange = {
      title: 5,
      body: 6,
      url: 7,
      category: ['x'],
      count: 'many',
      updatedAt: 'soon',
      mood: { a: 1 },
    }
    body.data.items = [
      known,
      { id: 'a', seq: 0.5, title: 'Bare' },
      { id: 'b', seq: 0.4, ...strange },
    ]
    await route.fulfill({ response, json: body })
  })
  await page.evaluate(() => document.body.append(document.createElement('carillon-inbox')))
  await page.getByRole('article', { name: 'Unread Bare' }).waitFor()
  await page.getByRole('article', { name: 'Unread 5' }).waitFor()
  assert.equal(await page.getByRole('article').count(), 3)
})

test('with storage that is forbidden, the list works', async () => {
  await pages.userWith(1)
  const page = await pages.open(inbox)
  await page.addInitScript(() => {
    for (const name of ['indexedDB', 'localStorage', 'sessionStorage'])
      Object.defineProperty(globalThis, name, {
        get() {
          throw new DOMException('forbidden', 'SecurityError')
        },
      })
  })
  await page.reload()
  await page.getByRole('article', { name: 'Unread Number 1' }).waitFor()
})
