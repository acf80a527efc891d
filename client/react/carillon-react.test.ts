// A real Chromium with React 19 (its development build) and a real service.
import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Page, Request } from 'playwright-core'
import { createElement } from 'react'
import { renderToString } from 'react-dom/server'
import { rolldown } from 'rolldown'
import type { TestUser } from '../../tests/support/service.ts'
import type { NotificationPage } from '../carillon-client.ts'
import {
  openStreams,
  send,
  setCookie,
  startBrowser,
  startService,
  tokenOf,
  until,
} from '../testing/tab-browser.ts'
import { Boards } from './testing/board.ts'
import type { Shown } from './testing/page.ts'

const service = await startService()

const chromium = await startBrowser()
after(() => chromium[Symbol.asyncDispose]())
const script = await bundledPage()
await chromium.context.route(`${service.url}/react.js`, (route) =>
  route.fulfill({ contentType: 'text/javascript; charset=utf-8', body: script }),
)

async function bundledPage(): Promise<string> {
  const bundle = await rolldown({
    input: fileURLToPath(new URL('testing/page.ts', import.meta.url)),
    platform: 'browser',
    // It warns of 'use client', which only frameworks with server components read.
    logLevel: 'silent',
    transform: { define: { 'process.env.NODE_ENV': '"development"' } },
  })
  const { output } = await bundle.generate({ format: 'esm', codeSplitting: false })
  await bundle.close()
  return output[0].code
}

type Opened = { page: Page; user: TestUser; lists: string[]; streams: string[]; messages: string[] }

/** `html` is what a server has rendered. */
async function open(t: TestContext, titles: string[] = [], html = ''): Promise<Opened> {
  const user = await service.user()
  for (const title of titles) await send(user, 1, 0, title)
  await setCookie(chromium, await service.signIn(user, 'stateful'))
  const page = await chromium.context.newPage()
  t.after(async () => {
    await page.close()
    await until(() => openStreams.size === 0)
  })
  const opened: Opened = { page, user, lists: [], streams: [], messages: [] }
  page.on('request', (request) => record(opened, request))
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) opened.messages.push(message.text())
  })
  const body = `<!doctype html><title>React</title><link rel="icon" href="data:,"><div id="root">${html}</div><script type="module" src="/react.js"></script>`
  await page.route(`${service.url}/react.html`, (route) =>
    route.fulfill({ contentType: 'text/html', body }),
  )
  await page.goto(`${service.url}/react.html`)
  await page.waitForFunction(() => 'react' in globalThis)
  return opened
}

function record({ lists, streams }: Opened, request: Request): void {
  const { pathname, search } = new URL(request.url())
  if (pathname === '/api/notifications') lists.push(search)
  if (pathname === '/api/notifications/stream') streams.push(search)
}

function show({ page }: Opened, shown: Shown = {}): Promise<void> {
  return page.evaluate((what) => react.show(what), shown)
}

async function shows({ page }: Opened, board: string, boards = 1): Promise<void> {
  const expected = Array<string>(boards).fill(board)
  let shown: string[] = []
  const read = async () => {
    shown = await page
      .locator('section')
      .evaluateAll((sections) =>
        sections.map((section) =>
          [...section.querySelectorAll('output, li')].map((one) => one.textContent).join('; '),
        ),
      )
    return shown.join('\n') === expected.join('\n')
  }
  await until(read, 20_000).catch(() => assert.deepEqual(shown, expected))
}

async function listOf(user: TestUser): Promise<NotificationPage> {
  return (await service.list(await service.signIn(user, 'stateless'))) as NotificationPage
}

async function fails({ page, messages }: Opened): Promise<string[]> {
  return [...(await page.evaluate(() => react.failures)), ...messages]
}

test('a component shows the inbox and its changes, and its acts are sent', async (t) => {
  const opened = await open(t, ['First'])
  await show(opened)
  await shows(opened, '1 unread, live; First')
  await send(opened.user, 1, 0, 'Second')
  await shows(opened, '2 unread, live; Second; First')
  await opened.page.evaluate(() => react.inboxes[0]?.read(react.inboxes[0].items[1]?.id ?? ''))
  await shows(opened, '1 unread, live; Second; First, read')
  await opened.page.evaluate(() => react.inboxes[0]?.readAll())
  await shows(opened, '0 unread, live; Second, read; First, read')
  assert.deepEqual(await fails(opened), [])
})

test('a component that is added later shows the open list in its first render', async (t) => {
  const opened = await open(t, ['First'])
  await show(opened)
  await shows(opened, '1 unread, live; First')
  await show(opened, { lists: [undefined, undefined] })
  await shows(opened, '1 unread, live; First', 2)
  const renders = await opened.page.evaluate(() => react.renders[1] ?? [])
  assert.ok(renders.length > 0)
  for (const titles of renders) assert.deepEqual(titles, ['First'])
  assert.equal(opened.lists.length, 1)
})

test('StrictMode, which runs each effect twice, causes no second request and no second stream', async (t) => {
  const opened = await open(t, ['First'])
  await show(opened, { isStrict: true, lists: [undefined, undefined] })
  await shows(opened, '1 unread, live; First', 2)
  await send(opened.user, 1, 0, 'Second')
  await shows(opened, '2 unread, live; Second; First', 2)
  assert.deepEqual([opened.lists.length, opened.streams.length], [1, 1])
  assert.deepEqual(await fails(opened), [])
})

test('the acts of a component archive, put back, snooze and remove notifications, mark them, take the last act back, and say what was seen', async (t) => {
  const opened = await open(t, ['First', 'Second', 'Third'])
  await show(opened)
  await shows(opened, '3 unread, live; Third; Second; First')
  await opened.page.evaluate(() => react.inboxes[0]?.seen())
  await opened.page.waitForFunction(() => react.inboxes[0]?.unseen === 0)
  await opened.page.evaluate(() => {
    const { items = [], archive, snooze, remove } = react.inboxes[0] ?? {}
    archive?.(items[0]?.id ?? '')
    snooze?.(items[1]?.id ?? '', new Date(Date.now() + 3_600_000).toISOString())
    remove?.(items[2]?.id ?? '')
  })
  await shows(opened, '0 unread, live')
  await show(opened, { lists: [{ status: 'archived' }] })
  await shows(opened, '0 unread, live; Third, read')
  await opened.page.evaluate(() => react.inboxes[0]?.unarchive(react.inboxes[0].items[0]?.id ?? ''))
  await show(opened)
  await shows(opened, '0 unread, live; Third, read')
  await opened.page.evaluate(() =>
    react.inboxes[0]?.markUnread(react.inboxes[0].items[0]?.id ?? ''),
  )
  await shows(opened, '1 unread, live; Third')
  await opened.page.evaluate(() => react.inboxes[0]?.undo())
  await shows(opened, '0 unread, live; Third, read')
  await opened.page.evaluate(() => react.inboxes[0]?.archiveRead())
  await shows(opened, '0 unread, live')
  assert.deepEqual(await fails(opened), [])
})

test('equal options in a new object change nothing; other options open another list on the same stream', async (t) => {
  const opened = await open(t, ['First', 'Second'])
  for (let render = 0; render < 3; render++)
    await show(opened, { lists: [{ status: 'unread', category: [] }] })
  await shows(opened, '2 unread, live; Second; First')
  assert.equal(opened.lists.length, 1)
  await opened.page.evaluate(() => react.inboxes[0]?.read(react.inboxes[0].items[0]?.id ?? ''))
  await shows(opened, '1 unread, live; First')
  await show(opened, { lists: [{ limit: 1 }] })
  await shows(opened, '1 unread, live; Second, read')
  await opened.page.evaluate(() => react.inboxes[0]?.more())
  await shows(opened, '1 unread, live; Second, read; First')
  assert.deepEqual([opened.lists.length, opened.streams.length], [3, 1])
})

test('the list is closed with the last component that uses it, and opened again by the next one', async (t) => {
  const opened = await open(t, ['First'])
  await show(opened, { lists: [undefined, undefined] })
  await shows(opened, '1 unread, live; First', 2)
  await show(opened)
  await send(opened.user, 1, 0, 'Second')
  await shows(opened, '2 unread, live; Second; First')
  await opened.page.evaluate(() => react.remove())
  await until(() => openStreams.size === 0)
  await send(opened.user, 1, 0, 'Third')
  await show(opened)
  await shows(opened, '3 unread, live; Third; Second; First')
  assert.deepEqual([opened.lists.length, opened.streams.length], [2, 2])
  assert.deepEqual(await fails(opened), [])
})

test('an act whose component is removed at once is sent all the same', async (t) => {
  const opened = await open(t, ['First'])
  await show(opened)
  await shows(opened, '1 unread, live; First')
  await opened.page.evaluate(() => {
    react.inboxes[0]?.read(react.inboxes[0].items[0]?.id ?? '')
    react.remove()
  })
  await until(() => openStreams.size === 0)
  assert.equal((await listOf(opened.user)).unread, 0)
})

test('another client of the provider shows the inbox of its user, and the stream of the first one ends', async (t) => {
  const opened = await open(t)
  const ann = await service.user()
  const bob = await service.user()
  await send(ann, 1, 0, 'For Ann')
  await send(bob, 1, 0, 'For Bob')
  const annsToken = await tokenOf(ann)
  const bobsToken = await tokenOf(bob)
  await show(opened, { token: annsToken })
  await shows(opened, '1 unread, live; For Ann')
  await show(opened, { token: bobsToken })
  await shows(opened, '1 unread, live; For Bob')
  await until(() => openStreams.size === 1)
  const renders = await opened.page.evaluate(() => react.renders[0] ?? [])
  assert.equal(
    renders.findLastIndex(([title]) => title === 'For Ann') <
      renders.findIndex(([title]) => title === 'For Bob'),
    true,
  )
})

test('a page that a server has rendered is adopted without a mismatch and without a request for the list, and stays live', async (t) => {
  const user = await service.user()
  await send(user, 1, 0, 'First')
  const initial = await listOf(user)
  const opened = await open(
    t,
    [],
    renderToString(createElement(Boards, { initial, lists: [undefined, undefined] })),
  )
  await setCookie(chromium, await service.signIn(user, 'stateful'))
  await send(user, 1, 0, 'Arrived in between')
  await opened.page.evaluate(
    (page) => react.hydrate({ initial: page, lists: [undefined, undefined] }),
    initial,
  )
  await shows(opened, '2 unread, live; Arrived in between; First', 2)
  assert.deepEqual([opened.lists.length, opened.streams.length], [0, 1])
  assert.deepEqual(await fails(opened), [])
})

test('an empty list that a server has rendered is adopted without a mismatch, also in StrictMode', async (t) => {
  const opened = await open(t, ['First'], renderToString(createElement(Boards)))
  await opened.page.evaluate(() => react.hydrate({ isStrict: true }))
  await shows(opened, '1 unread, live; First')
  assert.deepEqual([opened.lists.length, opened.streams.length], [1, 1])
  assert.deepEqual(await fails(opened), [])
})

test('an act that the server refuses rejects, and causes no unhandled rejection if the component ignores that', async (t) => {
  const opened = await open(t, ['First'])
  await show(opened)
  await shows(opened, '1 unread, live; First')
  const code = await opened.page.evaluate(async () => {
    const refused = () => react.inboxes[0]?.read('00000000-0000-7000-8000-000000000000')
    refused()
    return refused()?.then(
      () => undefined,
      (error) => error.code,
    )
  })
  assert.equal(code, 'NOT_FOUND')
  assert.deepEqual(await opened.page.evaluate(() => react.failures), [])
})
