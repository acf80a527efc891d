// Tabs of one browser share one stream, and each receives every event once, even if other tabs are closed, crash, hang or
// leave at the same time. In a real Chromium, on a real service.
import assert from 'node:assert/strict'
import { subscribe as onChannel } from 'node:diagnostics_channel'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page, Route } from 'playwright-core'
import { Chromium } from '../../../tests/support/chromium.ts'
import { type Proof, startTestService, type TestUser } from '../../../tests/support/service.ts'
import { createCarillon, type StreamEvent } from '../../carillon-client.ts'
import { StreamServer } from '../../testing/stream-server.ts'
import type { Following } from '../../testing/tab.ts'

const service = await startTestService({ env: { CARILLON_STREAMS_PER_USER: '100' } })
after(() => service.stop())
const { key } = await service.producerKey()

const leaders = new WeakMap<Chromium, Page>()

/** The streams that are open at the service, and the maximum number that was open at once. */
const openStreams = new Set<ServerResponse>()
let maxOpen = 0
onChannel('http.server.request.start', (message) => {
  const { request, response } = message as { request: IncomingMessage; response: ServerResponse }
  if (!request.url?.startsWith('/api/notifications/stream')) return
  openStreams.add(response)
  maxOpen = Math.max(maxOpen, openStreams.size)
  response.on('close', () => openStreams.delete(response))
})

test('seven tabs share one stream, and each receives every event once and in order', async () => {
  await using browser = await startBrowser()
  const ann = await service.user()
  const tabs = await followingTabs(browser, ann, 7)
  maxOpen = openStreams.size
  await send(ann, 40)
  for (const tab of tabs) assert.deepEqual(await versionsOf(tab, 40), upTo(40))
  assert.deepEqual([openStreams.size, maxOpen], [1, 1])
  for (const tab of tabs) assert.deepEqual((await receivedIn(tab)).types.slice(0, 2), ['hello', 'notification'])
})

test('after the leading tab is closed or crashes, another tab leads: no event is lost or repeated', async () => {
  await using browser = await startBrowser()
  const ann = await service.user()
  let tabs = await followingTabs(browser, ann, 7)
  const stop = keepSending(ann, 10)
  for (const end of [close, crash, close, crash, close, crash]) {
    await sleep(300)
    await until(() => tabs.includes(leaderIn(browser)))
    const leader = leaderIn(browser)
    await end(leader)
    tabs = tabs.filter((tab) => tab !== leader)
    for (const page of tabs) {
      const versions = await versionsOf(page, ((await receivedIn(page)).versions.at(-1) ?? 0) + 5)
      assert.deepEqual(versions, upTo(versions.length))
    }
  }
  const count = await stop()
  assert.equal(tabs.length, 1)
  for (const page of tabs) assert.deepEqual(await versionsOf(page, count), upTo(count))
  await until(() => openStreams.size === 1)
})

test('a tab that joins late receives the kept events after its position, or a resync if they are not kept', async () => {
  await using browser = await startBrowser()
  const ann = await service.user()
  await send(ann, 3)
  const [first] = await followingTabs(browser, ann, 1, { since: 2 })
  assert.ok(first)
  await versionsOf(first, 3)
  await send(ann, 7)
  await versionsOf(first, 10)
  const [known] = await followingTabs(browser, ann, 1, { since: 6 })
  const [fromNow] = await followingTabs(browser, ann, 1)
  const [older] = await followingTabs(browser, ann, 1, { since: 1 })
  const [foreign] = await followingTabs(browser, ann, 1, { since: '6-00000000' })
  const [garbage] = await followingTabs(browser, ann, 1, { since: 'x' })
  assert.ok(known && fromNow && older && foreign && garbage)
  await send(ann, 1)
  assert.deepEqual(await versionsOf(known, 11), [7, 8, 9, 10, 11])
  assert.deepEqual(await versionsOf(fromNow, 11), [11])
  for (const tab of [older, foreign, garbage]) {
    assert.deepEqual(await versionsOf(tab, 11), [11])
    assert.deepEqual((await receivedIn(tab)).types, ['hello', 'resync', 'notification'])
  }
  const resync = await older.evaluate(() => tab.events[1])
  const { version, unread, total, position } = resync ?? {}
  assert.deepEqual({ version, unread, total }, { version: 10, unread: 10, total: 10 })
  assert.match(position ?? '', /^10-[0-9a-f]{8}$/)
  assert.equal(openStreams.size, 1)
})

test('the leading tab keeps 100 events for tabs that join later', async () => {
  await using browser = await startBrowser()
  const ann = await service.user()
  const [first] = await followingTabs(browser, ann, 1)
  assert.ok(first)
  await send(ann, 120)
  await versionsOf(first, 120)
  const [kept] = await followingTabs(browser, ann, 1, { since: 20 })
  const [dropped] = await followingTabs(browser, ann, 1, { since: 19 })
  assert.ok(kept && dropped)
  assert.deepEqual(await versionsOf(kept, 120), upTo(120).slice(20))
  assert.deepEqual((await receivedIn(dropped)).types, ['hello', 'resync'])
})

test('a tab that is ahead of the stream receives no event twice; a version that the stream does not reach gets a resync', async () => {
  await using browser = await startBrowser()
  let ann = await service.user()
  for (let tries = 1; ; tries++) {
    const [leader] = await followingTabs(browser, ann, 1)
    const ahead = await newTab(browser)
    const from = performance.now()
    await ahead.evaluate(() => tab.follow({ since: 2 }))
    // The tab has sent its request and waits for the lock.
    await until(async () => (await locksIn(ahead)).length === 2)
    await send(ann, 3)
    const versions = await versionsOf(ahead, 3)
    if ((await receivedIn(ahead)).types[1] !== 'resync') {
      assert.deepEqual(versions, [3])
      break
    }
    // The leading tab waits 1 s for that version. If the machine was slower, the test tries again.
    assert.ok(performance.now() - from > 990)
    assert.ok(tries < 5, 'in each of 5 tries the leading tab received that version too late')
    await ahead.close()
    await leader?.close()
    ann = await service.user()
  }
  const lost = await newTab(browser)
  await lost.evaluate(() => tab.follow({ since: 50 }))
  await until(async () => (await receivedIn(lost)).types.includes('resync'))
  await send(ann, 1)
  assert.deepEqual(await versionsOf(lost, 4), [4])
})

test('a following tab ignores repeated and old events, and requests missing ones', async () => {
  await using browser = await startBrowser()
  const ann = await service.user()
  await followingTabs(browser, ann, 1)
  const [follower] = await followingTabs(browser, ann, 1, { since: 0 })
  assert.ok(follower)
  await send(ann, 3)
  await versionsOf(follower, 3)
  const other = await newTab(browser)
  await other.evaluate(forge, {
    name: `carillon 2 session ${service.url}/ ${ann.id}`,
    events: await follower.evaluate(() => tab.events),
  })
  await send(ann, 1)
  assert.deepEqual(await versionsOf(follower, 4), upTo(4))
  const positions = await follower.evaluate(() => tab.events.map(({ type, position }) => `${type} ${position}`))
  assert.deepEqual(
    positions.map((text) => text.replace(/-.*/, '')),
    ['hello 0', 'notification 1', 'notification 2', 'notification 3', 'hello 3', 'notification 4'],
  )
})

test('a tab ignores messages of an unknown kind, of an older client, and without content', async () => {
  await using browser = await startBrowser()
  const ann = await service.user()
  const tabs = await followingTabs(browser, ann, 2)
  const other = await newTab(browser)
  await other.evaluate((name) => {
    const channel = new BroadcastChannel(name)
    const hello = { type: 'hello', position: '9-00000000', version: 9, unread: 9, total: 9 }
    const older = [{ at: '9-00000000' }, { by: 'x', behind: 9 }, { at: '9-00000000', event: hello }]
    for (const data of [null, undefined, 'text', 7, {}, { kind: 'newer', event: hello }, ...older])
      channel.postMessage(data)
    channel.close()
  }, `carillon 2 session ${service.url}/ ${ann.id}`)
  await send(ann, 2)
  for (const tab of tabs) {
    assert.deepEqual(await versionsOf(tab, 2), [1, 2])
    assert.deepEqual((await receivedIn(tab)).types, ['hello', 'notification', 'notification'])
  }
  assert.deepEqual(browser.uncaught, [])
})

test('a leading tab that hangs or whose stream is silent loses the lock, and continues as a follower', async () => {
  await using browser = await startBrowser()
  const ann = await service.user()
  const tabs = await followingTabs(browser, ann, 4, { silenceMs: 1_500 })
  // Fewer than 100 events while a tab hangs, because the leading tab keeps no more than that.
  const stop = keepSending(ann, 40)
  // On a busy machine, another tab may have become the leader just before.
  for (const harm of [loseStream, hang]) {
    await sleep(300)
    await until(async () => {
      const leader = leaderIn(browser)
      await harm(leader)
      return leaderIn(browser) !== leader
    })
  }
  const count = await stop()
  for (const page of tabs) assert.deepEqual(await versionsOf(page, count), upTo(count))
  await until(() => openStreams.size === 1)
})

test('a leading tab whose stream has only heartbeats stays the leader', async () => {
  await using server = await StreamServer.with(async (stream) => {
    stream.greet(1)
    const beating = setInterval(() => stream.write(':\n\n'), 100)
    await stream.closed
    clearInterval(beating)
  })
  await using browser = await browserAt(server)
  // The tabs wait for a response for almost half of silenceMs, the maximum, because the machine may stop for a moment.
  await browser.context.addInitScript('{ const draw = Math.random; Math.random = () => 0.9 + draw() / 10 }')
  for (let count = 0; count < 3; count++) {
    const page = await newTab(browser, server)
    await page.evaluate(() => tab.follow({ silenceMs: 3_000 }))
    await until(async () => (await receivedIn(page)).types[0] === 'hello')
  }
  await sleep(7_000)
  assert.equal(server.streams.length, 1)
})

test('tabs of several users in one browser, by token or with a replaced cookie, receive only the events of their own user', async () => {
  await using browser = await startBrowser()
  const [ann, ben, cid] = [await service.user(), await service.user(), await service.user()]
  const following = async (user: TestUser) => ({ token: await tokenOf(user) })
  const [anns] = await followingTabs(browser, ann, 1, await following(ann))
  const [bens] = await followingTabs(browser, ben, 1, await following(ben))
  const [cids] = await followingTabs(browser, cid, 1)
  assert.equal(openStreams.size, 3)
  const [annsByCookie] = await followingTabs(browser, ann, 1)
  assert.ok(anns && bens && cids && annsByCookie)
  // Ann has two proofs, a cookie and a token, and one may end before the other, so there are two streams.
  assert.equal(openStreams.size, 4)
  await send(ann, 1, 0, "Ann's")
  await send(ben, 2, 0, "Ben's")
  await send(cid, 3, 0, "Cid's")
  for (const [tab, titles] of [
    [anns, ["Ann's"]],
    [annsByCookie, ["Ann's"]],
    [bens, ["Ben's", "Ben's"]],
    [cids, ["Cid's", "Cid's", "Cid's"]],
  ] as const)
    assert.deepEqual(
      [await versionsOf(tab, titles.length), (await receivedIn(tab)).titles],
      [upTo(titles.length), titles],
    )
})

test('a tab whose cookie was replaced shares the stream of the new user after its next connection', async () => {
  await using browser = await startBrowser()
  const [ann, ben] = [await service.user(), await service.user()]
  const anns = await followingTabs(browser, ann, 3)
  const [bens] = await followingTabs(browser, ben, 1)
  assert.ok(bens)
  assert.equal(openStreams.size, 2)
  await browser.context.setOffline(true)
  await browser.context.setOffline(false)
  for (const tab of anns) await until(async () => (await receivedIn(tab)).types.includes('resync'))
  await until(() => openStreams.size === 1)
  await send(ann, 1, 0, 'for no tab here')
  await send(ben, 2, 0, "Ben's")
  for (const tab of [...anns, bens]) {
    await versionsOf(tab, 2)
    assert.deepEqual((await receivedIn(tab)).titles, ["Ben's", "Ben's"])
  }
})

test('after a new user signs in, no tab mixes the two inboxes: it receives a resync, whether the leader reconnects or changes', async () => {
  await using browser = await startBrowser()
  const [ann, ben] = [await service.user(), await service.user()]
  await send(ann, 3)
  await send(ben, 7)
  const tabs = await followingTabs(browser, ann, 3)
  await setCookie(browser, await service.signIn(ben, 'stateful'))
  const [leader, ...others] = [leaderIn(browser), ...tabs.filter((tab) => tab !== leaderIn(browser))]
  await leader.close()
  for (const tab of others) await until(async () => (await countersOf(tab)).at(-1) === 'hello 7')
  const [bens] = await followingTabs(browser, ben, 1)
  assert.ok(bens)
  await setCookie(browser, await service.signIn(ann, 'stateful'))
  await browser.context.setOffline(true)
  await browser.context.setOffline(false)
  for (const tab of [...others, bens]) await until(async () => (await countersOf(tab)).at(-1) === 'hello 3')
  for (const tab of others)
    assert.deepEqual(await countersOf(tab), ['hello 3', 'resync 7', 'hello 7', 'resync 3', 'hello 3'])
  assert.deepEqual(await countersOf(bens), ['hello 7', 'resync 3', 'hello 3'])
})

test('a tab that has received nothing requests the current user again before it leads', async () => {
  await using browser = await startBrowser()
  const [ann, ben] = [await service.user(), await service.user()]
  await send(ben, 7)
  const block = (route: Route) => route.abort()
  await browser.context.route('**/api/notifications/stream*', block)
  const leader = await newTab(browser)
  const others = [await newTab(browser), await newTab(browser)]
  await setCookie(browser, await service.signIn(ann, 'stateful'))
  for (const page of [leader, ...others]) await page.evaluate(() => tab.follow())
  await until(async () => (await locksIn(leader)).length === 3)
  await sleep(1_100)
  await setCookie(browser, await service.signIn(ben, 'stateful'))
  // The route opens only now: otherwise this leader would pass its greeting to the other tabs, which would then not request.
  await leader.close()
  await browser.context.unroute('**/api/notifications/stream*', block)
  for (const tab of others) await until(async () => (await receivedIn(tab)).types.length > 0)
  // The browser may register the lock request of a tab after the tab has received its first event.
  await until(async () => (await locksIn(others[0] as Page)).length === 2)
  const locks = await locksIn(others[0] as Page)
  assert.deepEqual(locks, Array(2).fill(`carillon 2 session ${service.url}/ ${ben.id}`))
})

test('if the inbox of the stream changes again and again, the client requests it with growing delays', async () => {
  const state = '{"version":1,"unread":1,"total":1}'
  let count = 0
  await using server = await StreamServer.with((stream) => {
    const tag = ['aaaaaaaa', 'bbbbbbbb'][count++ % 2]
    stream.open().write(`retry: 1\n\nevent: hello\ndata: ${state}\n\nevent: resync\nid: 1-${tag}\ndata: ${state}\n\n`)
  })
  await using browser = await browserAt(server)
  const page = await newTab(browser, server)
  await page.evaluate(() => tab.follow({ since: '1-cccccccc' }))
  await sleep(4_000)
  assert.ok(server.streams.length < 15, `${server.streams.length} streams`)
  await until(() => server.streams.length > 2)
})

test('a tab that leaves by break or abort holds no lock and no stream; the next tab leads', async () => {
  await using browser = await startBrowser()
  const ann = await service.user()
  const [breaking] = await followingTabs(browser, ann, 1, { breakAfter: 2 })
  const [aborted, waiting] = await followingTabs(browser, ann, 2)
  assert.ok(breaking && aborted && waiting)
  await waiting.evaluate(() => tab.abort('enough'))
  await until(async () => (await receivedIn(waiting)).error?.error === 'enough')
  await send(ann, 1)
  await until(() => isOver(breaking))
  assert.deepEqual(await versionsOf(breaking, 1), [1])
  await send(ann, 1)
  assert.deepEqual(await versionsOf(aborted, 2), [1, 2])
  await aborted.evaluate(() => tab.abort('enough'))
  await until(async () => (await receivedIn(aborted)).error?.error === 'enough')
  assert.equal((await receivedIn(breaking)).error, undefined)
  await until(() => openStreams.size === 0)
  await until(async () => (await locksIn(waiting)).length === 0)
})

test('the end of the shared session reaches every tab as an error with all its fields', async () => {
  await using browser = await startBrowser()
  const ann = await service.user()
  const tabs = await followingTabs(browser, ann, 3)
  const [cookie] = await browser.context.cookies()
  await service.post('/logout', undefined, { cookie: `${cookie?.name}=${cookie?.value}` })
  for (const page of tabs) {
    await until(() => isOver(page))
    const { name, code, status, reason } = (await receivedIn(page)).error ?? {}
    assert.deepEqual([name, code, status, reason], ['CarillonError', 'UNAUTHORIZED', 401, 'revoked'])
  }
  await until(() => openStreams.size === 0)
})

test('an error of the auth function of one tab ends only that tab', async () => {
  await using browser = await startBrowser()
  const ann = await service.user()
  const token = await tokenOf(ann)
  const [failing] = await followingTabs(browser, ann, 1, { token })
  assert.ok(failing)
  const [other] = await followingTabs(browser, ann, 1, { token: await tokenOf(ann) })
  assert.ok(other)
  await failing.evaluate(() => {
    tab.tokenError = 'no token today'
  })
  await service.post('/logout', undefined, { authorization: `Bearer ${token}` })
  await until(() => isOver(failing))
  assert.deepEqual((await receivedIn(failing)).error, { name: 'RangeError', message: 'no token today' })
  await send(ann, 1)
  assert.deepEqual(await versionsOf(other, 1), [1])
})

test('a tab whose token is revoked ends alone: other tabs of the user, by token or cookie, miss no event', async () => {
  await using browser = await startBrowser()
  const ann = await service.user()
  const token = await tokenOf(ann)
  const [leader] = await followingTabs(browser, ann, 1, { token })
  const [byToken] = await followingTabs(browser, ann, 1, { token: await tokenOf(ann) })
  const [byCookie] = await followingTabs(browser, ann, 1)
  assert.ok(leader && byToken && byCookie)
  assert.equal(openStreams.size, 2)
  const sending = send(ann, 100, 10)
  await service.post('/logout', undefined, { authorization: `Bearer ${token}` })
  await until(() => isOver(leader))
  const { code, reason } = (await receivedIn(leader)).error ?? {}
  assert.deepEqual([code, reason], ['UNAUTHORIZED', 'revoked'])
  await sending
  for (const tab of [byToken, byCookie]) assert.deepEqual(await versionsOf(tab, 100), upTo(100))
  const [cookie] = await browser.context.cookies()
  await service.post('/logout', undefined, { cookie: `${cookie?.name}=${cookie?.value}` })
  await until(() => isOver(byCookie))
  await send(ann, 1)
  assert.deepEqual(await versionsOf(byToken, 101), upTo(101))
})

test('a loop that falls 1,000 events behind receives a resync, and continues', async () => {
  await using browser = await startBrowser()
  const ann = await service.user()
  const [leader, held] = [
    (await followingTabs(browser, ann, 1))[0],
    (await followingTabs(browser, ann, 1, { isHeld: true }))[0],
  ]
  assert.ok(leader && held)
  await held.evaluate(recordChannel, `carillon 2 session ${service.url}/ ${ann.id}`)
  await send(ann, 1_100)
  await versionsOf(leader, 1_100)
  await until(() => held.evaluate(() => tab.sourceEvents.length === 1_100))
  await held.evaluate(() => {
    tab.isHeld = false
  })
  const versions = await versionsOf(held, 1_100)
  assert.deepEqual(versions, upTo(1_100).slice(-versions.length))
  assert.deepEqual((await receivedIn(held)).types.slice(0, 3), ['hello', 'resync', 'notification'])
})

for (const [name, missing] of [
  ['has no locks', 'delete Navigator.prototype.locks'],
  ['has no channels', 'delete globalThis.BroadcastChannel'],
  ['refuses locks', "LockManager.prototype.request = async () => { throw new DOMException('', 'SecurityError') }"],
] as const)
  test(`in a browser that ${name}, each tab has its own stream`, async () => {
    await using browser = await startBrowser()
    await browser.context.addInitScript(missing)
    const ann = await service.user()
    const tabs = await followingTabs(browser, ann, 3)
    assert.equal(openStreams.size, 3)
    await send(ann, 5)
    for (const tab of tabs) assert.deepEqual(await versionsOf(tab, 5), upTo(5))
  })

test('a browser without AbortSignal.any shares a stream too; a request for the user without a response is sent again', async () => {
  await using browser = await startBrowser()
  await browser.context.addInitScript(
    'delete AbortSignal.any; delete AbortSignal.timeout; delete Promise.withResolvers',
  )
  const ann = await service.user()
  let isFirst = true
  await browser.context.route('**/api/me', (route) => {
    if (!isFirst) void route.continue()
    isFirst = false
  })
  const tabs = await followingTabs(browser, ann, 2, { connectMs: 1_000 })
  await send(ann, 1)
  for (const tab of tabs) assert.deepEqual(await versionsOf(tab, 1), [1])
  // After a reconnect, the server may need a moment to close the earlier connection.
  await until(() => openStreams.size === 1)
})

test('in Node, which also has locks and channels, each client has its own stream', async () => {
  assert.ok(navigator.locks && BroadcastChannel)
  await until(() => openStreams.size === 0)
  const ann = await service.user()
  const token = await tokenOf(ann)
  const streams = [1, 2].map(() => createCarillon({ baseUrl: service.url, auth: () => token }).inbox.subscribe())
  for (const stream of streams) assert.equal((await stream.next()).value.type, 'hello')
  assert.equal(openStreams.size, 2)
  for (const stream of streams) await stream.return?.()
  await until(() => openStreams.size === 0)
})

async function startBrowser(): Promise<Chromium> {
  await until(() => openStreams.size === 0)
  const browser = await Chromium.start()
  await browser.serveClientAt(service.url)
  browser.context.on('request', (request) => {
    if (new URL(request.url()).pathname === '/api/notifications/stream') leaders.set(browser, request.frame().page())
  })
  return browser
}

/** A browser at a server that has only the stream; every user is Ann. */
async function browserAt({ url }: StreamServer): Promise<Chromium> {
  const browser = await Chromium.start()
  await browser.serveClientAt(url)
  const me = { success: true, data: { user: { id: 'ann' }, proof: 'session' } }
  await browser.context.route(`${url}/api/me`, (route) => route.fulfill({ json: me }))
  return browser
}

async function newTab(browser: Chromium, { url }: { url: string } = service): Promise<Page> {
  const page = await browser.page(`${url}/tab.html`)
  await page.waitForFunction(() => 'tab' in globalThis)
  return page
}

/** `count` tabs that follow at the same time and have received `hello`. Without a token, they get the cookie of a new session. */
async function followingTabs(
  browser: Chromium,
  user: TestUser,
  count: number,
  following: Following = {},
): Promise<Page[]> {
  const tabs = await Promise.all(Array.from({ length: count }, () => newTab(browser)))
  if (following.token === undefined) await setCookie(browser, await service.signIn(user, 'stateful'))
  await Promise.all(tabs.map((page) => page.evaluate((how) => tab.follow(how), following)))
  for (const page of tabs) await until(async () => (await receivedIn(page)).types[0] === 'hello')
  return tabs
}

/** In a page: sends late and old messages, as a new leader that has not caught up might. */
async function forge({ name, events }: { name: string; events: StreamEvent[] }): Promise<void> {
  const channel = new BroadcastChannel(name)
  const [hello, first, , third] = events
  if (!hello || !first || !third) throw new Error('the follower has received too few events')
  const ahead = { ...third, position: third.position.replace('3', '9') }
  const requested = new Promise<{ from: string }>((resolve) => {
    channel.onmessage = ({ data }) => data.kind === 'request' && resolve(data)
  })
  channel.postMessage({ kind: 'event', event: first, after: hello.position })
  channel.postMessage({ kind: 'event', event: { ...hello, position: first.position } })
  channel.postMessage({ kind: 'event', event: ahead, after: ahead.position })
  const { from } = await requested
  channel.postMessage({ kind: 'response', to: from, hello, missed: [first, third] })
  channel.close()
}

/** In a page: records the events that the leading tab sends on that channel. */
function recordChannel(name: string): void {
  new BroadcastChannel(name).onmessage = ({ data: { event } }) => {
    if (event) tab.sourceEvents.push({ type: event.type, id: event.position, data: '' })
  }
}

function setCookie(browser: Chromium, { cookie = '' }: Proof): Promise<void> {
  const [name = '', value = ''] = cookie.split('=')
  return browser.context.addCookies([{ name, value, url: service.url, httpOnly: true }])
}

/** A token of a new sign-in, so that the end of another sign-in does not revoke it. */
async function tokenOf(user: TestUser): Promise<string> {
  return (await service.signIn(user, 'stateless')).authorization?.slice(7) ?? ''
}

/** Sends notifications, one after the other. */
async function send(user: TestUser, count: number, pauseMs = 0, title = 'Ding'): Promise<void> {
  for (let index = 0; index < count; index++) {
    const body = { recipients: [{ username: user.username }], title }
    const response = await service.post('/api/notifications', body, { authorization: `Bearer ${key}` })
    assert.equal(response.status, 201, response.text)
    if (pauseMs > 0) await sleep(pauseMs)
  }
}

/** Sends notifications, one after the other, until the test calls the returned function, which resolves to their number. */
function keepSending(user: TestUser, pauseMs: number): () => Promise<number> {
  let isStopped = false
  const sending = (async () => {
    let count = 0
    for (; !isStopped; count++) await send(user, 1, pauseMs)
    return count
  })()
  // The test awaits it at the end. A rejection before that must not end the process.
  sending.catch(() => {})
  return () => {
    isStopped = true
    return sending
  }
}

/** Type and unread count of each event, without repetitions: a new leader may cause a second `hello`. */
async function countersOf(page: Page): Promise<string[]> {
  const counters = await page.evaluate(() => tab.events.map(({ type, unread }) => `${type} ${unread}`))
  return counters.filter((one, index) => one !== counters[index - 1])
}

/** The names of all held and pending locks of the browser. */
async function locksIn(page: Page): Promise<(string | undefined)[]> {
  const { held = [], pending = [] } = await page.evaluate(() => navigator.locks.query())
  return [...held, ...pending].map(({ name }) => name)
}

/** Has the loop of this tab ended? */
function isOver(page: Page): Promise<boolean> {
  return page.evaluate(() => tab.isOver)
}

function receivedIn(page: Page) {
  return page.evaluate(() => tab.received())
}

/** Waits until a tab has received the version `last`; returns the versions of all notifications that it received. */
async function versionsOf(page: Page, last: number): Promise<number[]> {
  let versions: number[] = []
  await until(async () => {
    versions = (await receivedIn(page)).versions
    return (versions.at(-1) ?? 0) >= last
  }).catch(async () => assert.fail(`version ${last} is not in ${JSON.stringify(await receivedIn(page))}`))
  return versions
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

/** The tab that requested a stream last. */
function leaderIn(browser: Chromium): Page {
  const leader = leaders.get(browser)
  assert.ok(leader)
  return leader
}

async function close(page: Page): Promise<void> {
  await page.close()
}

/** Makes the stream of a tab silent, and waits long enough for another tab to take the lock. */
async function loseStream(page: Page): Promise<void> {
  await page.evaluate(() => tab.loseStream())
  await sleep(3_000)
}

/** Blocks a tab for 3 s. */
async function hang(page: Page): Promise<void> {
  await page.evaluate(() => {
    const from = performance.now()
    while (performance.now() < from + 3_000);
  })
}

/** Ends the process of a tab without warning. */
async function crash(page: Page): Promise<void> {
  const crashed = page.waitForEvent('crash')
  await page.goto('chrome://crash').catch(() => {})
  await crashed
}

async function until(condition: () => boolean | Promise<boolean>, ms = 100_000): Promise<void> {
  const deadline = performance.now() + ms
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`the condition is still false after ${ms} ms`)
    await sleep(10)
  }
}
