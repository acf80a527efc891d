// What a page does with the elements: several of them, moved, removed, changed; loaded twice; signed out, offline, refused.
import assert from 'node:assert/strict'
import { after, afterEach, test } from 'node:test'
import type { Page } from 'playwright-core'
import { ElementPages } from '../../support/element-pages.ts'
import { becomes } from '../../support/pages/browser-page.ts'

const pages = await ElementPages.start()
const { service } = pages
after(() => pages[Symbol.asyncDispose]())
afterEach(async () => {
  for (const page of pages.browser.context.pages()) await page.close()
  assert.deepEqual(pages.errors.splice(0), [])
})

function requestsOf(page: Page): () => string[] {
  const paths: string[] = []
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (pathname.startsWith('/api/')) paths.push(pathname)
  })
  return () => paths.splice(0)
}

const list = '/api/notifications'
const stream = '/api/notifications/stream'
const count = (paths: string[], path: string) => paths.filter((one) => one === path).length

test('several elements on a page cause one request for each list and one stream', async () => {
  const user = await pages.userWith(2)
  const page = await pages.open('')
  const requests = requestsOf(page)
  // Each element shows the number of notifications in the archive.
  const archive = page.waitForRequest(/status=archived/)
  await page.evaluate(() => {
    for (let number = 0; number < 5; number++)
      document.body.append(
        document.createElement('carillon-bell'),
        document.createElement('carillon-inbox'),
      )
  })
  await page.getByRole('article').nth(9).waitFor()
  await service.deliver({ to: user, title: 'Another' })
  await page.getByRole('article').nth(14).waitFor()
  await archive
  const paths = requests()
  assert.deepEqual([count(paths, list), count(paths, stream)], [2, 1])
})

test('an element that is moved keeps its list; one that is removed ends its stream, and starts again when it returns', async () => {
  const user = await pages.userWith(1)
  const page = await pages.open('<main><carillon-inbox></carillon-inbox></main>')
  const requests = requestsOf(page)
  await page.getByRole('article').waitFor()
  await page.evaluate(() =>
    document.body.append(document.querySelector('carillon-inbox') as Element),
  )
  await service.deliver({ to: user, title: 'After the move' })
  await page.getByText('After the move', { exact: true }).waitFor()
  assert.ok(count(requests(), stream) <= 1)
  const ended = page.waitForEvent('requestfailed', (request) => request.url().includes(stream))
  await page.evaluate(() => {
    const inbox = document.querySelector('carillon-inbox') as Element
    Object.assign(globalThis, { inbox })
    inbox.remove()
  })
  await ended
  await service.deliver({ to: user, title: 'While away' })
  await page.evaluate(() =>
    document.body.append((globalThis as unknown as { inbox: Element }).inbox),
  )
  await page.getByText('While away', { exact: true }).waitFor()
  const paths: string[] = []
  const streams = async () => {
    paths.push(...requests())
    return String(count(paths, stream))
  }
  await becomes(streams, '1')
  await page.waitForTimeout(200)
  assert.equal(await streams(), '1')
})

test('attributes that change at run time take effect', async () => {
  const user = await pages.userWith(1)
  await service.deliver({ to: user, title: 'An order', category: 'orders' })
  const page = await pages.open('<carillon-inbox></carillon-inbox>')
  await page.getByText('Number 1').waitFor()
  const set = (name: string, value: string) =>
    page
      .locator('carillon-inbox')
      .evaluate((inbox, [key, text]) => inbox.setAttribute(key, text), [name, value] as const)
  await set('category', 'orders')
  await page.getByText('Number 1').waitFor({ state: 'detached' })
  await page.getByText('An order').waitFor()
  assert.equal(await page.getByRole('article').count(), 1)
  await set('lang', 'de')
  await page.getByRole('tab', { name: 'Ungelesen' }).waitFor()
  await page
    .locator('carillon-inbox')
    .evaluate((inbox: HTMLElementTagNameMap['carillon-inbox']) => {
      inbox.strings = { unread: 'Neu' }
    })
  await page.getByRole('tab', { name: 'Neu' }).waitFor()
})

test('the script may be loaded twice', async () => {
  await pages.userWith(1)
  const page = await pages.open('<carillon-inbox></carillon-inbox>')
  await page.evaluate(() => import('/carillon-inbox-0.js?again' as string))
  await page.getByRole('article').waitFor()
})

test('the element follows the language around it, also when that changes', async () => {
  await pages.userWith(1)
  const page = await pages.open('<div lang="fr-CH"><carillon-bell></carillon-bell></div>')
  await page.locator('[part=bell][aria-label*="non lue"]').waitFor()
  await page.evaluate(() => document.querySelector('div')?.setAttribute('lang', 'de'))
  await page.locator('[part=bell][aria-label*="ungelesen"]').waitFor()
})

test('a bell that is moved while its panel is open says that the panel is closed', async () => {
  await pages.userWith(1)
  const page = await pages.open('<main></main><carillon-bell></carillon-bell>')
  const bell = page.locator('[part=bell]')
  await bell.click()
  await page.getByRole('article').waitFor()
  await page.evaluate(() =>
    document.querySelector('main')?.append(document.querySelector('carillon-bell') as Element),
  )
  await page.locator('[part=bell][aria-expanded=false]').waitFor()
  assert.equal(await page.getByRole('dialog').count(), 0)
  await bell.click()
  await page.getByRole('article').waitFor()
})

test('the number is in the title of the document, and carillon-change reports it', async () => {
  const user = await pages.userWith(2)
  const page = await pages.open('')
  await page.evaluate(() => {
    const heard: number[] = []
    Object.assign(globalThis, { heard })
    document.addEventListener('carillon-change', (event) =>
      heard.push((event as CustomEvent<{ unread: number }>).detail.unread),
    )
    const bell = document.createElement('carillon-bell')
    bell.setAttribute('title-badge', '')
    document.body.append(bell)
  })
  await page.waitForFunction(() => document.title === '(2) Orders')
  await page.locator('[part=bell]').click()
  await page.getByRole('article').first().waitFor()
  await service.deliver({ to: user, title: 'Another' })
  await page.waitForFunction(() => document.title === '(3) Orders')
  assert.deepEqual(
    await page.evaluate(() => (globalThis as unknown as { heard: number[] }).heard),
    [2, 3],
  )
  await page.locator('carillon-bell').evaluate((bell) => bell.remove())
  await page.waitForFunction(() => document.title === 'Orders')
})

test('a page without a signed-in user has a link to sign in, and shows the list after a sign-in', async () => {
  const user = await pages.userWith(1)
  await pages.browser.context.clearCookies()
  const page = await pages.open('<carillon-inbox sign-in-url="/own-sign-in"></carillon-inbox>')
  const link = page.getByRole('link', { name: 'Sign in' })
  await link.waitFor()
  assert.equal(await link.getAttribute('href'), '/own-sign-in')
  await page.locator('carillon-inbox').evaluate((inbox) => inbox.removeAttribute('sign-in-url'))
  const expected = `${service.url}/sign-in?return_to=${encodeURIComponent(page.url())}`
  await page.locator(`[part=sign-in][href="${expected}"]`).waitFor()
  await pages.signIn(user)
  await page.evaluate(() => dispatchEvent(new Event('focus')))
  await page.getByRole('article').waitFor()
})

test('without a connection the element says so, keeps its list, and recovers', async () => {
  const user = await pages.userWith(1)
  const page = await pages.open('')
  // The element sends it when the stream is open. A stream that opens after the loss of the network
  // would set the state to live.
  const seen = page.waitForResponse(/\/notifications\/seen$/)
  await page.evaluate(() => document.body.append(document.createElement('carillon-inbox')))
  await page.getByRole('article').waitFor()
  await seen
  await pages.browser.context.setOffline(true)
  await page.getByText('No connection').waitFor()
  assert.equal(await page.getByRole('article').count(), 1)
  await pages.browser.context.setOffline(false)
  await service.deliver({ to: user, title: 'Back' })
  await page.getByText('Back', { exact: true }).waitFor()
  await page.getByText('No connection').waitFor({ state: 'detached' })
})

test('a page with its own users: signed out without a request and without an error, signed in, and signed out again', async () => {
  await pages.userWith(0)
  const user = await service.user()
  await service.deliver({ to: user, title: 'Of the shop' })
  const { authorization = '' } = await service.issueToken(user)
  const page = await pages.open('')
  const requests = requestsOf(page)
  await page.evaluate(() => {
    const shop: { token: string | null } = { token: null }
    const bell = document.createElement('carillon-bell')
    const inbox = document.createElement('carillon-inbox')
    bell.auth = inbox.auth = async () => shop.token
    inbox.setAttribute('sign-in-url', '/sign-in')
    Object.assign(globalThis, { shop })
    document.body.append(bell, inbox)
  })
  const link = page.getByRole('link', { name: 'Sign in' })
  await link.waitFor()
  assert.equal(await link.getAttribute('href'), '/sign-in')
  await page.getByText('You are signed out').waitFor()
  assert.equal(await page.locator('[part=error],[part=offline],[part=mark-all]').count(), 0)
  const bell = page.locator('carillon-bell [part=bell]')
  assert.equal(await bell.getAttribute('aria-label'), 'Notifications')
  assert.deepEqual(requests(), [])
  await page.evaluate(
    (token) => {
      Object.assign((globalThis as unknown as { shop: object }).shop, { token })
      dispatchEvent(new Event('focus'))
    },
    authorization.replace('Bearer ', ''),
  )
  await page.getByRole('article', { name: 'Unread Of the shop' }).waitFor()
  await page.getByRole('button', { name: 'Notifications, 1 unread' }).waitFor()
  const paths: string[] = []
  const streams = async () => {
    paths.push(...requests())
    return String(count(paths, stream))
  }
  await becomes(streams, '1')
  await page.evaluate(() => {
    Object.assign((globalThis as unknown as { shop: object }).shop, { token: null })
    document.querySelector('carillon-bell')?.signOut()
  })
  await link.waitFor()
  assert.equal(await page.getByRole('article').count(), 0)
  await page.locator('carillon-bell [part=bell][aria-label="Notifications"]').waitFor()
  await page.evaluate(() => dispatchEvent(new Event('focus')))
  await page.waitForTimeout(100)
  assert.deepEqual(requests(), [])
})

test('a function that fails is an error of the element, and the button to try again calls it again', async () => {
  await pages.userWith(1)
  const page = await pages.open('')
  await page.evaluate(() => {
    const inbox = document.createElement('carillon-inbox')
    let calls = 0
    inbox.auth = async () => {
      if (calls++) return null
      throw new Error('The token got the status 500')
    }
    document.body.append(inbox)
  })
  await page.locator('[part=error]').getByText('The server reported a problem.').waitFor()
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('link', { name: 'Sign in' }).waitFor()
})

test('a script may set `auth` before the element is defined: the page never uses the cookie', async () => {
  const user = await pages.userWith(1)
  const page = await pages.browser.context.newPage()
  const requests = requestsOf(page)
  const head =
    '<script src="/own.js" defer></script><script type="module" src="/carillon-inbox-0.js"></script>'
  await page.route('**/own.js', (route) =>
    route.fulfill({
      contentType: 'text/javascript',
      body: "document.querySelector('carillon-inbox').auth = async () => null",
    }),
  )
  await page.route('**/two-lines.html', (route) =>
    route.fulfill({
      contentType: 'text/html',
      body: `<!doctype html>${head}<carillon-inbox></carillon-inbox>`,
    }),
  )
  await page.goto(`${service.url}/two-lines.html`)
  await page.getByRole('link', { name: 'Sign in' }).waitFor()
  assert.deepEqual(requests(), [], `the cookie of ${user.username} is there`)
})

test('slots replace the header and the text of an empty list, also through the bell', async () => {
  await pages.userWith(0)
  const page = await pages.open(
    '<carillon-bell><b slot="header">News</b><i slot="empty">All quiet</i></carillon-bell><carillon-inbox></carillon-inbox>',
  )
  await page.locator('[part=bell]').click()
  await page.getByText('All quiet').waitFor()
  await page.getByText('News', { exact: true }).waitFor()
  await page.locator('body > carillon-inbox').getByText('No notifications yet').waitFor()
})

test('a bell that was never opened opens without a connection', async () => {
  await pages.userWith(1)
  const page = await pages.open('<carillon-bell></carillon-bell>')
  await page.getByRole('button', { name: 'Notifications, 1 unread' }).waitFor()
  await page.waitForLoadState('networkidle', { timeout: 1_000 }).catch(() => {})
  await pages.browser.context.setOffline(true)
  await page.locator('[part=bell]').click()
  await page.getByText('No connection').waitFor()
  await page.getByRole('article', { name: 'Unread Number 1' }).waitFor()
  await pages.browser.context.setOffline(false)
  await page.getByText('No connection').waitFor({ state: 'detached' })
})

test('renderItem makes the content of an item, and fields of a newer server reach it', async () => {
  await pages.userWith(1)
  const page = await pages.open('')
  await page.route('**/api/notifications?**', async (route) => {
    const response = await route.fetch()
    await route.fulfill({
      response,
      body: (await response.text()).replace('"items":[{', '"items":[{"mood":"glad",'),
    })
  })
  await page.evaluate(() => {
    const inbox = document.createElement('carillon-inbox')
    inbox.renderItem = (notification) => {
      const bold = document.createElement('b')
      bold.textContent = `${notification.title} is ${(notification as unknown as { mood: string }).mood}`
      return bold
    }
    document.body.append(inbox)
  })
  await page.getByRole('article', { name: 'Unread Number 1 is glad' }).waitFor()
})

test('a template in the slot "item" makes the content of each item, also through the bell', async () => {
  await pages.userWith(1)
  const template =
    '<template slot="item"><b part="mine" data-field="title"></b> <i data-field="category"></i></template>'
  const page = await pages.open(
    `<carillon-bell>${template}</carillon-bell><carillon-inbox>${template}</carillon-inbox>`,
  )
  await page.locator('[part=bell]').click()
  await page
    .locator('carillon-bell')
    .getByRole('article', { name: 'Unread Number 1' })
    .locator('b')
    .waitFor()
  await page
    .locator('body > carillon-inbox')
    .getByRole('article', { name: 'Unread Number 1' })
    .locator('b')
    .waitFor()
})
