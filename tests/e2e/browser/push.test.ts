// Web push in a real Chromium: a user turns it on, our push service gets what the service sends, the service worker displays it, and what is read
// elsewhere is closed. tests/support/pages/push-browser.ts says what this Chromium does not have.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { PushService } from '../../support/network/push-service.ts'
import { type BrowserPage, BrowserPages } from '../../support/pages/browser-page.ts'
import { PushBrowser } from '../../support/pages/push-browser.ts'
import { untilSo } from '../../support/processes/nodes.ts'

const pushService = await PushService.start()
const env = { CARILLON_PUSH_HOSTS: pushService.host, CARILLON_PUSH_CONTENT: 'on' }
const pages = await BrowserPages.start({ env })
after(async () => {
  await pages[Symbol.asyncDispose]()
  await pushService.stop()
})
const { service } = pages
const path = '/api/me/push-subscriptions'

const subscriptions = async ({ context }: BrowserPage) =>
  (await (await context.request.get(pages.url + path)).json()).data.items
const listed = async (opened: BrowserPage) => (await subscriptions(opened)).length

/** The user's profile, with an account page in which push works as far as it can. */
async function withPush() {
  const user = await service.user()
  const opened = await pages.open('/livez', { user })
  const subscription = pushService.subscribe()
  const browser = await PushBrowser.prepare(opened.context, opened.page, subscription)
  /** Delivers after ten seconds, and resolves with what the browser got. */
  const pushed = async (title: string) => {
    const before = pushService.pushesTo(subscription).length
    const [id = ''] = await service.deliver({ to: user, title, url: '/orders/1' })
    service.pass(10_000)
    await untilSo(async () => pushService.pushesTo(subscription).length > before)
    const { payload } = pushService.pushesTo(subscription).at(-1) ?? assert.fail()
    await browser.receive(payload)
    return id
  }
  return { user, opened, browser, pushed, subscription }
}

test('a user turns push on, the worker and an open list close what was read elsewhere, and a sign-out ends it', async () => {
  const { user, opened, browser, pushed, subscription } = await withPush()
  await using _ = opened
  const { page, context } = opened
  await page.goto(`${pages.url}/account`)
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  await button('Notify me on this device').click()
  await button('Do not notify me on this device').waitFor()
  assert.equal(await listed(opened), 1)
  const first = await pushed('Paid')
  assert.deepEqual(
    await browser.shown().then((all) => all.map(({ title, data }) => [title, data.ids, data.url])),
    [['Paid', [first], `${pages.url}/orders/1`]],
  )
  const read = `${pages.url}/api/notifications/${first}/read`
  assert.equal((await context.request.patch(read)).status(), 204)
  const before = (await subscriptions(opened))[0]
  await browser.renew(pushService.subscribe())
  const [renewed, ...others] = await subscriptions(opened)
  assert.notEqual(renewed.id, before.id)
  assert.deepEqual([renewed.url, others], [before.url, []])
  // The push service ended it before the browser told its worker.
  pushService.answer = (response) => response.writeHead(410).end()
  const [missed] = await service.deliver({ to: user, title: 'Missed' })
  service.pass(10_000)
  await untilSo(async () => (await listed(opened)) === 0)
  pushService.answer = (response) => response.writeHead(201).end()
  await browser.renew(subscription)
  assert.equal((await subscriptions(opened))[0].url, before.url)
  const readMissed = `${pages.url}/api/notifications/${missed}/read`
  assert.equal((await context.request.patch(readMissed)).status(), 204)
  const second = await pushed('Sent')
  const idsShown = async () => (await browser.shown()).flatMap(({ data }) => data.ids)
  await untilSo(async () => `${await idsShown()}` === second)
  await button('Do not notify me on this device').click()
  await button('Notify me on this device').waitFor()
  assert.equal(await listed(opened), 0)

  // The menu of the list does the same, and an open list closes what was read or removed elsewhere.
  await page.goto(`${pages.url}/inbox`)
  const more = page.getByRole('button', { name: 'More', exact: true }).first()
  const entry = (name: string) => page.getByRole('menuitem', { name, exact: true })
  const choose = async (name: string) => {
    await untilSo(async () => {
      await page.keyboard.press('Escape')
      await more.click()
      return (await entry(name).count()) === 1
    })
    await entry(name).click()
  }
  await choose('Notify me on this device')
  await untilSo(async () => (await listed(opened)) === 1)
  // An open list would have displayed what arrives.
  await page.goto(`${pages.url}/account`)
  const third = await pushed('Paid')
  const fourth = await pushed('Sent')
  const fifth = await pushed('Lost')
  await untilSo(async () => (await idsShown()).length === 4 && (await browser.badge()) === 4)
  await page.goto(`${pages.url}/inbox`)
  await page.getByText('Lost').waitFor()
  const at = (id: string) => `${pages.url}/api/notifications/${id}`
  assert.equal((await context.request.patch(`${at(third)}/read`)).status(), 204)
  await untilSo(async () => (await browser.shown()).length === 3)
  assert.equal((await context.request.delete(at(fourth))).status(), 204)
  await untilSo(async () => (await browser.shown()).length === 2)
  assert.deepEqual(await idsShown(), [second, fifth])
  await untilSo(async () => (await browser.badge()) === 2)
  await page.goto(`${pages.url}/account`)
  await button('Do not notify me on this device').waitFor()
  await page.getByRole('button', { name: 'Sign out', exact: true }).first().click()
  await page.waitForURL((url) => url.pathname !== '/account')
  assert.equal((await context.request.get(pages.url + path)).status(), 401)
})

test('a browser that refuses says so, and the user has no subscription', async () => {
  const { opened } = await withPush()
  await using _ = opened
  const { page } = opened
  await page.goto(`${pages.url}/account`)
  await page.evaluate(() => localStorage.setItem('next-permission', 'denied'))
  await page.getByRole('button', { name: 'Notify me on this device', exact: true }).click()
  await page.getByText('Your browser blocks notifications of this site').first().waitFor()
  assert.equal(await listed(opened), 0)
})
