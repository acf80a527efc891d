// 200 hostile texts in every field of a notification, and as markdown, in a page with a strict content policy: the elements display them as
// text. tests/e2e/browser/browser.test.ts has what the service sends.
import assert from 'node:assert/strict'
import { after, afterEach, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { InboxList } from '../../../client/store/inbox-list.ts'
import type { Notification } from '../../../client/transport/types.ts'
import { Chromium } from '../../support/chromium.ts'
import { startTestService } from '../../support/service.ts'
import { hostileStrings } from './hostile-strings.ts'

const service = await startTestService()
const browser = await Chromium.start()
after(async () => {
  await browser[Symbol.asyncDispose]()
  await service.stop()
})
const incidents: string[] = []
afterEach(() => assert.deepEqual(incidents.splice(0), []))

const policy =
  "default-src 'none'; script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types lit-html; report-uri /report"
const html =
  '<!doctype html><html lang="en"><title>Page</title><script type="module" src="/carillon-inbox.js"></script><carillon-inbox></carillon-inbox>'

/** The list is given to the element: no service accepts all of it. */
async function pageWith(items: Notification[]): Promise<Page> {
  const page = await browser.context.newPage()
  page.setDefaultTimeout(20_000)
  page.on('dialog', async (dialog) => {
    incidents.push(`dialog: ${dialog.message()}`)
    await dialog.dismiss()
  })
  page.on('pageerror', (error) => incidents.push(`error: ${error.message}`))
  page.on('console', (message) => {
    if (/error|warning/.test(message.type())) incidents.push(`console: ${message.text()}`)
  })
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (url.origin !== service.url || url.pathname === '/report')
      incidents.push(`request: ${request.url()} ${request.postData() ?? ''}`)
  })
  const headers = { 'content-security-policy': policy }
  await page.route(`${service.url}/page`, (route) =>
    route.fulfill({ contentType: 'text/html; charset=utf-8', headers, body: html }),
  )
  await page.goto(`${service.url}/page`)
  await page.evaluate((all) => {
    const rest = {
      newer: [],
      categories: {},
      state: 'live',
      error: undefined,
      hasMore: false,
      isLoading: false,
    } as const
    const { length } = all
    const snapshot = { items: all, unread: length, unseen: 0, total: length, ...rest }
    const nothing = async () => {}
    const list: InboxList = {
      getSnapshot: () => snapshot,
      subscribe: () => () => {},
      more: nothing,
      hold: () => {},
      showNewer: () => {},
      read: nothing,
      markUnread: nothing,
      archive: nothing,
      unarchive: nothing,
      snooze: nothing,
      remove: nothing,
      archiveRead: nothing,
      seen: nothing,
      readAll: nothing,
      undo: nothing,
      close: () => {},
    }
    const [inbox] = document.getElementsByTagName('carillon-inbox')
    if (inbox) Object.assign(inbox, { limit: length, carillon: { inbox: { open: () => list } } })
  }, items)
  const articles = page.locator('carillon-inbox article')
  await articles.nth(items.length - 1).waitFor()
  return page
}

function itemWith(fields: Partial<Notification>, index: number): Notification {
  return {
    id: `id-${index}`,
    title: 'x',
    body: null,
    url: null,
    category: null,
    data: null,
    key: null,
    actor: null,
    icon: null,
    actions: null,
    format: 'text',
    priority: 'normal',
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
    expiresAt: null,
    seq: 10_000 - index,
    count: 1,
    read: false,
    readAt: null,
    archivedAt: null,
    snoozedUntil: null,
    ...fields,
  }
}

test('200 hostile texts in each field, the link included, are displayed as texts: no dialog, console error or report (C9, C10)', async () => {
  assert.equal(hostileStrings.length, 200)
  const items = hostileStrings.map((text, index) =>
    itemWith(
      {
        title: text,
        body: text,
        url: text,
        category: text,
        data: { [text]: text },
        key: text,
        actor: { name: text, imageUrl: null },
        icon: text as Notification['icon'],
        createdAt: text,
        updatedAt: text,
        count: index,
      },
      index,
    ),
  )
  const page = await pageWith(items)
  const found = await page.locator('carillon-inbox').evaluate((inbox) => {
    const articles = [...(inbox.shadowRoot?.querySelectorAll('article') ?? [])]
    const links = articles.flatMap((article) => [...article.querySelectorAll('a')])
    const all = articles.flatMap((article) => [...article.querySelectorAll('*')])
    return {
      titles: links.map(({ textContent }) => textContent),
      bodies: articles.map((article) => article.querySelector('[part=item-body]')?.textContent),
      tags: [...new Set(all.map(({ localName }) => localName))].sort(),
      protocols: links.filter((link) => link.hasAttribute('href')).map(({ protocol }) => protocol),
    }
  })
  assert.deepEqual(found.titles, hostileStrings)
  assert.deepEqual(found.bodies, hostileStrings)
  assert.deepEqual(found.tags, ['a', 'button', 'div', 'p', 'path', 'span', 'svg', 'time'])
  // No browser can parse `http://[::1]:alert(1)/`, so it leads nowhere.
  assert.deepEqual(
    found.protocols.filter((protocol) => !/^https?:$/.test(protocol)),
    [':'],
  )

  // Items whose link was not safe: by click, by keyboard, and their buttons.
  const address = page.url()
  const inert = page.locator('carillon-inbox article:not(:has(a[href]))')
  for (let index = 0; index < (await inert.count()); index += 25) {
    await inert.nth(index).locator('a').click()
    await inert.nth(index).focus()
    await page.keyboard.press('Enter')
    await inert.nth(index).locator('[part=item-toggle]').click()
  }
  assert.equal(page.url(), address)
  await page.close()
})

test('200 hostile texts as markdown make nothing but bold text, code and links that are http, https or a path (C9)', async () => {
  const bodies = hostileStrings.flatMap((text) => [
    text,
    `**${text}**`,
    `[x](${text})`,
    `[${text}](/x)`,
    `\`${text}\``,
  ])
  const page = await pageWith(
    bodies.map((body, index) => itemWith({ body, format: 'markdown' }, index)),
  )
  const found = await page.locator('carillon-inbox').evaluate((inbox) => {
    const all = [...(inbox.shadowRoot?.querySelectorAll('[part=item-body] *') ?? [])]
    const links = all.filter((one) => one instanceof HTMLAnchorElement)
    return {
      tags: [...new Set(all.map(({ localName }) => localName))].sort(),
      protocols: links.map(({ protocol }) => protocol).filter((one) => !/^https?:$/.test(one)),
      attributes: [...new Set(all.flatMap((one) => one.getAttributeNames()))].sort(),
    }
  })
  assert.deepEqual(found, {
    tags: ['a', 'code', 'strong'],
    protocols: [],
    attributes: ['href', 'part', 'rel'],
  })
  await page.close()
})
