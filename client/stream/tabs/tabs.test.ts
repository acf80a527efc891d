// Do the tabs of a browser share one stream, and does each hear everything once, whatever becomes of the others? In a real
// Chromium, on a real service; a tab is closed, crashes, hangs or leaves while events flow.
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

/** The streams that are open at the server, and the most that were open at once. */
const open = new Set<ServerResponse>()
let mostOpen = 0
onChannel('http.server.request.start', (message) => {
  const { request, response } = message as { request: IncomingMessage; response: ServerResponse }
  if (!request.url?.startsWith('/api/notifications/stream')) return
  open.add(response)
  mostOpen = Math.max(mostOpen, open.size)
  response.on('close', () => open.delete(response))
})

test('seven tabs have one stream, and each is told every event once and in order', async () => {
  await using browser = await someBrowser()
  const ann = await service.user()
  const tabs = await followingTabs(browser, ann, 7)
  mostOpen = open.size
  await tell(ann, 40)
  for (const tab of tabs) assert.deepEqual(await versionsOf(tab, 40), upTo(40))
  assert.deepEqual([open.size, mostOpen], [1, 1])
  for (const tab of tabs) assert.deepEqual((await toldTo(tab)).types.slice(0, 2), ['hello', 'notification'])
})

test('whatever the leader is closed or crashes of, another goes on: nothing is lost or told twice', async () => {
  await using browser = await someBrowser()
  const ann = await service.user()
  let tabs = await followingTabs(browser, ann, 7)
  const stop = keepTelling(ann, 10)
  for (const end of [close, crash, close, crash, close, crash]) {
    await sleep(300)
    await until(() => tabs.includes(leaderIn(browser)))
    const leader = leaderIn(browser)
    await end(leader)
    tabs = tabs.filter((tab) => tab !== leader)
    for (const page of tabs) {
      const versions = await versionsOf(page, ((await toldTo(page)).versions.at(-1) ?? 0) + 5)
      assert.deepEqual(versions, upTo(versions.length))
    }
  }
  const count = await stop()
  assert.equal(tabs.length, 1)
  for (const page of tabs) assert.deepEqual(await versionsOf(page, count), upTo(count))
  await until(() => open.size === 1)
})

test('who comes late is told what the leader keeps, and behind that to list anew; then he hears what the others hear', async () => {
  await using browser = await someBrowser()
  const ann = await service.user()
  await tell(ann, 3)
  const [first] = await followingTabs(browser, ann, 1, { since: 2 })
  assert.ok(first)
  await versionsOf(first, 3)
  await tell(ann, 7)
  await versionsOf(first, 10)
  const [known] = await followingTabs(browser, ann, 1, { since: 6 })
  const [fromNow] = await followingTabs(browser, ann, 1)
  const [older] = await followingTabs(browser, ann, 1, { since: 1 })
  const [foreign] = await followingTabs(browser, ann, 1, { since: '6-00000000' })
  const [garbage] = await followingTabs(browser, ann, 1, { since: 'x' })
  assert.ok(known && fromNow && older && foreign && garbage)
  await tell(ann, 1)
  assert.deepEqual(await versionsOf(known, 11), [7, 8, 9, 10, 11])
  assert.deepEqual(await versionsOf(fromNow, 11), [11])
  for (const tab of [older, foreign, garbage]) {
    assert.deepEqual(await versionsOf(tab, 11), [11])
    assert.deepEqual((await toldTo(tab)).types, ['hello', 'resync', 'notification'])
  }
  const resync = await older.evaluate(() => tab.events[1])
  const { version, unread, total, position } = resync ?? {}
  assert.deepEqual({ version, unread, total }, { version: 10, unread: 10, total: 10 })
  assert.match(position ?? '', /^10-[0-9a-f]{8}$/)
  assert.equal(open.size, 1)
})

test('more is not kept than a hundred events', async () => {
  await using browser = await someBrowser()
  const ann = await service.user()
  const [first] = await followingTabs(browser, ann, 1)
  assert.ok(first)
  await tell(ann, 120)
  await versionsOf(first, 120)
  const [kept] = await followingTabs(browser, ann, 1, { since: 20 })
  const [dropped] = await followingTabs(browser, ann, 1, { since: 19 })
  assert.ok(kept && dropped)
  assert.deepEqual(await versionsOf(kept, 120), upTo(120).slice(20))
  assert.deepEqual((await toldTo(dropped)).types, ['hello', 'resync'])
})

test('who is ahead of the stream is told no event twice; a version that the stream does not reach is no version of it', async () => {
  await using browser = await someBrowser()
  let ann = await service.user()
  for (let tries = 1; ; tries++) {
    const [leader] = await followingTabs(browser, ann, 1)
    const ahead = await newTab(browser)
    const from = performance.now()
    await ahead.evaluate(() => tab.follow({ since: 2 }))
    // It asks, then it waits for the lock.
    await until(async () => (await locksIn(ahead)).length === 2)
    await tell(ann, 3)
    const versions = await versionsOf(ahead, 3)
    if ((await toldTo(ahead)).types[1] !== 'resync') {
      assert.deepEqual(versions, [3])
      break
    }
    // The leader waits a second to reach that version. A machine that took longer to tell it gets another try.
    assert.ok(performance.now() - from > 990)
    assert.ok(tries < 5, 'each time the leader had not reached that version in time')
    await ahead.close()
    await leader?.close()
    ann = await service.user()
  }
  const lost = await newTab(browser)
  await lost.evaluate(() => tab.follow({ since: 50 }))
  await until(async () => (await toldTo(lost)).types.includes('resync'))
  await tell(ann, 1)
  assert.deepEqual(await versionsOf(lost, 4), [4])
})

test('what comes twice, out of order or from one who is behind changes nothing, and what is missing is asked for', async () => {
  await using browser = await someBrowser()
  const ann = await service.user()
  await followingTabs(browser, ann, 1)
  const [follower] = await followingTabs(browser, ann, 1, { since: 0 })
  assert.ok(follower)
  await tell(ann, 3)
  await versionsOf(follower, 3)
  const other = await newTab(browser)
  await other.evaluate(forge, {
    name: `carillon 2 session ${service.url}/ ${ann.id}`,
    told: await follower.evaluate(() => tab.events),
  })
  await tell(ann, 1)
  assert.deepEqual(await versionsOf(follower, 4), upTo(4))
  const positions = await follower.evaluate(() => tab.events.map(({ type, position }) => `${type} ${position}`))
  assert.deepEqual(
    positions.map((text) => text.replace(/-.*/, '')),
    ['hello 0', 'notification 1', 'notification 2', 'notification 3', 'hello 3', 'notification 4'],
  )
})

test('a tab ignores messages of an unknown kind, of an older client, and without content', async () => {
  await using browser = await someBrowser()
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
  await tell(ann, 2)
  for (const tab of tabs) {
    assert.deepEqual(await versionsOf(tab, 2), [1, 2])
    assert.deepEqual((await toldTo(tab)).types, ['hello', 'notification', 'notification'])
  }
  assert.deepEqual(browser.uncaught, [])
})

test('a leader that hears nothing any more is deposed, and so is one that hangs; both go on as followers', async () => {
  await using browser = await someBrowser()
  const ann = await service.user()
  const tabs = await followingTabs(browser, ann, 4, { silenceMs: 1_500 })
  // Fewer than a hundred while one hangs: more is not kept for him.
  const stop = keepTelling(ann, 40)
  // Where the machine is busy another may have taken the lead just then.
  for (const harm of [deafen, hang]) {
    await sleep(300)
    await until(async () => {
      const leader = leaderIn(browser)
      await harm(leader)
      return leaderIn(browser) !== leader
    })
  }
  const count = await stop()
  for (const page of tabs) assert.deepEqual(await versionsOf(page, count), upTo(count))
  await until(() => open.size === 1)
})

test('a leader whose stream has nothing but heartbeats stays', async () => {
  await using server = await StreamServer.with(async (stream) => {
    stream.greet(1)
    const beating = setInterval(() => stream.write(':\n\n'), 100)
    await stream.closed
    clearInterval(beating)
  })
  await using browser = await browserAt(server)
  // Nearly half of the silence, which is the most, is waited for an answer: a machine may stand still for a moment.
  await browser.context.addInitScript('{ const draw = Math.random; Math.random = () => 0.9 + draw() / 10 }')
  for (let count = 0; count < 3; count++) {
    const page = await newTab(browser, server)
    await page.evaluate(() => tab.follow({ silenceMs: 3_000 }))
    await until(async () => (await toldTo(page)).types[0] === 'hello')
  }
  await sleep(7_000)
  assert.equal(server.streams.length, 1)
})

test('of two users in one browser, by token or by a cookie that is replaced, each hears his own', async () => {
  await using browser = await someBrowser()
  const [ann, ben, cid] = [await service.user(), await service.user(), await service.user()]
  const following = async (user: TestUser) => ({ token: await tokenOf(user) })
  const [anns] = await followingTabs(browser, ann, 1, await following(ann))
  const [bens] = await followingTabs(browser, ben, 1, await following(ben))
  const [cids] = await followingTabs(browser, cid, 1)
  assert.equal(open.size, 3)
  const [annsByCookie] = await followingTabs(browser, ann, 1)
  assert.ok(anns && bens && cids && annsByCookie)
  // By cookie and by token she has two proofs, of which one may end before the other.
  assert.equal(open.size, 4)
  await tell(ann, 1, 0, "ann's")
  await tell(ben, 2, 0, "ben's")
  await tell(cid, 3, 0, "cid's")
  for (const [tab, titles] of [
    [anns, ["ann's"]],
    [annsByCookie, ["ann's"]],
    [bens, ["ben's", "ben's"]],
    [cids, ["cid's", "cid's", "cid's"]],
  ] as const)
    assert.deepEqual([await versionsOf(tab, titles.length), (await toldTo(tab)).titles], [upTo(titles.length), titles])
})

test('a tab whose cookie was replaced shares the stream of the new user from its next connection on', async () => {
  await using browser = await someBrowser()
  const [ann, ben] = [await service.user(), await service.user()]
  const anns = await followingTabs(browser, ann, 3)
  const [bens] = await followingTabs(browser, ben, 1)
  assert.ok(bens)
  assert.equal(open.size, 2)
  await browser.context.setOffline(true)
  await browser.context.setOffline(false)
  for (const tab of anns) await until(async () => (await toldTo(tab)).types.includes('resync'))
  await until(() => open.size === 1)
  await tell(ann, 1, 0, 'for nobody here')
  await tell(ben, 2, 0, "ben's")
  for (const tab of [...anns, bens]) {
    await versionsOf(tab, 2)
    assert.deepEqual((await toldTo(tab)).titles, ["ben's", "ben's"])
  }
})

test("nobody hears of a new user's inbox but that it is another one: the leader was cut, or another takes over", async () => {
  await using browser = await someBrowser()
  const [ann, ben] = [await service.user(), await service.user()]
  await tell(ann, 3)
  await tell(ben, 7)
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

test('who was told nothing yet asks again whose stream it is, when his turn comes', async () => {
  await using browser = await someBrowser()
  const [ann, ben] = [await service.user(), await service.user()]
  await tell(ben, 7)
  const block = (route: Route) => route.abort()
  await browser.context.route('**/api/notifications/stream*', block)
  const leader = await newTab(browser)
  const others = [await newTab(browser), await newTab(browser)]
  await setCookie(browser, await service.signIn(ann, 'stateful'))
  for (const page of [leader, ...others]) await page.evaluate(() => tab.follow())
  await until(async () => (await locksIn(leader)).length === 3)
  await sleep(1_100)
  await setCookie(browser, await service.signIn(ben, 'stateful'))
  // Only then may a stream open: what this leader is greeted with would be told to the others, who then need not ask.
  await leader.close()
  await browser.context.unroute('**/api/notifications/stream*', block)
  for (const tab of others) await until(async () => (await toldTo(tab)).types.length > 0)
  const locks = await locksIn(others[0] as Page)
  assert.deepEqual(locks, Array(2).fill(`carillon 2 session ${service.url}/ ${ben.id}`))
})

test('an inbox that becomes another one again and again is asked for less and less', async () => {
  const state = '{"version":1,"unread":1,"total":1}'
  let count = 0
  await using server = await StreamServer.with((stream) => {
    const mark = ['aaaaaaaa', 'bbbbbbbb'][count++ % 2]
    stream.open().write(`retry: 1\n\nevent: hello\ndata: ${state}\n\nevent: resync\nid: 1-${mark}\ndata: ${state}\n\n`)
  })
  await using browser = await browserAt(server)
  const page = await newTab(browser, server)
  await page.evaluate(() => tab.follow({ since: '1-cccccccc' }))
  await sleep(4_000)
  assert.ok(server.streams.length < 15, `${server.streams.length} streams`)
  await until(() => server.streams.length > 2)
})

test('who leaves, by break or by abort, holds nothing; then the next leads', async () => {
  await using browser = await someBrowser()
  const ann = await service.user()
  const [breaking] = await followingTabs(browser, ann, 1, { breakAfter: 2 })
  const [aborted, waiting] = await followingTabs(browser, ann, 2)
  assert.ok(breaking && aborted && waiting)
  await waiting.evaluate(() => tab.abort('enough'))
  await until(async () => (await toldTo(waiting)).error?.error === 'enough')
  await tell(ann, 1)
  await until(() => isOver(breaking))
  assert.deepEqual(await versionsOf(breaking, 1), [1])
  await tell(ann, 1)
  assert.deepEqual(await versionsOf(aborted, 2), [1, 2])
  await aborted.evaluate(() => tab.abort('enough'))
  await until(async () => (await toldTo(aborted)).error?.error === 'enough')
  assert.equal((await toldTo(breaking)).error, undefined)
  await until(() => open.size === 0)
  await until(async () => (await locksIn(waiting)).length === 0)
})

test('an error that ends the stream for good reaches every tab with its fields', async () => {
  await using browser = await someBrowser()
  const ann = await service.user()
  const tabs = await followingTabs(browser, ann, 3)
  const [cookie] = await browser.context.cookies()
  await service.post('/logout', undefined, { cookie: `${cookie?.name}=${cookie?.value}` })
  for (const page of tabs) {
    await until(() => isOver(page))
    const { name, code, status, reason } = (await toldTo(page)).error ?? {}
    assert.deepEqual([name, code, status, reason], ['CarillonError', 'UNAUTHORIZED', 401, 'revoked'])
  }
  await until(() => open.size === 0)
})

test("an error of one tab's own, as of its token, ends that tab alone", async () => {
  await using browser = await someBrowser()
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
  assert.deepEqual((await toldTo(failing)).error, { name: 'RangeError', message: 'no token today' })
  await tell(ann, 1)
  assert.deepEqual(await versionsOf(other, 1), [1])
})

test("a tab whose token's sign-in is over ends alone: others of that user go on, by token or cookie, and miss nothing", async () => {
  await using browser = await someBrowser()
  const ann = await service.user()
  const token = await tokenOf(ann)
  const [leader] = await followingTabs(browser, ann, 1, { token })
  const [byToken] = await followingTabs(browser, ann, 1, { token: await tokenOf(ann) })
  const [byCookie] = await followingTabs(browser, ann, 1)
  assert.ok(leader && byToken && byCookie)
  assert.equal(open.size, 2)
  const telling = tell(ann, 100, 10)
  await service.post('/logout', undefined, { authorization: `Bearer ${token}` })
  await until(() => isOver(leader))
  const { code, reason } = (await toldTo(leader)).error ?? {}
  assert.deepEqual([code, reason], ['UNAUTHORIZED', 'revoked'])
  await telling
  for (const tab of [byToken, byCookie]) assert.deepEqual(await versionsOf(tab, 100), upTo(100))
  const [cookie] = await browser.context.cookies()
  await service.post('/logout', undefined, { cookie: `${cookie?.name}=${cookie?.value}` })
  await until(() => isOver(byCookie))
  await tell(ann, 1)
  assert.deepEqual(await versionsOf(byToken, 101), upTo(101))
})

test('a loop that leaves a thousand events lying is told to list anew, and goes on', async () => {
  await using browser = await someBrowser()
  const ann = await service.user()
  const [leader, held] = [
    (await followingTabs(browser, ann, 1))[0],
    (await followingTabs(browser, ann, 1, { isHeld: true }))[0],
  ]
  assert.ok(leader && held)
  await held.evaluate(overhear, `carillon 2 session ${service.url}/ ${ann.id}`)
  await tell(ann, 1_100)
  await versionsOf(leader, 1_100)
  await until(() => held.evaluate(() => tab.heard.length === 1_100))
  await held.evaluate(() => {
    tab.isHeld = false
  })
  const versions = await versionsOf(held, 1_100)
  assert.deepEqual(versions, upTo(1_100).slice(-versions.length))
  assert.deepEqual((await toldTo(held)).types.slice(0, 3), ['hello', 'resync', 'notification'])
})

for (const [name, missing] of [
  ['has no locks', 'delete Navigator.prototype.locks'],
  ['has no channels', 'delete globalThis.BroadcastChannel'],
  ['refuses locks', "LockManager.prototype.request = async () => { throw new DOMException('', 'SecurityError') }"],
] as const)
  test(`where a browser ${name}, each tab has its own stream`, async () => {
    await using browser = await someBrowser()
    await browser.context.addInitScript(missing)
    const ann = await service.user()
    const tabs = await followingTabs(browser, ann, 3)
    assert.equal(open.size, 3)
    await tell(ann, 5)
    for (const tab of tabs) assert.deepEqual(await versionsOf(tab, 5), upTo(5))
  })

test('browsers that cannot combine signals share a stream too, and an owner who is not told is asked for again', async () => {
  await using browser = await someBrowser()
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
  await tell(ann, 1)
  for (const tab of tabs) assert.deepEqual(await versionsOf(tab, 1), [1])
  // Who had to connect again may have left a connection that the server is about to close.
  await until(() => open.size === 1)
})

test('in Node, which has locks and channels too, each has its own stream', async () => {
  assert.ok(navigator.locks && BroadcastChannel)
  await until(() => open.size === 0)
  const ann = await service.user()
  const token = await tokenOf(ann)
  const streams = [1, 2].map(() => createCarillon({ baseUrl: service.url, auth: () => token }).inbox.subscribe())
  for (const stream of streams) assert.equal((await stream.next()).value.type, 'hello')
  assert.equal(open.size, 2)
  for (const stream of streams) await stream.return?.()
  await until(() => open.size === 0)
})

async function someBrowser(): Promise<Chromium> {
  await until(() => open.size === 0)
  const browser = await Chromium.start()
  await browser.serveClientAt(service.url)
  browser.context.on('request', (request) => {
    if (new URL(request.url()).pathname === '/api/notifications/stream') leaders.set(browser, request.frame().page())
  })
  return browser
}

/** A server of a stream alone, which knows whoever asks as Ann. */
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

/** So many tabs that follow, at once, and were greeted. A cookie is that of a new session in this browser. */
async function followingTabs(
  browser: Chromium,
  user: TestUser,
  count: number,
  following: Following = {},
): Promise<Page[]> {
  const tabs = await Promise.all(Array.from({ length: count }, () => newTab(browser)))
  if (following.token === undefined) await setCookie(browser, await service.signIn(user, 'stateful'))
  await Promise.all(tabs.map((page) => page.evaluate((how) => tab.follow(how), following)))
  for (const page of tabs) await until(async () => (await toldTo(page)).types[0] === 'hello')
  return tabs
}

/** In a page: says what a leader might whose words come late, as a new one that has not caught up. */
async function forge({ name, told }: { name: string; told: StreamEvent[] }): Promise<void> {
  const channel = new BroadcastChannel(name)
  const [hello, first, , third] = told
  if (!hello || !first || !third) throw new Error('the follower was not told enough')
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

/** In a page: keeps the events that the leader tells on that channel, beside whoever follows there. */
function overhear(name: string): void {
  new BroadcastChannel(name).onmessage = ({ data: { event } }) => {
    if (event) tab.heard.push({ type: event.type, id: event.position, data: '' })
  }
}

function setCookie(browser: Chromium, { cookie = '' }: Proof): Promise<void> {
  const [name = '', value = ''] = cookie.split('=')
  return browser.context.addCookies([{ name, value, url: service.url, httpOnly: true }])
}

/** Of a new sign-in: it outlives the end of others. */
async function tokenOf(user: TestUser): Promise<string> {
  return (await service.signIn(user, 'stateless')).authorization?.slice(7) ?? ''
}

/** New notifications, one by one. */
async function tell(user: TestUser, count: number, pauseMs = 0, title = 'Ding'): Promise<void> {
  for (let index = 0; index < count; index++) {
    const body = { recipients: [{ username: user.username }], title }
    const answer = await service.post('/api/notifications', body, { authorization: `Bearer ${key}` })
    assert.equal(answer.status, 201, answer.text)
    if (pauseMs > 0) await sleep(pauseMs)
  }
}

/** New notifications, one by one, until the function is called that it answers; how many there were then. */
function keepTelling(user: TestUser, pauseMs: number): () => Promise<number> {
  let isEnough = false
  const telling = (async () => {
    let count = 0
    for (; !isEnough; count++) await tell(user, 1, pauseMs)
    return count
  })()
  // Awaited at the end; until then it is not to end this process.
  telling.catch(() => {})
  return () => {
    isEnough = true
    return telling
  }
}

/** What it was told of, and how many were unread then. Who comes to a new leader may be greeted twice. */
async function countersOf(page: Page): Promise<string[]> {
  const counters = await page.evaluate(() => tab.events.map(({ type, unread }) => `${type} ${unread}`))
  return counters.filter((one, index) => one !== counters[index - 1])
}

/** The names of those that are held or waited for, in the whole browser. */
async function locksIn(page: Page): Promise<(string | undefined)[]> {
  const { held = [], pending = [] } = await page.evaluate(() => navigator.locks.query())
  return [...held, ...pending].map(({ name }) => name)
}

/** Has its loop ended? */
function isOver(page: Page): Promise<boolean> {
  return page.evaluate(() => tab.isOver)
}

function toldTo(page: Page) {
  return page.evaluate(() => tab.told())
}

/** The versions of the new notifications that a tab was told, when it was told that one. */
async function versionsOf(page: Page, last: number): Promise<number[]> {
  let versions: number[] = []
  await until(async () => {
    versions = (await toldTo(page)).versions
    return (versions.at(-1) ?? 0) >= last
  }).catch(async () => assert.fail(`told ${JSON.stringify(await toldTo(page))} and not ${last}`))
  return versions
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

/** The tab that asked for a stream last. */
function leaderIn(browser: Chromium): Page {
  const leader = leaders.get(browser)
  assert.ok(leader)
  return leader
}

async function close(page: Page): Promise<void> {
  await page.close()
}

/** The stream that it has brings nothing any more; time enough is given to depose it. */
async function deafen(page: Page): Promise<void> {
  await page.evaluate(() => tab.loseStream())
  await sleep(3_000)
}

/** It does nothing at all for that long. */
async function hang(page: Page): Promise<void> {
  await page.evaluate(() => {
    const from = performance.now()
    while (performance.now() < from + 3_000);
  })
}

/** Its process ends without a word. */
async function crash(page: Page): Promise<void> {
  const crashed = page.waitForEvent('crash')
  await page.goto('chrome://crash').catch(() => {})
  await crashed
}

async function until(isSo: () => boolean | Promise<boolean>, ms = 100_000): Promise<void> {
  const giveUpAt = performance.now() + ms
  while (!(await isSo())) {
    if (performance.now() > giveUpAt) throw new Error('it does not become so')
    await sleep(10)
  }
}
