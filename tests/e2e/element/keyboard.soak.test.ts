// Walks through the elements by keyboard alone, as a reader without a mouse does.
import assert from 'node:assert/strict'
import { after, afterEach, test } from 'node:test'
import type { Page } from 'playwright-core'
import { ElementPages, hasFocus } from '../../support/element-pages.ts'
import { becomes } from '../../support/pages/browser-page.ts'

const pages = await ElementPages.start()
const { service } = pages
after(() => pages[Symbol.asyncDispose]())
afterEach(async () => {
  for (const page of pages.browser.context.pages()) await page.close()
  assert.deepEqual(pages.errors.splice(0), [])
})

/** After each key, the focus has to be where `through` says. */
async function walk(
  page: Page,
  keys: readonly string[],
  through: readonly string[],
): Promise<void> {
  for (const [index, key] of keys.entries()) {
    await page.keyboard.press(key)
    // A focus that would move on does so by then.
    await page.waitForTimeout(100)
    await hasFocus(page, through[index] ?? '')
  }
}

test('from the bell into the panel, over the tabs, through the feed, to an item and back', async () => {
  const user = await pages.userWith(3)
  const page = await pages.open('<carillon-bell></carillon-bell>')
  await page.getByRole('button', { name: 'Notifications, 3 unread' }).waitFor()
  await walk(page, ['Tab'], ['bell'])
  await page.keyboard.press('Enter')
  await page.getByRole('article').first().waitFor()
  await walk(page, ['ArrowRight', 'ArrowRight', 'ArrowRight'], ['unread', 'archived', 'inbox'])
  await walk(page, ['End', 'Home'], ['archived', 'inbox'])
  await page.getByRole('article').nth(2).waitFor()
  const feed = ['Tab', 'PageDown', 'PageDown', 'PageDown', 'PageUp', 'Tab', 'PageUp']
  await walk(page, feed, [
    'Number 3',
    'Number 2',
    'Number 1',
    'Number 1',
    'Number 2',
    'item-toggle',
    'Number 3',
  ])
  await page.keyboard.press('Enter')
  await page.getByRole('article', { name: 'Number 3', exact: true }).waitFor()
  await walk(page, ['Control+End', 'Shift+Tab', 'Control+Home'], ['end', 'item-more', 'inbox'])
  await walk(page, ['Shift+Tab', 'Shift+Tab', 'Escape'], ['list-more', 'mark-all', 'bell'])
  const proof = await service.signIn(user, 'stateful')
  await becomes(async () => `${(await service.list(proof)).unread} unread`, '2 unread')
})

test('the arrow keys of the tabs follow the direction of the text', async () => {
  await pages.userWith(1)
  const page = await pages.open('<carillon-inbox lang="ar"></carillon-inbox>')
  await page.locator('[dir=rtl]').waitFor()
  await page.getByRole('tab').first().focus()
  await walk(page, ['ArrowLeft', 'ArrowRight'], ['unread', 'inbox'])
})

test('in a list from right to left, a text from left to right keeps its direction and begins where the list begins', async () => {
  await pages.userWith(1)
  for (const [language, side] of [
    ['ar', 'right'],
    ['en', 'left'],
  ] as const) {
    const page = await pages.open(`<carillon-inbox lang="${language}"></carillon-inbox>`)
    const title = page.locator('[part~=item-title]')
    await title.waitFor()
    const shown = await title.evaluate((element, at) => {
      const range = document.createRange()
      range.selectNodeContents(element)
      const text = range.getBoundingClientRect()
      const box = element.getBoundingClientRect()
      return {
        direction: getComputedStyle(element).direction,
        gap: Math.round(Math.abs(text[at] - box[at])),
      }
    }, side)
    assert.deepEqual(shown, { direction: 'ltr', gap: 0 }, language)
    await page.close()
  }
})

test('PageDown on the last article loads the next page and continues there', async () => {
  await pages.userWith(25)
  const page = await pages.open('<carillon-inbox></carillon-inbox>')
  await page.getByRole('article').nth(19).focus()
  await hasFocus(page, 'Number 6')
  await page.keyboard.press('PageDown')
  await page.getByText('Number 5', { exact: true }).waitFor()
  await hasFocus(page, 'Number 5')
})

test('Control+Home leads to the button of what has arrived', async () => {
  const user = await pages.userWith(2)
  const page = await pages.open('<carillon-inbox></carillon-inbox>')
  await page.getByRole('article').first().focus()
  await service.deliver({ to: user, title: 'Late' })
  await page.getByRole('button', { name: '1 new' }).waitFor()
  await walk(page, ['Control+Home', 'Enter'], ['newer', 'Late'])
})
