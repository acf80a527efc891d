// <carillon-inbox> in a real browser, on a real service: what it displays, and what a click does.
import assert from 'node:assert/strict'
import { after, afterEach, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { ElementPages, hasFocus, strictPolicy } from '../../support/element-pages.ts'
import { becomes } from '../../support/pages/browser-page.ts'
import { untilSo } from '../../support/processes/nodes.ts'
import { soakTest } from '../../support/soak.ts'

const pages = await ElementPages.start()
const { service } = pages
after(() => pages[Symbol.asyncDispose]())
afterEach(async () => {
  for (const page of pages.browser.context.pages()) await page.close()
  assert.deepEqual(pages.errors.splice(0), [])
})

const body = '<carillon-inbox></carillon-inbox>'
const titles = (page: Page) => page.locator('article [part=item-title]').allTextContents()
const articles = (page: Page) => page.getByRole('article')
const markAllOf = (page: Page, disabled: boolean) =>
  page.locator(`[part=mark-all][aria-disabled=${disabled}]`)

async function shows(page: Page, expected: string[]): Promise<void> {
  await becomes(async () => JSON.stringify(await titles(page)), JSON.stringify(expected))
}

async function unreadAtService(
  user: { username: string; password: string },
  unread: number,
): Promise<void> {
  const proof = await service.signIn({ ...user }, 'stateful')
  await becomes(async () => `${(await service.list(proof)).unread}`, `${unread}`)
}

/**
 * On a busy machine Playwright misses a tab that has loaded before it watches it, so the browser is
 * asked.
 */
async function tabsAt(path: string, page: Page): Promise<() => Promise<Set<string>>> {
  const session = await page.context().newCDPSession(page)
  return async () => {
    const { targetInfos } = await session.send('Target.getTargets')
    const tabs = targetInfos.filter(
      ({ type, url }) => type === 'page' && URL.parse(url)?.pathname === path,
    )
    return new Set(tabs.map(({ targetId }) => targetId))
  }
}

test('the list is a feed of articles with a name, a description, a place and the number of all', async () => {
  const user = await pages.userWith(0)
  await service.deliver({
    to: user,
    title: 'Shipped',
    body: 'Order 4711 has left.',
    category: 'orders',
    key: 'a',
  })
  await service.deliver({
    to: user,
    title: 'Shipped',
    body: 'Order 4711 is near.',
    category: 'orders',
    key: 'a',
    renotify: true,
  })
  const page = await pages.open(body)
  const article = page
    .getByRole('feed', { name: 'Notifications' })
    .getByRole('article', { name: 'Unread Shipped' })
  await article.waitFor()
  const ids = ((await article.getAttribute('aria-describedby')) ?? '').split(' ')
  const description = await Promise.all(ids.map((id) => page.locator(`[id="${id}"]`).textContent()))
  assert.match(description.join('\n'), /Order 4711 is near\.\s+\S.*×2\s*orders/s)
  assert.deepEqual(
    await article.evaluate((one) =>
      ['aria-posinset', 'aria-setsize', 'tabindex'].map((name) => one.getAttribute(name)),
    ),
    ['1', '1', '0'],
  )
  assert.equal(await page.getByRole('feed').getAttribute('aria-busy'), 'false')
  assert.equal(await article.getByRole('img', { name: 'sent 2 times' }).textContent(), '×2')
})

soakTest(
  'a time is relative, changes as time passes, and names the absolute one in its title',
  async () => {
    await pages.userWith(1)
    const page = await pages.open(body)
    await page.clock.install({ time: new Date('2026-01-01T00:03:00Z') })
    await page.reload()
    await page.getByText('3 minutes ago').waitFor()
    const time = page.locator('time')
    assert.equal(await time.getAttribute('datetime'), '2026-01-01T00:00:00.000Z')
    assert.match((await time.getAttribute('title')) ?? '', /2026|2025/)
    await page.clock.fastForward(120_000)
    await page.getByText('5 minutes ago').waitFor()
  },
)

test('a click marks as read, fires carillon-open with the notification, and follows the link', async () => {
  const user = await pages.userWith(0)
  await service.deliver({ to: user, title: 'Shipped', url: '/orders/4711' })
  const page = await pages.open(body)
  await page.route('**/orders/4711', (route) =>
    route.fulfill({ contentType: 'text/html', body: 'order' }),
  )
  await page.exposeFunction('opened', (title: string) => heard.push(title))
  const heard: string[] = []
  await page.evaluate(() => {
    const { opened } = globalThis as unknown as { opened(title: string): void }
    document.addEventListener('carillon-open', (event) =>
      opened((event as CustomEvent<{ title: string }>).detail.title),
    )
  })
  await page.getByText('Shipped').click()
  await page.waitForURL('**/orders/4711')
  assert.deepEqual(heard, ['Shipped'])
  await unreadAtService(user, 0)
})

test('a page that cancels carillon-open handles it itself: nothing is marked, no link is followed', async () => {
  const user = await pages.userWith(0)
  await service.deliver({ to: user, title: 'Shipped', url: '/orders/4711' })
  const page = await pages.open(body)
  await page.evaluate(() =>
    document.addEventListener('carillon-open', (event) => event.preventDefault()),
  )
  await page.getByText('Shipped').click()
  await page.getByRole('article').focus()
  await page.keyboard.press('Enter')
  await page.getByRole('article', { name: 'Unread Shipped' }).waitFor()
  assert.match(page.url(), /page\.html$/)
  await unreadAtService(user, 1)
})

const inAnotherTab: Record<string, (article: Locator) => Promise<void>> = {
  'By Ctrl': (article) => article.getByText('By Ctrl').click({ modifiers: ['Control'] }),
  'By the middle': (article) => article.getByText('By the middle').click({ button: 'middle' }),
  'Beside the text': (article) => article.getByText('Order').click({ modifiers: ['Control'] }),
  'By Enter': (article) => article.press('Control+Enter'),
}

// Fails in Firefox: Playwright sees no tab that such a click opens.
test('a click with Ctrl, a middle click and Ctrl+Enter open the link in another tab, mark as read and keep the page, also if the page cancels carillon-open', async () => {
  const user = await pages.userWith(0)
  for (const title of Object.keys(inAnotherTab))
    await service.deliver({ to: user, title, body: 'Order', url: '/livez' })
  const page = await pages.open(body)
  await page.evaluate(() =>
    document.addEventListener('carillon-open', (event) => event.preventDefault()),
  )
  const tabs = await tabsAt('/livez', page)
  for (const [title, act] of Object.entries(inAnotherTab)) {
    const before = await tabs()
    await act(page.getByRole('article', { name: `Unread ${title}` }))
    // A tab of an earlier test may be closing, so their number proves nothing.
    await untilSo(async () => !(await tabs()).isSubsetOf(before), 20_000)
    await page.bringToFront()
    await page.getByRole('article', { name: title, exact: true }).waitFor()
  }
  assert.match(page.url(), /page\.html$/)
  await unreadAtService(user, 0)
})

test('a link that is neither http, https nor a path is inert (C9)', async () => {
  await pages.userWith(1)
  const page = await pages.open(body)
  await page.route('**/api/notifications?**', async (route) => {
    const response = await route.fetch()
    const text = (await response.text()).replaceAll('"url":null', '"url":"javascript:alert(1)"')
    await route.fulfill({ response, body: text })
  })
  await page.reload()
  const title = page.getByText('Number 1')
  await title.waitFor()
  assert.equal(await title.getAttribute('href'), null)
  page.on('dialog', () => pages.errors.push('a dialog'))
  await title.click()
  await page.getByRole('article', { name: 'Number 1', exact: true }).waitFor()
})

test('a notification of high priority has a mark with a name', async () => {
  const user = await pages.userWith(1)
  await service.deliver({ to: user, title: 'Number 2', priority: 'high' })
  const page = await pages.open(body)
  await page
    .getByRole('article', { name: 'Number 2' })
    .getByRole('img', { name: 'Important' })
    .waitFor()
  assert.equal(await page.getByRole('img', { name: 'Important' }).count(), 1)
})

test('every button, tab and link is a target of at least 24 px', async () => {
  await pages.userWith(21)
  const page = await pages.open(body)
  await articles(page).first().waitFor()
  const sizes = await page.locator('carillon-inbox').evaluate((inbox) =>
    [...(inbox.shadowRoot?.querySelectorAll('button:not([part=item-unfold]), a') ?? [])].map(
      (target) => {
        const { width, height } = target.getBoundingClientRect()
        return { name: target.getAttribute('part'), least: Math.min(width, height) }
      },
    ),
  )
  assert.ok(sizes.length >= 43, `${sizes.length} targets`)
  assert.deepEqual(
    sizes.filter(({ least }) => least < 24),
    [],
  )
})

test('"Mark all as read" can be undone', async () => {
  const user = await pages.userWith(3)
  const page = await pages.open(body)
  await page.getByRole('button', { name: 'Mark all as read' }).click()
  await unreadAtService(user, 0)
  await page.getByRole('status').getByText('All marked as read').waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('article', { name: 'Unread Number 3' }).waitFor()
  await unreadAtService(user, 3)
  await page.getByRole('button', { name: 'Undo' }).waitFor({ state: 'detached' })
  await hasFocus(page, 'mark-all')
})

test('what a reader reads, archives, snoozes, deletes or puts back is so at the service, in its place and state', async () => {
  const user = await pages.userWith(4)
  const proof = await service.signIn(user, 'stateful')
  const page = await pages.open(body)
  const item = (title: string) => page.getByRole('article', { name: title })
  const at = async (query: string) =>
    (await service.list(proof, query)).items
      .map(({ title, read }) => `${title}${read ? '' : ' unread'}`)
      .join(', ')
  const isAt = async (expected: string) =>
    untilSo(
      async () =>
        [await at(''), await at('?status=archived'), await at('?status=snoozed')].join(' | ') ===
        expected,
    )
  await item('Number 4').getByRole('button', { name: 'Archive' }).click()
  await isAt('Number 3 unread, Number 2 unread, Number 1 unread | Number 4 | ')
  await page.getByRole('status').getByText('Archived. Undo').first().waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await isAt('Number 4 unread, Number 3 unread, Number 2 unread, Number 1 unread |  | ')
  await item('Number 3').getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Snooze for an hour' }).click()
  await isAt('Number 4 unread, Number 2 unread, Number 1 unread |  | Number 3')
  await page.getByRole('button', { name: 'Undo' }).click()
  await isAt('Number 4 unread, Number 3 unread, Number 2 unread, Number 1 unread |  | ')
  await item('Number 2').press('Delete')
  await page.getByRole('menuitem', { name: 'Delete for good' }).click()
  await isAt('Number 4 unread, Number 3 unread, Number 1 unread |  | ')
  await item('Number 4').getByRole('button', { name: 'Mark as read' }).click()
  await isAt('Number 4, Number 3 unread, Number 1 unread |  | ')
  await item('Number 4').getByRole('button', { name: 'Mark as unread' }).click()
  await isAt('Number 4 unread, Number 3 unread, Number 1 unread |  | ')
  await item('Number 4').getByRole('button', { name: 'Mark as read' }).click()
  await page.getByRole('button', { name: 'More' }).first().click()
  await page.getByRole('menuitem', { name: 'Archive all read' }).click()
  await isAt('Number 3 unread, Number 1 unread | Number 4 | ')
  await page.getByRole('tab', { name: 'Archived' }).click()
  await item('Number 4').getByRole('button', { name: 'Move to inbox' }).click()
  await isAt('Number 4, Number 3 unread, Number 1 unread |  | ')
  await page.getByText('Nothing is archived').waitFor()
})

test('an item shows what the sender gave, in the language of the user, and its category can be muted from its menu, which is undone', async () => {
  const user = await pages.userWith(0)
  const { key } = await service.producerKey()
  const label = { name: { en: 'Builds', de: 'Läufe' }, description: null, mandatory: false }
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const declared = { method: 'PUT', headers, body: JSON.stringify(label) }
  assert.equal((await service.request('/api/categories/builds', declared)).status, 204)
  await service.deliver({
    to: user,
    title: 'Build failed',
    body: 'See **main**',
    category: 'builds',
    actor: { name: 'Ben', imageUrl: '/faces/ben.png' },
    icon: 'error',
    actions: [{ label: 'Run again', url: '/builds/7/run' }],
    format: 'markdown',
  })
  const page = await pages.open(body, { policy: `${strictPolicy}; img-src 'self'` })
  await page.route('**/faces/ben.png', (route) =>
    route.fulfill({ contentType: 'image/png', body: '' }),
  )
  const item = page.getByRole('article', { name: 'Unread Build failed' })
  await item.locator('[part=item-category]').getByText('Builds', { exact: true }).waitFor()
  await item.getByRole('link', { name: 'Run again' }).waitFor()
  assert.equal(await item.locator('strong').textContent(), 'main')
  assert.equal(await item.locator('img').getAttribute('src'), '/faces/ben.png')
  const choose = async (name: string) => {
    await item.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: `${name} Builds`, exact: true }).click()
  }
  await choose('Mute this category')
  await page.getByText('Category muted', { exact: true }).waitFor()
  await choose('Unmute this category')
  await choose('Mute this category')
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('status').getByText('Undone').first().waitFor()
  await choose('Mute this category')
  await page.getByText('Category muted', { exact: true }).waitFor()
  const proof = await service.signIn(user, 'stateful')
  const isMuted = (expected: 'forever' | null) =>
    untilSo(async () => {
      const { data } = (await service.get('/api/me/preferences', proof)).json()
      return data.categories.builds.mutedUntil === expected
    })
  await isMuted('forever')
  const path = '**/api/me/preferences'
  await page.route(path, (route) =>
    route.request().method() === 'PUT' ? route.abort() : route.fallback(),
  )
  await choose('Unmute this category')
  await page.getByRole('status').getByText('That was not done.').first().waitFor()
  await page.unroute(path)
  await choose('Unmute this category')
  await isMuted(null)
  await choose('Mute this category')
  await isMuted('forever')
  await service.deliver({ to: user, title: 'Another build', category: 'builds' })
  await page.getByRole('tab', { name: 'Archived' }).click()
  await shows(page, ['Another build'])
  assert.equal(await page.getByRole('tab', { name: 'Unread' }).textContent(), 'Unread 1')
})

soakTest(
  '"Mark all as read" below a category is there for what the category has, and marks what waits behind a button too',
  async () => {
    const user = await pages.userWith(1)
    const deliver = (title: string) => service.deliver({ to: user, title, category: 'orders' })
    await deliver('An order')
    const page = await pages.open('<carillon-inbox category="orders"></carillon-inbox>')
    const markAll = (disabled: boolean) => markAllOf(page, disabled)
    await markAll(false).click()
    await markAll(true).waitFor()
    await unreadAtService(user, 1)
    await page.getByRole('button', { name: 'Undo' }).waitFor()
    await page.reload()
    await page.getByRole('article', { name: 'An order' }).focus()
    await markAll(true).click({ force: true })
    assert.equal(await page.getByRole('button', { name: 'Undo' }).count(), 0)
    await articles(page).focus()
    await deliver('Late')
    await page.getByRole('button', { name: '1 new' }).waitFor()
    await markAll(false).click()
    await shows(page, ['Late', 'An order'])
    await unreadAtService(user, 1)
    await markAll(true).waitFor()
  },
)

soakTest(
  'below a category, the tab "Unread" finds an older one to mark, and the other tab marks it too',
  async () => {
    const user = await pages.userWith(0)
    const deliver = () => service.deliver({ to: user, title: 'An order', category: 'orders' })
    const [oldest] = await deliver()
    for (let count = 0; count < 40; count++) await deliver()
    const page = await pages.open('<carillon-inbox category="orders"></carillon-inbox>')
    await markAllOf(page, false).click()
    await unreadAtService(user, 0)
    await page.evaluate(
      (id) => fetch(`/api/notifications/${id}/unread`, { method: 'PATCH' }),
      oldest,
    )
    await page.reload()
    await articles(page).nth(19).waitFor()
    await markAllOf(page, true).waitFor()
    await page.getByRole('tab', { name: 'Unread' }).click()
    await page.getByRole('article', { name: 'Unread An order' }).waitFor()
    await page.getByRole('tab', { name: 'Inbox' }).click()
    await articles(page).nth(19).waitFor()
    await markAllOf(page, false).click()
    await unreadAtService(user, 0)
  },
)

soakTest('the offer to undo ends after ten seconds, but not while it has the focus', async () => {
  await pages.userWith(3)
  const page = await pages.open(body)
  await page.clock.install()
  await page.reload()
  const undo = page.getByRole('button', { name: 'Undo' })
  await page.getByRole('button', { name: 'Mark all as read' }).click()
  await undo.focus()
  await page.clock.fastForward(15_000)
  await page.waitForTimeout(100)
  assert.equal(await undo.isVisible(), true)
  await page.getByRole('tab', { name: 'Inbox' }).focus()
  await undo.waitFor({ state: 'detached' })
})

test('a refused act is taken back, and the reason is displayed, and announced with its title', async () => {
  await pages.userWith(1)
  const page = await pages.open(body)
  await page.route('**/read', (route) =>
    route.fulfill({
      status: 403,
      json: { success: false, error: { code: 'FORBIDDEN', message: 'no' } },
    }),
  )
  await articles(page).getByRole('button', { name: 'Mark as read' }).click()
  const reason = 'Not marked as read. You do not have access.'
  await page.locator('[part=error]').getByText(reason).waitFor()
  await page.getByRole('status').getByText(reason).waitFor()
  await page.getByRole('article', { name: 'Unread Number 1' }).waitFor()
})

soakTest('the report of a lost connection moves no item', async (t) => {
  await pages.userWith(30)
  const page = await pages.open('<carillon-bell></carillon-bell>')
  await page.locator('[part=bell]').click()
  await articles(page).nth(2).focus()
  const top = async () => (await articles(page).nth(2).boundingBox())?.y ?? 0
  const before = await top()
  await pages.browser.context.setOffline(true)
  t.after(() => pages.browser.context.setOffline(false))
  await page.getByText('No connection').waitFor()
  // The panel may still have been fading in, from a few pixels above.
  const moved = (await top()) - before
  assert.ok(Math.abs(moved) < 8, `moved by ${moved} px`)
})

test('the tab "Unread" lists what is unread, and says so if everything is read', async () => {
  await pages.userWith(2)
  const page = await pages.open(body)
  await articles(page).first().getByRole('button', { name: 'Mark as read' }).click()
  await page.getByRole('tab', { name: 'Unread' }).click()
  await shows(page, ['Number 1'])
  await articles(page).getByRole('button', { name: 'Mark as read' }).click()
  await page.getByText('You have read everything').waitFor()
  await page.getByRole('tab', { name: 'Inbox' }).click()
  await shows(page, ['Number 2', 'Number 1'])
})

soakTest('"Load more" loads the next page and says how many', async () => {
  await pages.userWith(30)
  const page = await pages.open(body)
  await page.getByRole('button', { name: 'Load more' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('status').getByText('10 more notifications').waitFor()
  await articles(page).nth(29).waitFor()
  assert.equal(await articles(page).count(), 30)
  // The button has disappeared: the first new item has the focus.
  await hasFocus(page, 'Number 10')
})

test('the next page is loaded when the end of the list comes into view', async () => {
  await pages.userWith(60)
  const page = await pages.open(body)
  // The end is below the window and its margin until the reader scrolls.
  await page.setViewportSize({ width: 800, height: 300 })
  await articles(page).nth(19).waitFor()
  while ((await articles(page).count()) < 60) {
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight))
    await page.waitForTimeout(100)
  }
  assert.deepEqual(
    await articles(page).evaluateAll((all) => all.map((one) => one.getAttribute('aria-posinset'))),
    Array.from({ length: 60 }, (_, index) => `${index + 1}`),
  )
  assert.equal(await page.getByRole('button', { name: 'Load more' }).count(), 0)
})

test('a window that is taller than the first page gets the next one, however late the first arrives', async () => {
  await pages.userWith(60)
  const page = await pages.open('')
  await page.setViewportSize({ width: 800, height: 2_000 })
  const first = Promise.withResolvers<void>()
  await page.route('**/api/notifications?**', async (route) => {
    await first.promise
    await route.continue()
  })
  await page.evaluate(() => document.body.append(document.createElement('carillon-inbox')))
  await page.locator('[part=loading]').waitFor()
  // Meanwhile the end of the empty list is reported.
  await page.waitForTimeout(400)
  first.resolve()
  await articles(page).nth(20).waitFor()
})

test('a list that moves down while the page loads is not taken for a scrolled one: what arrives is displayed', async () => {
  const user = await pages.userWith(1)
  const page = await pages.open('<main></main>')
  await page.evaluate(() => {
    const above = document.body.firstElementChild as HTMLElement
    above.style.height = '2000px'
    // What an entry says is older than this move.
    const moving =
      (observe: IntersectionObserverCallback): IntersectionObserverCallback =>
      (entries, observer) => {
        above.style.height = '3000px'
        observe(entries, observer)
      }
    window.IntersectionObserver = class extends IntersectionObserver {
      constructor(observe: IntersectionObserverCallback, options?: IntersectionObserverInit) {
        super(moving(observe), options)
      }
    }
    document.body.append(document.createElement('carillon-inbox'))
  })
  await page.getByRole('article', { name: 'Number 1' }).waitFor()
  await page.waitForFunction(() => document.body.clientHeight > 3000)
  await service.deliver({ to: user, title: 'Another' })
  await page.getByRole('article', { name: 'Another' }).waitFor()
})

for (const isPart of [false, true])
  test(`what arrives is displayed in a list below what is visible, and waits in one that a jump has passed: ${isPart ? 'a part of the page' : 'the page'} scrolls`, async () => {
    const user = await pages.userWith(1)
    const page = await pages.open(`<header>Orders</header><main><p></p>${body}<p></p></main>`)
    await page.getByRole('article', { name: 'Number 1' }).waitFor()
    const jump = (y: number) =>
      page.evaluate(
        async ([part, to]) => {
          for (const room of document.querySelectorAll('p')) room.style.height = '3000px'
          const main = document.querySelector('main') as HTMLElement
          if (part) Object.assign(main.style, { height: '400px', overflow: 'auto' })
          const scrolled = part ? main : document.documentElement
          scrolled.scrollTop = to
          // The element reads the place of the list in the next frame.
          for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame)
        },
        [isPart, y] as const,
      )
    await jump(9_999)
    await jump(0)
    await service.deliver({ to: user, title: 'Below' })
    await page.getByRole('article', { name: 'Below' }).waitFor()
    await jump(9_999)
    await service.deliver({ to: user, title: 'Passed' })
    await page.getByRole('button', { name: '1 new' }).waitFor()
    assert.deepEqual(await titles(page), ['Below', 'Number 1'])
  })

test('while the pointer is at a button of an item, what arrives waits', async () => {
  const user = await pages.userWith(2)
  const page = await pages.open(body)
  const item = page.getByRole('article', { name: 'Number 2' })
  await item.getByRole('button', { name: 'Archive' }).hover()
  await service.deliver({ to: user, title: 'Late' })
  await page.getByRole('button', { name: '1 new' }).waitFor()
  assert.deepEqual(await titles(page), ['Number 2', 'Number 1'])
})

test('while the menu of an item is open, what arrives waits and the menu stays in its place; it closes if the item leaves the list', async () => {
  const user = await pages.userWith(2)
  const [id = ''] = await service.deliver({ to: user, title: 'Tea' })
  const page = await pages.open(body)
  await page.getByRole('article', { name: 'Tea' }).hover()
  await page.getByRole('article', { name: 'Tea' }).getByRole('button', { name: 'More' }).click()
  const menu = page.getByRole('menu')
  const place = await menu.boundingBox()
  await service.deliver({ to: user, title: 'Late' })
  await page.getByRole('button', { name: '1 new' }).waitFor()
  assert.deepEqual(await menu.boundingBox(), place)
  const headers = await service.signIn(user, 'stateful')
  await service.request(`/api/notifications/${id}/archive`, { method: 'PATCH', headers })
  await menu.waitFor({ state: 'hidden' })
})

test('an offer to undo ends with an act in another element of the page, which an undo would take back', async () => {
  await pages.userWith(2)
  const page = await pages.open(body + body)
  const [one, other] = [0, 1].map((at) => page.locator('carillon-inbox').nth(at))
  const archive = async (inbox: Locator | undefined, title: string) => {
    await inbox?.getByRole('article', { name: title }).hover()
    await inbox
      ?.getByRole('article', { name: title })
      .getByRole('button', { name: 'Archive' })
      .click()
  }
  await archive(one, 'Number 2')
  await one?.getByRole('button', { name: 'Undo' }).waitFor()
  await archive(other, 'Number 1')
  await other?.getByRole('button', { name: 'Undo' }).waitFor()
  assert.equal(await one?.getByRole('button', { name: 'Undo' }).count(), 0)
})

test('the sheet of preferences opens at once, and one that was closed before they arrive stays closed', async () => {
  await pages.userWith(1)
  const page = await pages.open(body)
  await articles(page).waitFor()
  const arrived = Promise.withResolvers<void>()
  await page.route('**/api/me/preferences', async (route) => {
    await arrived.promise
    await route.continue()
  })
  await page.locator('[part=list-more]').click()
  await page.getByRole('menuitem', { name: 'Notification settings' }).click()
  const sheet = page.getByRole('dialog')
  await sheet.getByText('Loading notifications').waitFor()
  await page.keyboard.press('Escape')
  await sheet.waitFor({ state: 'hidden' })
  arrived.resolve()
  await page.locator('[part=preferences-table]').waitFor({ state: 'attached' })
  assert.equal(await sheet.count(), 0)
  await page.locator('[part=list-more]').click()
  await page.getByRole('menuitem', { name: 'Notification settings' }).click()
  await page.locator('[part=preferences] select:focus').first().waitFor()
})

test('on the way from one item to another, the list stays held', async () => {
  await pages.userWith(3)
  const page = await pages.open(body)
  await articles(page).nth(2).waitFor()
  await page.locator('carillon-inbox').evaluate((inbox) => {
    const { source } = inbox as HTMLElementTagNameMap['carillon-inbox']
    const list = source.list('inbox') as NonNullable<ReturnType<typeof source.list>>
    const held: boolean[] = []
    Object.assign(window, { held })
    list.hold = (isHeld) => void held.push(isHeld)
  })
  for (const key of ['j', 'j', 'k']) await page.keyboard.press(key)
  await hasFocus(page, 'Number 3')
  assert.deepEqual(await page.evaluate(() => (window as unknown as { held: boolean[] }).held), [
    true,
  ])
})

test('what arrives while the reader has scrolled waits behind a button, and moves nothing', async () => {
  const user = await pages.userWith(15)
  const page = await pages.open(body)
  await page.setViewportSize({ width: 800, height: 300 })
  await articles(page).nth(14).waitFor()
  await page.mouse.wheel(0, 300)
  await page.waitForFunction(() => scrollY >= 300)
  // The element reads the place of the list in the next frame.
  await page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
  )
  const before = await page.getByText('Number 9').boundingBox()
  await service.deliver({ to: user, title: 'Late 1' })
  await service.deliver({ to: user, title: 'Late 2' })
  const newer = page.getByRole('button', { name: '2 new' })
  await newer.waitFor()
  assert.equal((await titles(page))[0], 'Number 15')
  const now = await page.getByText('Number 9').boundingBox()
  assert.ok(Math.abs((now?.y ?? 0) - (before?.y ?? 0)) < 1, `${now?.y}, before ${before?.y}`)
  await newer.click()
  await page.getByText('Late 2', { exact: true }).waitFor()
  assert.deepEqual((await titles(page)).slice(0, 3), ['Late 2', 'Late 1', 'Number 15'])
  await hasFocus(page, 'Late 2')
})

test('arrivals that come fast are inserted together, at most every 300 ms, however long one takes, and none is lost', async () => {
  const user = await pages.userWith(1)
  const page = await pages.open(body)
  await shows(page, ['Number 1'])
  await page.evaluate(() => {
    const inbox = document.querySelector(
      'carillon-inbox',
    ) as HTMLElementTagNameMap['carillon-inbox']
    inbox.renderItem = ({ title }) => {
      const until = performance.now() + 5
      let now = 0
      while (now < until) now = performance.now()
      return new Text(title)
    }
    const feed = inbox.shadowRoot?.querySelector('[part=feed]') as Element
    const times: number[] = []
    new MutationObserver((changes) => {
      if (changes.some(({ addedNodes }) => addedNodes.length > 0)) times.push(performance.now())
    }).observe(feed, { childList: true })
    Object.assign(window, { times })
  })
  for (let number = 1; number <= 100; number++)
    await service.deliver({ to: user, title: `Fast ${number}` })
  await page.getByText('Fast 100', { exact: true }).waitFor()
  const times = await page.evaluate(() => (window as unknown as { times: number[] }).times)
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0))
  assert.ok(
    gaps.every((gap) => gap > 290),
    gaps.join(),
  )
  assert.equal(await page.getByRole('tab', { name: 'Inbox' }).textContent(), 'Inbox 99+')
})

test('what arrives while the reader is at the top is displayed, and announced with its title', async () => {
  const user = await pages.userWith(1)
  const page = await pages.open(body)
  await shows(page, ['Number 1'])
  await service.deliver({ to: user, title: 'Another' })
  await shows(page, ['Another', 'Number 1'])
  await page.getByRole('status').getByText('1 new notification: Another').waitFor()
})
