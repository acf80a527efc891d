import assert from 'node:assert/strict'
import { subscribe as onChannel } from 'node:diagnostics_channel'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { after } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { Chromium } from '../../tests/support/chromium.ts'
import {
  type Proof,
  startTestService,
  type TestService,
  type TestUser,
} from '../../tests/support/service.ts'
import type { StreamServer } from './stream-server.ts'
import type { Following } from './tab.ts'

type Place = { service: TestService; key: string }
/** Files of one process share this module. */
let current: Place | undefined

export async function startService(): Promise<TestService> {
  const service = await startTestService({ env: { CARILLON_STREAMS_PER_USER: '100' } })
  after(() => service.stop())
  current = { service, key: (await service.producerKey()).key }
  return service
}

function place(): Place {
  assert.ok(current, 'call startService first')
  return current
}

const leaders = new WeakMap<Chromium, Page>()

export const openStreams = new Set<ServerResponse>()
/** A test may reset it. */
export const opened = { max: 0 }
onChannel('http.server.request.start', (message) => {
  const { request, response } = message as { request: IncomingMessage; response: ServerResponse }
  if (!request.url?.startsWith('/api/notifications/stream')) return
  openStreams.add(response)
  opened.max = Math.max(opened.max, openStreams.size)
  response.on('close', () => openStreams.delete(response))
})

export async function startBrowser(): Promise<Chromium> {
  await until(() => openStreams.size === 0)
  const browser = await Chromium.start()
  await browser.serveClientAt(place().service.url)
  browser.context.on('request', (request) => {
    if (new URL(request.url()).pathname === '/api/notifications/stream')
      leaders.set(browser, request.frame().page())
  })
  return browser
}

/** A browser at a server that has only the stream; every user is Ann. */
export async function browserAt({ url }: StreamServer): Promise<Chromium> {
  const browser = await Chromium.start()
  await browser.serveClientAt(url)
  const me = { success: true, data: { user: { id: 'ann' }, proof: 'session' } }
  await browser.context.route(`${url}/api/session`, (route) => route.fulfill({ json: me }))
  return browser
}

export async function newTab(
  browser: Chromium,
  { url }: { url: string } = place().service,
): Promise<Page> {
  const page = await browser.page(`${url}/tab.html`)
  await page.waitForFunction(() => 'tab' in globalThis)
  return page
}

/** They have received `hello`. Without a token, they get the cookie of a new session. */
export async function followingTabs(
  browser: Chromium,
  user: TestUser,
  count: number,
  following: Following = {},
): Promise<Page[]> {
  const tabs = await Promise.all(Array.from({ length: count }, () => newTab(browser)))
  if (following.token === undefined)
    await setCookie(browser, await place().service.signIn(user, 'stateful'))
  await Promise.all(tabs.map((page) => page.evaluate((how) => tab.follow(how), following)))
  for (const page of tabs) await until(async () => (await receivedIn(page)).types[0] === 'hello')
  return tabs
}

export function setCookie(browser: Chromium, { cookie = '' }: Proof): Promise<void> {
  const [name = '', value = ''] = cookie.split('=')
  return browser.context.addCookies([{ name, value, url: place().service.url, httpOnly: true }])
}

/** The end of another sign-in does not revoke it. */
export async function tokenOf(user: TestUser): Promise<string> {
  return (await place().service.signIn(user, 'stateless')).authorization?.slice(7) ?? ''
}

export async function send(
  user: TestUser,
  count: number,
  pauseMs = 0,
  title = 'Ding',
): Promise<void> {
  const { service, key } = place()
  for (let index = 0; index < count; index++) {
    const body = { recipients: [{ username: user.username }], title }
    const response = await service.post('/api/notifications', body, {
      authorization: `Bearer ${key}`,
    })
    assert.equal(response.status, 201, response.text)
    if (pauseMs > 0) await sleep(pauseMs)
  }
}

/** The returned function ends it, and resolves to their number. */
export function keepSending(user: TestUser, pauseMs: number): () => Promise<number> {
  let isStopped = false
  const sending = (async () => {
    let count = 0
    for (; !isStopped; count++) await send(user, 1, pauseMs)
    return count
  })()
  // A rejection before the test awaits it must not end the process.
  sending.catch(() => {})
  return () => {
    isStopped = true
    return sending
  }
}

/** Without repetitions: a new leader may cause a second `hello`. */
export async function countersOf(page: Page): Promise<string[]> {
  const counters = await page.evaluate(() =>
    tab.events.map(({ type, unread }) => `${type} ${unread}`),
  )
  return counters.filter((one, index) => one !== counters[index - 1])
}

export async function locksIn(page: Page): Promise<(string | undefined)[]> {
  const { held = [], pending = [] } = await page.evaluate(() => navigator.locks.query())
  return [...held, ...pending].map(({ name }) => name)
}

export function isOver(page: Page): Promise<boolean> {
  return page.evaluate(() => tab.isOver)
}

export function receivedIn(page: Page) {
  return page.evaluate(() => tab.received())
}

/** Returns the versions of all notifications that it received. */
export async function versionsOf(page: Page, last: number): Promise<number[]> {
  const isThere = (wanted: number) => (tab.received().versions.at(-1) ?? 0) >= wanted
  await page
    .waitForFunction(isThere, last, { polling: 20, timeout: 100_000 })
    .catch(async () =>
      assert.fail(`version ${last} is not in ${JSON.stringify(await receivedIn(page))}`),
    )
  return (await receivedIn(page)).versions
}

export const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

/** The tab that requested a stream last. */
export function leaderIn(browser: Chromium): Page {
  const leader = leaders.get(browser)
  assert.ok(leader)
  return leader
}

export async function until(
  condition: () => boolean | Promise<boolean>,
  ms = 100_000,
): Promise<void> {
  const deadline = performance.now() + ms
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`the condition is still false after ${ms} ms`)
    await sleep(10)
  }
}
