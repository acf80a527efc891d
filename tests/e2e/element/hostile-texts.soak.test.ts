// 200 hostile texts in every field of a notification, in a page with a strict content policy: the elements display them as text.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { InboxList } from '../../../client/store/inbox-list.ts'
import type { Notification } from '../../../client/transport/types.ts'
import { Chromium } from '../../support/chromium.ts'
import { startTestService } from '../../support/service.ts'
import { hostileStrings } from './hostile-strings.ts'

const count = 200
const service = await startTestService()
const browser = await Chromium.start()
after(async () => {
  await browser[Symbol.asyncDispose]()
  await service.stop()
})

const policy =
  "default-src 'none'; script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types lit-html; report-uri /report"
const html = (element: string) =>
  `<!doctype html><html lang="en"><title>Page</title><script type="module" src="/carillon-inbox.js"></script>${element}`

const incidents: string[] = []

async function pageWith(element: string): Promise<Page> {
  incidents.length = 0
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
    route.fulfill({ contentType: 'text/html; charset=utf-8', headers, body: html(element) }),
  )
  await page.goto(`${service.url}/page`)
  return page
}

async function send(
  text: string,
  index: number,
  { key, username }: { key: string; username: string },
): Promise<number> {
  let fields: Record<string, unknown> = {
    body: text,
    url: text,
    category: text.slice(0, 64),
    key: `${index} ${text}`,
    data: { [`x ${text}`]: text, html: text },
  }
  for (let refused = 0; refused < 6; ) {
    const body = { recipients: [{ username }], title: text, ...fields }
    const { status, json } = await service.post('/api/notifications', body, {
      authorization: `Bearer ${key}`,
    })
    if (status === 201) return refused
    const faults: { field: string }[] = json().error.details
    const names = new Set(faults.map(({ field }) => field.split(/[.[]/, 1)[0] ?? ''))
    assert.ok(
      !names.has('title'),
      `the title is refused: ${JSON.stringify(text)} ${JSON.stringify(faults)}`,
    )
    refused += names.size
    fields = Object.fromEntries(Object.entries(fields).filter(([name]) => !names.has(name)))
  }
  throw new Error(`The service refuses ${JSON.stringify(text)}.`)
}

async function showAll(page: Page): Promise<void> {
  const articles = page.locator('carillon-inbox article')
  await articles.first().waitFor()
  let shown = await articles.count()
  while (shown < count) {
    // The list loads the next page when its end is on the screen, and the button disappears.
    await articles.last().scrollIntoViewIfNeeded()
    await articles.nth(shown).waitFor()
    shown = await articles.count()
  }
}

/** Checks that the texts are displayed as texts, and nothing else is. */
async function hasOnlyTexts(page: Page): Promise<void> {
  const found = await page.locator('carillon-inbox').evaluate((inbox) => {
    const articles = [...(inbox.shadowRoot?.querySelectorAll('article') ?? [])]
    const links = articles.flatMap((article) => [...article.querySelectorAll('a')])
    return {
      titles: links.map(({ textContent }) => textContent),
      bodies: articles.map((article) => article.querySelector('[part=item-body]')?.textContent),
      tags: [
        ...new Set(
          articles.flatMap((article) =>
            [...article.querySelectorAll('*')].map((one) => one.localName),
          ),
        ),
      ].sort(),
      protocols: [
        ...new Set(
          links.filter((link) => link.hasAttribute('href')).map(({ protocol }) => protocol),
        ),
      ].sort(),
    }
  })
  const newestFirst = [...hostileStrings].reverse()
  assert.deepEqual(found.titles, newestFirst)
  assert.deepEqual(found.bodies, newestFirst)
  assert.deepEqual(found.tags, ['a', 'button', 'div', 'p', 'path', 'span', 'svg', 'time'])
  assert.ok(
    found.protocols.every((protocol) => /^https?:$/.test(protocol)),
    found.protocols.join(),
  )
}

/** Clicks on each item whose link was not safe and on its button, and does the same by keyboard. */
async function actOnItemsWithoutLink(page: Page): Promise<void> {
  const address = page.url()
  const items = page.locator('carillon-inbox article:not(:has(a[href]))')
  for (let index = 0; index < (await items.count()); index += 25) {
    await items.nth(index).locator('a').click()
    await items.nth(index).focus()
    await page.keyboard.press('Enter')
    await items.nth(index).locator('[part=item-toggle]').click()
  }
  assert.equal(page.url(), address)
}

test('200 hostile texts that the service accepts, in each field, are displayed as texts: no dialog, console error or report (C9, C10)', async () => {
  const { key } = await service.producerKey()
  const user = await service.user()
  const { cookie = '' } = await service.signIn(user, 'stateful')
  assert.equal(hostileStrings.length, count)
  let refused = 0
  for (const [index, text] of hostileStrings.entries())
    refused += await send(text, index, { key, username: user.username })
  assert.ok(refused < count * 2, `${refused} fields were refused`)

  const [name = '', value = ''] = cookie.split('=')
  await browser.context.addCookies([{ name, value, url: service.url }])
  const page = await pageWith('<carillon-inbox limit="100"></carillon-inbox>')
  await showAll(page)
  await hasOnlyTexts(page)
  await actOnItemsWithoutLink(page)
  assert.deepEqual(incidents, [])
  await page.close()
})

test('200 hostile texts in each field of a given list, the link included, are displayed as texts (C9, C10)', async () => {
  const page = await pageWith('<carillon-inbox></carillon-inbox>')
  await page.evaluate((texts) => {
    const items: Notification[] = texts.map((text, index) => ({
      id: `id-${index}`,
      title: text,
      body: text,
      url: text,
      category: text,
      data: { [text]: text },
      key: text,
      actor: { name: text, imageUrl: null },
      icon: text as Notification['icon'],
      actions: null,
      format: 'text',
      priority: 'normal',
      createdAt: text,
      updatedAt: text,
      expiresAt: null,
      seq: texts.length - index,
      count: index,
      read: false,
      readAt: null,
      archivedAt: null,
      snoozedUntil: null,
    }))
    const rest = {
      newer: [],
      categories: {},
      state: 'live',
      error: undefined,
      hasMore: false,
      isLoading: false,
    } as const
    const snapshot = { items, unread: items.length, unseen: 0, total: items.length, ...rest }
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
    if (inbox)
      Object.assign(inbox, { limit: texts.length, carillon: { inbox: { open: () => list } } })
  }, [...hostileStrings].reverse())
  await showAll(page)
  await hasOnlyTexts(page)
  await actOnItemsWithoutLink(page)
  assert.deepEqual(incidents, [])
  await page.close()
})
