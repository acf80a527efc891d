// <carillon-bell> in a real browser, on a real service: the number, the panel, the focus.
import assert from 'node:assert/strict'
import { after, afterEach, test } from 'node:test'
import type { Page } from 'playwright-core'
import { ElementPages, hasFocus } from '../../support/element-pages.ts'
import { becomes } from '../../support/pages/browser-page.ts'
import { soakTest } from '../../support/soak.ts'

const pages = await ElementPages.start()
const { service } = pages
after(() => pages[Symbol.asyncDispose]())
afterEach(async () => {
  for (const page of pages.browser.context.pages()) await page.close()
  assert.deepEqual(pages.errors.splice(0), [])
})

const bellOf = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

test('the bell is a button that names the number of unread notifications, and shows it as they arrive', async () => {
  const user = await pages.userWith(3)
  const page = await pages.open('<carillon-bell></carillon-bell>')
  const bell = bellOf(page, 'Notifications, 3 unread')
  await bell.waitFor()
  assert.equal(await bell.getAttribute('aria-expanded'), 'false')
  assert.equal(await bell.getAttribute('aria-haspopup'), 'dialog')
  assert.equal(await page.locator('[part=badge]').textContent(), '3')
  await service.deliver({ to: user, title: 'Another' })
  await bellOf(page, 'Notifications, 4 unread').waitFor()
})

test('a bell that counts what is new has no number once its list was displayed, until another one arrives', async () => {
  const user = await pages.userWith(2)
  const page = await pages.open('<carillon-bell badge="unseen"></carillon-bell>')
  await bellOf(page, 'Notifications, 2 new').click()
  await page.getByRole('article').nth(1).waitFor()
  await bellOf(page, 'Notifications').waitFor()
  await page.keyboard.press('Escape')
  await page.reload()
  await bellOf(page, 'Notifications').waitFor()
  await service.deliver({ to: user, title: 'Another' })
  await bellOf(page, 'Notifications, 1 new').waitFor()
})

test('the panel is a named dialog that takes the focus; Escape gives it back, a click beside keeps its own, a click on the bell closes too', async () => {
  await pages.userWith(1)
  const page = await pages.open('<input aria-label="Name"> <carillon-bell></carillon-bell>')
  const bell = bellOf(page, 'Notifications, 1 unread')
  await bell.click()
  const panel = page.getByRole('dialog', { name: 'Notifications' })
  await panel.waitFor()
  await page.getByRole('article', { name: 'Unread Number 1' }).waitFor()
  assert.equal(await bell.getAttribute('aria-expanded'), 'true')
  await hasFocus(page, 'inbox')
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'hidden' })
  await becomes(async () => (await bell.getAttribute('aria-expanded')) ?? '', 'false')
  await hasFocus(page, 'bell')
  await bell.click()
  await page.getByRole('article').waitFor()
  await page.getByLabel('Name').click()
  await panel.waitFor({ state: 'hidden' })
  await hasFocus(page, 'input')
  await bell.click()
  await page.getByRole('article').waitFor()
  await bell.click()
  await panel.waitFor({ state: 'hidden' })
})

test('the panel of a bell at the edge of a wide window keeps 8 px from the edge', async () => {
  await pages.userWith(1)
  const policy = "default-src 'self'; style-src 'self' 'unsafe-inline'"
  for (const side of ['left', 'right']) {
    const page = await pages.open(
      `<carillon-bell style="position:fixed;${side}:0;top:0"></carillon-bell>`,
      { policy },
    )
    await page.setViewportSize({ width: 1280, height: 800 })
    await bellOf(page, 'Notifications, 1 unread').click()
    await page.getByRole('article').waitFor()
    const { x = 0, width = 0 } = (await page.getByRole('dialog').boundingBox()) ?? {}
    assert.ok(x >= 8 && x + width <= 1272, `${side}: ${x}, ${width}`)
    await page.close()
  }
})

test('the panel of a bell in any corner or in the middle of a window 320 px wide is inside the window, in both directions', async () => {
  await pages.userWith(5)
  const policy = "default-src 'self'; style-src 'self' 'unsafe-inline'"
  const page = await pages.open('<header><carillon-bell></carillon-bell></header>', { policy })
  await page.setViewportSize({ width: 320, height: 500 })
  const button = bellOf(page, 'Notifications, 5 unread')
  for (const direction of ['ltr', 'rtl'])
    for (const corner of [
      'left:0;top:0',
      'right:0;top:0',
      'left:140px;top:0',
      'right:0;bottom:0',
    ]) {
      const place = `${corner} ${direction}`
      await page.locator('header').evaluate(
        (header, [dir = '', style = '']) => {
          header.setAttribute('dir', dir)
          header.setAttribute('style', `position:fixed;${style}`)
        },
        [direction, corner],
      )
      await button.click()
      await page.getByRole('article').first().waitFor()
      const panel = page.getByRole('dialog')
      const { x, y, width, height } = (await panel.boundingBox()) ?? {
        x: -1,
        y: -1,
        width: 0,
        height: 0,
      }
      assert.deepEqual([x, width], [8, 304], place)
      assert.ok(y >= 0 && y + height <= 500, `${place}: ${JSON.stringify({ x, y, width, height })}`)
      const bell = await page.locator('[part=bell]').boundingBox()
      assert.ok(
        bell && (y >= bell.y + bell.height || y + height <= bell.y),
        `${place}: the panel covers the bell`,
      )
      await page.keyboard.press('Escape')
      await panel.waitFor({ state: 'hidden' })
    }
})

soakTest(
  'a page with another root font size and with rules for all elements changes neither size nor layout of the panel',
  async () => {
    await pages.userWith(2)
    const page = await pages.open('<carillon-bell></carillon-bell>')
    await page.evaluate(() => {
      const sheet = new CSSStyleSheet()
      sheet.replaceSync(
        'html { font-size: 62.5% } * { box-sizing: content-box; margin: 10px; padding: 3px; border: 1px solid }',
      )
      document.adoptedStyleSheets = [sheet]
    })
    await bellOf(page, 'Notifications, 2 unread').click()
    await page.getByRole('article').first().waitFor()
    const [panel, item, badge] = await Promise.all(
      ['[part=panel]', 'article >> nth=0', '[part=badge]'].map((part) =>
        page.locator(part).boundingBox(),
      ),
    )
    assert.equal(panel?.width, 400)
    assert.ok(item && item.width > 390 && item.width <= 400, `${item?.width}`)
    assert.ok(
      badge && Math.abs(badge.width - badge.height) < 2,
      `the badge is a circle: ${badge?.width} x ${badge?.height}`,
    )
  },
)

soakTest(
  'without CSS anchor positioning, the panel is beside the bell and inside the window too',
  async () => {
    await pages.userWith(2)
    const page = await pages.open('<carillon-bell></carillon-bell>')
    await page.evaluate(() => {
      CSS.supports = () => false
      const sheets = document.querySelector('carillon-bell')?.shadowRoot?.adoptedStyleSheets ?? []
      for (const sheet of sheets)
        for (const [index, rule] of [...sheet.cssRules].entries())
          if (rule instanceof CSSSupportsRule) sheet.deleteRule(index)
    })
    await page.setViewportSize({ width: 320, height: 500 })
    await bellOf(page, 'Notifications, 2 unread').click()
    await page.getByRole('article').first().waitFor()
    await page.waitForFunction(
      () =>
        document.querySelector('carillon-bell')?.shadowRoot?.querySelector<HTMLElement>('#panel')
          ?.style.top,
    )
    const panel = await page.getByRole('dialog').boundingBox()
    const bell = await page.locator('[part=bell]').boundingBox()
    assert.ok(
      panel &&
        bell &&
        panel.x >= 0 &&
        panel.x + panel.width <= 320 &&
        panel.y >= bell.y + bell.height,
    )
  },
)
