// What an item displays, and what a reader does with it by mouse, keyboard and touch, in the
// gallery, whose inbox does what the client does.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { hasFocus } from '../../support/element-pages.ts'
import { Gallery, type Look, openBell } from '../../support/gallery.ts'
import { becomes } from '../../support/pages/browser-page.ts'

const gallery = await Gallery.start()
after(() => gallery[Symbol.asyncDispose]())

const first = 'Ada Okafor mentioned you'
const second = 'Deploy to production failed'
const third = 'Your invoice for November is ready'

async function opened(
  look: Look,
): Promise<{ page: Page; inbox: Locator; item(title: string): Locator }> {
  const page = await gallery.open({ height: 900, ...look })
  const inbox = page.locator('section carillon-inbox')
  return { page, inbox, item: (title) => inbox.getByRole('article', { name: title }) }
}

const tabNames = async (inbox: Locator) =>
  (await inbox.getByRole('tab').allTextContents())
    .map((text) => text.replace(/\s+/g, ' ').trim())
    .join(', ')
const hasTabs = (inbox: Locator, names: string) => becomes(() => tabNames(inbox), names)

test('a popover that the application puts into an item keeps the look of the browser', async () => {
  const { page, inbox } = await opened({ state: 'many' })
  await inbox.evaluate((element: HTMLElementTagNameMap['carillon-inbox']) => {
    element.renderItem = ({ title }) => {
      const one = document.createElement('div')
      one.popover = 'auto'
      one.textContent = `About ${title}`
      return one
    }
  })
  const popover = inbox.getByText(`About ${first}`)
  await popover.evaluate((one: HTMLElement) => one.showPopover())
  const { x = 0, width = 0 } = (await popover.boundingBox()) ?? {}
  assert.ok(
    Math.abs(x + width / 2 - (page.viewportSize()?.width ?? 0) / 2) < 1,
    'the popover is not in the middle',
  )
})

test('an item shows who did it with an image that is requested without a referrer, or an icon', async () => {
  const { page, item } = await opened({ state: 'many' })
  const image = item(first).locator('img')
  assert.deepEqual(
    await image.evaluate((one: HTMLImageElement) => [
      one.alt,
      one.referrerPolicy,
      new URL(one.src).pathname,
    ]),
    ['', 'no-referrer', '/ada-okafor.svg'],
  )
  assert.equal(await item(first).locator('[part=item-actor]').textContent(), 'Ada Okafor')
  assert.equal(await item(second).locator('[part=item-look] path').count(), 1)
  assert.equal(await item('Welcome to Harbour').locator('[part=item-look]').textContent(), 'H')
  assert.equal(await item('Your invoice').locator('img').count(), 0)
  await page.close()
})

test('days have headings: today, yesterday, then the date', async () => {
  const { page, inbox } = await opened({ state: 'many' })
  const order = await inbox
    .locator('[part=feed] > *')
    .evaluateAll((all) =>
      all.map((one) => (one.localName === 'article' ? '-' : one.textContent)).join(' '),
    )
  assert.equal(order, 'Today - - - - Yesterday - Friday, November 20 - Thursday, November 19 -')
  await page.close()
})

test('a body in markdown has bold text, code and links; a click on one marks as read and tells the page where it leads', async () => {
  const { page, item } = await opened({ state: 'many' })
  const body = item(second).locator('[part=item-body]')
  assert.equal(
    await body.textContent(),
    'The health check of web-3 timed out. The previous version is still running.',
  )
  assert.deepEqual(
    await body.evaluate((one) =>
      [...one.children].map(({ localName, textContent }) => `${localName} ${textContent}`),
    ),
    ['code web-3', 'strong timed out', 'a still running'],
  )
  assert.equal(await body.locator('a').getAttribute('rel'), 'noopener')
  const url = page.evaluate(
    () =>
      new Promise((resolve) => {
        document.addEventListener('carillon-open', (event) => {
          event.preventDefault()
          resolve((event as CustomEvent<{ url: string }>).detail.url)
        })
      }),
  )
  await body.locator('a').click()
  assert.equal(await url, '/?state=many')
  await page.close()
})

test('with the keyboard alone: j, k and arrows move, e archives, z undoes, u marks as read, # deletes after a question, s snoozes, Enter opens', async () => {
  const { page, inbox, item } = await opened({ state: 'many' })
  const { keyboard } = page
  await item(first).waitFor()
  // Nothing has the focus.
  for (const [key, title] of [
    ['j', first],
    ['j', second],
    ['k', first],
    ['ArrowDown', second],
    ['ArrowDown', third],
    ['ArrowUp', second],
  ] as const) {
    await keyboard.press(key)
    await hasFocus(page, title)
  }
  await keyboard.press('e')
  await item(second).waitFor({ state: 'detached' })
  await hasFocus(page, third)
  await keyboard.press('z')
  await item(`Unread ${second}`).waitFor()
  await hasFocus(page, third)
  await keyboard.press('u')
  await inbox.getByRole('article', { name: third, exact: true }).waitFor()
  await keyboard.press('#')
  await inbox.getByRole('menu', { name: 'Delete' }).waitFor()
  await keyboard.press('Escape')
  await hasFocus(page, 'item-more')
  await keyboard.press('#')
  await hasFocus(page, 'menu-item menu-item-final')
  await keyboard.press('Enter')
  await item(third).waitFor({ state: 'detached' })
  await hasFocus(page, 'Jonas Weber joined the team')
  await page.evaluate(() =>
    document.addEventListener('carillon-open', (event) => {
      event.preventDefault()
      document.title = (event as CustomEvent<{ title: string }>).detail.title
    }),
  )
  await keyboard.press('Enter')
  await becomes(() => page.title(), 'Jonas Weber joined the team')
  await keyboard.press('k')
  await keyboard.press('s')
  await inbox.getByRole('menu', { name: 'Snooze' }).waitFor()
  await keyboard.press('Enter')
  await item(second).waitFor({ state: 'detached' })
  await hasFocus(page, 'Jonas Weber joined the team')
  await page.close()
})

test('the menu of an item is walked by arrow keys; snoozed ones leave the list, and are behind the menu of the list', async () => {
  const { page, inbox, item } = await opened({ state: 'many' })
  const more = item(first).getByRole('button', { name: 'More' })
  await item(first).focus()
  await page.keyboard.press('.')
  await inbox.getByRole('menu', { name: 'More' }).waitFor()
  assert.equal(await more.getAttribute('aria-expanded'), 'true')
  const labels = await inbox
    .getByRole('menuitem')
    .evaluateAll((all) => all.map((one) => one.children[0]?.textContent))
  assert.deepEqual(labels, ['Snooze for an hour', 'Snooze until tomorrow', 'Delete'])
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Enter')
  await item(first).waitFor({ state: 'detached' })
  await hasFocus(page, second)
  await inbox.locator('[part=header]').getByRole('button', { name: 'More' }).click()
  await inbox.getByRole('menuitem', { name: 'Snoozed' }).click()
  await item(first).locator('[part=item-until]').getByText('Until Mon').waitFor()
  await hasTabs(inbox, 'Inbox 6, Unread 2, Archived, Snoozed 1')
  await hasFocus(page, 'snoozed')
  await page.close()
})

test('a body or title that is cut can be displayed whole, and a body that has room cannot', async () => {
  const { page, inbox } = await opened({ state: 'long', width: 700 })
  const item = inbox.getByRole('article').nth(1)
  const height = async () => (await item.boundingBox())?.height ?? 0
  const before = await height()
  assert.ok(before < 90, `${before} px`)
  await item.getByRole('button', { name: 'Show all' }).click()
  await item.getByRole('button', { name: 'Show all' }).waitFor({ state: 'hidden' })
  assert.ok((await height()) > 500)
  assert.equal(await item.evaluate((one) => one.matches(':focus')), true)
  await page.close()
  const short = await opened({ state: 'many' })
  assert.equal(await short.item('Jonas Weber').getByRole('button', { name: 'Show all' }).count(), 0)
  await short.page.close()
})

test('? lists the keys, which can be turned off on this device; each control names its key', async () => {
  const { page, inbox, item } = await opened({ state: 'many' })
  await item(first).waitFor()
  const titles = await item(first)
    .getByRole('button')
    .evaluateAll((buttons) => buttons.map((button) => button.getAttribute('title')))
  assert.deepEqual(titles.filter(Boolean), ['Mark as read (u)', 'Archive (e)', 'More (.)'])
  const sheet = inbox.getByRole('menu', { name: 'Keyboard shortcuts' })
  await page.keyboard.press('?')
  await sheet.waitFor()
  await becomes(
    async () => (await sheet.locator('[part=menu-detail]').allTextContents()).join('|'),
    'j ↓|k ↑|Enter|e|u|s|#|z|.|',
  )
  await sheet.getByRole('menuitem', { name: 'Turn off single keys' }).click()
  await inbox.getByRole('tab', { name: 'Inbox' }).focus()
  await page.keyboard.press('j')
  await hasFocus(page, 'inbox')
  await inbox.locator('[part=list-more]').click()
  await inbox.getByRole('menuitem', { name: 'Keyboard shortcuts' }).click()
  await sheet.getByRole('menuitem', { name: 'Turn on single keys' }).click()
  await page.keyboard.press('j')
  await hasFocus(page, first)
  await page.close()
})

test('no key is taken while the reader types, and none by a bell whose panel has not the focus', async () => {
  const { page, item } = await opened({ state: 'many' })
  await item(first).waitFor()
  await page.evaluate(() => document.body.append(document.createElement('input')))
  await page.locator('input').pressSequentially('jkeus#z?')
  assert.equal(await page.locator('input').inputValue(), 'jkeus#z?')
  assert.equal(await page.locator('section').getByRole('article').count(), 7)
  // A dialog of the page is open, and a click on its text has left the focus nowhere.
  await page.evaluate(() => {
    const dialog = document.body.appendChild(document.createElement('dialog'))
    dialog.showModal()
    ;(document.activeElement as HTMLElement).blur()
  })
  await page.keyboard.press('?')
  assert.equal(await page.getByRole('menuitem').count(), 0)
  await page.close()
  const withBell = await gallery.open({ state: 'bell', width: 880, height: 760 })
  await openBell(withBell)
  await withBell.evaluate(() => {
    const button = document.createElement('button')
    button.textContent = 'Beside'
    document.body.append(button)
    button.focus()
  })
  await withBell.keyboard.press('j')
  await hasFocus(withBell, 'button')
  await withBell.locator('carillon-bell').getByRole('tab', { name: 'Inbox' }).focus()
  await withBell.keyboard.press('j')
  await hasFocus(withBell, first)
  await withBell.close()
})

test('a second click on the button of a menu closes it, and a click on that of another item opens that one', async () => {
  const { page, inbox, item } = await opened({ state: 'many' })
  const more = (title: string) => item(title).getByRole('button', { name: 'More' })
  await more(first).click()
  await inbox.getByRole('menu').waitFor()
  await more(first).click()
  await inbox.getByRole('menu').waitFor({ state: 'hidden' })
  await becomes(async () => (await more(first).getAttribute('aria-expanded')) ?? '', 'false')
  await more(first).click()
  await inbox.getByRole('menu').waitFor()
  await item('Jonas Weber').getByRole('button', { name: 'More' }).click()
  await becomes(async () => (await more('Jonas Weber').getAttribute('aria-expanded')) ?? '', 'true')
  assert.equal(await more(first).getAttribute('aria-expanded'), 'false')
  // A click elsewhere closes it, and the next key opens it again.
  await inbox.getByText('Yesterday', { exact: true }).click()
  await inbox.getByRole('menu').waitFor({ state: 'hidden' })
  await item('Jonas Weber').press('.')
  await inbox.getByRole('menu').waitFor()
  await page.close()
})

test('in the panel of a bell, Escape closes the menu before the panel, and an entry leaves the panel open', async () => {
  const page = await gallery.open({ state: 'bell', width: 880, height: 760 })
  await openBell(page)
  const bell = page.locator('carillon-bell')
  const panel = page.getByRole('dialog')
  await bell.getByRole('article', { name: first }).press('.')
  await hasFocus(page, 'menu-item')
  await page.keyboard.press('Escape')
  await hasFocus(page, 'item-more')
  await page.keyboard.press('Enter')
  await bell.getByRole('menuitem', { name: 'Snooze for an hour' }).click()
  await hasFocus(page, second)
  assert.ok(await panel.isVisible())
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'hidden' })
  await page.close()
})

test('the sheet of preferences has a row for a category: what is in the list, what is mailed, and when', async () => {
  const { page, inbox } = await opened({ state: 'many' })
  await inbox.locator('[part=header]').getByRole('button', { name: 'More' }).click()
  await inbox.getByRole('menuitem', { name: 'Notification settings' }).click()
  const sheet = inbox.getByRole('dialog', { name: 'Notification settings' })
  const chosen = (name: string) =>
    sheet.getByLabel(name, { exact: true }).locator('option:checked').textContent()
  assert.equal(await chosen('Deploys and builds, By e-mail'), 'Default (Never)')
  await sheet.getByLabel('Deploys and builds, By e-mail').selectOption('Once a day')
  await sheet.getByLabel('Deploys and builds, Inbox').selectOption('Always muted')
  await sheet.getByLabel('Time zone').selectOption('Asia/Tokyo')
  await sheet.getByLabel('Quiet hours: nothing is sent').click()
  await becomes(() => sheet.getByLabel('From').inputValue(), '22:00')
  await becomes(() => chosen('Deploys and builds, By e-mail').then(String), 'Once a day')
  await becomes(() => chosen('Deploys and builds, Inbox').then(String), 'Always muted')
  await becomes(() => chosen('Time zone').then(String), 'Asia/Tokyo')
  await page.keyboard.press('Escape')
  await sheet.waitFor({ state: 'hidden' })
  await page.close()
})

test('an act that is refused is taken back, and the reason is announced', async () => {
  const { page, inbox, item } = await opened({ state: 'refused' })
  await item(first).getByRole('button', { name: 'Archive' }).click()
  await inbox
    .locator('[part=error]')
    .getByText('That was not done. You do not have access.')
    .waitFor()
  await item(`Unread ${first}`).waitFor()
  await inbox.locator('[part=undo]').waitFor({ state: 'detached' })
  await page.close()
})

test('under a finger, each control of an item is at least 44 px high and wide, and no text is below it', async () => {
  const context = await gallery.browser.newContext({
    hasTouch: true,
    isMobile: true,
    viewport: { width: 360, height: 800 },
  })
  const page = await gallery.open({ state: 'many', width: 360 }, context)
  const item = page.locator('section carillon-inbox').getByRole('article', { name: second })
  for (const name of ['Mark as read', 'Archive', 'More']) {
    const { width = 0, height = 0 } = (await item.getByRole('button', { name }).boundingBox()) ?? {}
    assert.ok(width >= 44 && height >= 44, `${name}: ${width} x ${height}`)
  }
  const archive = await item.getByRole('button', { name: 'Archive' }).boundingBox()
  for (const part of ['item-title', 'item-time', 'item-category', 'item-body', 'item-action']) {
    const text = await item.locator(`[part=${part}]`).last().boundingBox()
    assert.ok(text && archive)
    const isBeside = text.x + text.width <= archive.x
    const isAboveOrBelow = text.y + text.height <= archive.y || archive.y + archive.height <= text.y
    assert.ok(isBeside || isAboveOrBelow, JSON.stringify({ part, text, archive }))
  }
  await item.getByRole('button', { name: 'Archive' }).tap()
  await item.waitFor({ state: 'detached' })
  await context.close()
})

test('on a phone, "Mark all as read" is beside the title in every language, and the button of what waits has one line', async () => {
  for (const language of ['en', 'de', 'fr', 'ar']) {
    const { page, inbox } = await opened({ state: 'newer', width: 390, language })
    await inbox.getByRole('article').first().waitFor()
    const { height = 99 } = (await inbox.locator('[part=newer]').boundingBox()) ?? {}
    assert.ok(height < 32, `${language}: ${height}`)
    const [title = 0, button = 99] = await inbox.evaluate((one) =>
      ['title', 'mark-all'].map((part) => {
        const box = one.shadowRoot?.querySelector(`[part=${part}]`)?.getBoundingClientRect()
        return box && box.y + box.height / 2
      }),
    )
    assert.ok(Math.abs(title - button) < 4, `${language}: ${title}, ${button}`)
    await page.close()
  }
})

test('a page places what it adds to an item, such as a bar at its edge, by the part of the item', async () => {
  const { page, item } = await opened({ state: 'one' })
  const heights = await item(first).evaluate((one) => {
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(
      "carillon-inbox::part(item)::before { content: ''; position: absolute; inset-block: 0 }",
    )
    document.adoptedStyleSheets.push(sheet)
    return [
      Math.round(Number.parseFloat(getComputedStyle(one, '::before').height)),
      one.clientHeight,
    ]
  })
  assert.equal(heights[0], heights[1])
  await page.close()
})

test('a list in a page asks for more when its end is 400 px below the window, and not before', async () => {
  const { page, inbox } = await opened({ state: 'thousands', height: 400 })
  const articles = inbox.locator('article')
  await articles.first().waitFor()
  const scrollTo = (distance: number) =>
    inbox.evaluate((one, below) => {
      const end =
        one.shadowRoot?.querySelector('[part=scroll]')?.lastElementChild?.getBoundingClientRect()
          .top ?? 0
      scrollBy(0, end - innerHeight - below)
    }, distance)
  await scrollTo(420)
  await page.waitForTimeout(400)
  assert.equal(await articles.count(), 20)
  await scrollTo(380)
  await becomes(() => articles.count().then(String), '40')
  await page.close()
})
