import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { after, beforeEach, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { hideBadge, showBadge } from '../../../element/title-badge.ts'
import { Chromium } from '../../support/chromium.ts'

declare global {
  var badge: { showBadge: typeof showBadge; hideBadge: typeof hideBadge }
  var onIcon: number[]
}

const origin = 'http://page.test'
const script = stripTypeScriptTypes(
  readFileSync(new URL('../../../element/title-badge.ts', import.meta.url), 'utf8'),
)
const html =
  "<!doctype html><title>Orders</title><script type=module>import * as badge from '/badge.js'; window.badge = badge</script>"

const browser = await Chromium.start()
await browser.context.route(`${origin}/`, (route) =>
  route.fulfill({ contentType: 'text/html', body: html }),
)
await browser.context.route(`${origin}/badge.js`, (route) =>
  route.fulfill({ contentType: 'text/javascript', body: script }),
)
await browser.context.addInitScript(() => {
  globalThis.onIcon = []
  navigator.setAppBadge = async (count) => {
    globalThis.onIcon.push(count ?? Number.NaN)
  }
})
after(() => browser[Symbol.asyncDispose]())

let page: Page
beforeEach(async () => {
  page = await browser.page(`${origin}/`)
  await page.waitForFunction(() => 'badge' in globalThis)
})

/** Several elements are several owners; an owner has the name of its element. */
async function show(owner: string, title: string | undefined, app?: number): Promise<void> {
  await page.evaluate(
    ({ name, ...displayed }) => {
      const owners = globalThis as unknown as Record<string, object>
      owners[name] ??= {}
      globalThis.badge.showBadge(owners[name], displayed)
    },
    { name: `owner-${owner}`, title, app },
  )
}

async function hide(owner: string): Promise<void> {
  await page.evaluate((name) => {
    globalThis.badge.hideBadge((globalThis as unknown as Record<string, object>)[name] ?? {})
  }, `owner-${owner}`)
}

test('a title that the page changes keeps the number in front, and is what remains when the element is removed', async () => {
  await show('a', '3')
  await page.evaluate(() => {
    document.title = 'Customers'
  })
  await page.waitForFunction(() => document.title === '(3) Customers')
  await page.evaluate(() =>
    document.querySelector('title')?.replaceWith(document.createElement('title')),
  )
  await page.waitForFunction(() => document.title === '(3)')
  await page.evaluate(() => {
    document.title = 'Bills'
  })
  await page.waitForFunction(() => document.title === '(3) Bills')
  await hide('a')
  assert.equal(await page.title(), 'Bills')
})

test('a page that puts the displayed title together again does not get the number twice', async () => {
  await show('a', '3')
  await page.evaluate(() => {
    document.title = `${document.title} - page 2`
  })
  await show('a', '4')
  assert.equal(await page.title(), '(4) Orders - page 2')
})

test('a title of the page that begins with a number in parentheses stays', async () => {
  await page.evaluate(() => {
    document.title = '(1984) A novel'
  })
  await show('a', '3')
  assert.equal(await page.title(), '(3) (1984) A novel')
  await hide('a')
  assert.equal(await page.title(), '(1984) A novel')
})

test('of several elements, the first displays its number, and the next one after its removal', async () => {
  await show('a', '3')
  await show('b', '5')
  assert.equal(await page.title(), '(3) Orders')
  await hide('a')
  assert.equal(await page.title(), '(5) Orders')
  await hide('b')
  assert.equal(await page.title(), 'Orders')
})

test('the icon of an installed application gets the number only if an element asks for it', async () => {
  await show('a', '3')
  assert.deepEqual(await page.evaluate(() => globalThis.onIcon), [])
  await show('b', undefined, 7)
  await hide('b')
  assert.deepEqual(await page.evaluate(() => globalThis.onIcon), [7, 0])
})

test('a browser without the Badging API, or that refuses it, causes no error', async () => {
  await page.evaluate(() => {
    navigator.setAppBadge = async () => {
      throw new DOMException('not installed', 'NotAllowedError')
    }
  })
  await show('a', '3', 3)
  await page.evaluate(() => Object.assign(navigator, { setAppBadge: undefined }))
  await show('a', '4', 4)
  assert.equal(await page.title(), '(4) Orders')
  assert.deepEqual(browser.uncaught, [])
})
