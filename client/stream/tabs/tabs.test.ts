// Tabs share one stream, even if others are closed, crash, hang or leave at the same time. In a
// real Chromium.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { soakTest } from '../../../tests/support/soak.ts'
import { createCarillon, type StreamEvent } from '../../carillon-client.ts'
import { StreamServer } from '../../testing/stream-server.ts'
import {
  browserAt,
  followingTabs,
  isOver,
  keepSending,
  leaderIn,
  locksIn,
  newTab,
  opened,
  openStreams,
  receivedIn,
  send,
  startBrowser,
  startService,
  tokenOf,
  until,
  upTo,
  versionsOf,
} from '../../testing/tab-browser.ts'

const service = await startService()

test('after the leading tab is closed or crashes, another tab leads: no event is lost or repeated', async () => {
  await using browser = await startBrowser()
  const ann = await service.user()
  const ends =
    process.env.SOAK === undefined ? [close, crash] : [close, crash, close, crash, close, crash]
  let tabs = await followingTabs(browser, ann, ends.length + 1)
  const stop = keepSending(ann, 10)
  for (const end of ends) {
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

test('tabs share one stream: one that joins late receives the kept events after its position, or a resync if they are not kept', async () => {
  await using browser = await startBrowser()
  opened.max = 0
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
    assert.deepEqual((await receivedIn(tab)).types, ['hello', 'resync', 'created'])
  }
  const resync = await older.evaluate(() => tab.events[1])
  const { version, unread, total, position } = resync ?? {}
  assert.deepEqual({ version, unread, total }, { version: 10, unread: 10, total: 10 })
  assert.match(position ?? '', /^10-[0-9a-f]{8}$/)
  assert.deepEqual([openStreams.size, opened.max], [1, 1])
})

soakTest('the leading tab keeps 100 events for tabs that join later', async () => {
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
    // The leading tab waits 1 s for that version. On a slow machine the test tries again.
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
    name: `carillon 4 session ${service.url}/ ${ann.id}`,
    events: await follower.evaluate(() => tab.events),
  })
  await send(ann, 1)
  assert.deepEqual(await versionsOf(follower, 4), upTo(4))
  const positions = await follower.evaluate(() =>
    tab.events.map(({ type, position }) => `${type} ${position}`),
  )
  assert.deepEqual(
    positions.map((text) => text.replace(/-.*/, '')),
    ['hello 0', 'created 1', 'created 2', 'created 3', 'hello 3', 'created 4'],
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
  }, `carillon 4 session ${service.url}/ ${ann.id}`)
  await send(ann, 2)
  for (const tab of tabs) {
    assert.deepEqual(await versionsOf(tab, 2), [1, 2])
    assert.deepEqual((await receivedIn(tab)).types, ['hello', 'created', 'created'])
  }
  assert.deepEqual(browser.uncaught, [])
})

test('a leading tab that hangs or whose stream is silent loses the lock, and continues as a follower', async () => {
  await using browser = await startBrowser()
  const ann = await service.user()
  const tabs = await followingTabs(browser, ann, 4, { silenceMs: 1_500 })
  // The leading tab keeps no more than 100 events.
  const stop = keepSending(ann, 40)
  /** On a busy machine, another tab may have become the leader just before: the wait has a limit. */
  const isDeposed = (page: Page) =>
    until(() => leaderIn(browser) !== page, 3_000).catch(() => undefined)
  for (const harm of [loseStream, hang]) {
    await sleep(300)
    await until(async () => {
      const leader = leaderIn(browser)
      await harm(leader, isDeposed(leader))
      return leaderIn(browser) !== leader
    })
  }
  const count = await stop()
  for (const page of tabs) assert.deepEqual(await versionsOf(page, count), upTo(count))
  await until(() => openStreams.size === 1)
})

test('a leading tab whose stream has only heartbeats stays the leader', async () => {
  let tries = 1
  while (!(await staysTheLeader({ isLast: tries === 5 }))) tries++
})

/** False if this process paused, and so sent its heartbeats late. The last try fails instead. */
async function staysTheLeader({ isLast }: { isLast: boolean }): Promise<boolean> {
  let latestMs = 0
  await using server = await StreamServer.with(async (stream) => {
    stream.greet(1)
    let beatAt = performance.now()
    const beating = setInterval(() => {
      latestMs = Math.max(latestMs, performance.now() - beatAt)
      beatAt = performance.now()
      stream.write(':\n\n')
    }, 100)
    await stream.closed
    clearInterval(beating)
  })
  await using browser = await browserAt(server)
  // Almost half of silenceMs is the maximum: the machine may stop for a moment.
  await browser.context.addInitScript(
    '{ const draw = Math.random; Math.random = () => 0.9 + draw() / 10 }',
  )
  for (let count = 0; count < 3; count++) {
    const page = await newTab(browser, server)
    await page.evaluate(() => tab.follow({ silenceMs: 1_500 }))
    await until(async () => (await receivedIn(page)).types[0] === 'hello')
  }
  await sleep(3_500)
  if (server.streams.length > 1 && latestMs > 500 && !isLast) return false
  assert.equal(server.streams.length, 1)
  return true
}

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

test('a loop that falls 1,000 events behind receives a resync, and continues', async () => {
  const sending = Promise.withResolvers<void>()
  await using server = await StreamServer.with(async (stream) => {
    stream.greet(0)
    await sending.promise
    for (const version of upTo(1_100)) stream.notify(version)
  })
  await using browser = await browserAt(server)
  const leader = await newTab(browser, server)
  const held = await newTab(browser, server)
  for (const [page, isHeld] of [
    [leader, false],
    [held, true],
  ] as const) {
    await page.evaluate((how) => tab.follow(how), { isHeld })
    await until(async () => (await receivedIn(page)).types[0] === 'hello')
  }
  await held.evaluate(recordChannel, `carillon 4 session ${server.url}/ ann`)
  sending.resolve()
  await versionsOf(leader, 1_100)
  await until(() => held.evaluate(() => tab.sourceEvents.length === 1_100))
  await held.evaluate(() => {
    tab.isHeld = false
  })
  const versions = await versionsOf(held, 1_100)
  assert.deepEqual(versions, upTo(1_100).slice(-versions.length))
  assert.deepEqual((await receivedIn(held)).types.slice(0, 3), ['hello', 'resync', 'created'])
})

for (const [name, missing] of [
  ['has no locks', 'delete Navigator.prototype.locks'],
  ['has no channels', 'delete globalThis.BroadcastChannel'],
  [
    'refuses locks',
    "LockManager.prototype.request = async () => { throw new DOMException('', 'SecurityError') }",
  ],
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
  await browser.context.route('**/api/session', (route) => {
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
  const streams = [1, 2].map(() =>
    createCarillon({ baseUrl: service.url, auth: () => token }).inbox.subscribe(),
  )
  for (const stream of streams) assert.equal((await stream.next()).value.type, 'hello')
  assert.equal(openStreams.size, 2)
  for (const stream of streams) await stream.return?.()
  await until(() => openStreams.size === 0)
})

/** A new leader that has not caught up might do so. */
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

function recordChannel(name: string): void {
  new BroadcastChannel(name).onmessage = ({ data: { event } }) => {
    if (event) tab.sourceEvents.push({ type: event.type, id: event.position, data: '' })
  }
}

async function close(page: Page): Promise<void> {
  await page.close()
}

async function loseStream(page: Page, deposed: Promise<void>): Promise<void> {
  await page.evaluate(() => tab.loseStream())
  await deposed
}

/** Waiting for a response takes no processor time. */
async function hang(page: Page, deposed: Promise<void>): Promise<void> {
  await page.route('**/hang', async (route) => {
    await deposed
    await route.fulfill({ body: 'late' })
  })
  await page.evaluate(() => {
    const request = new XMLHttpRequest()
    request.open('GET', '/hang', false)
    request.send()
  })
}

async function crash(page: Page): Promise<void> {
  const crashed = page.waitForEvent('crash')
  await page.goto('chrome://crash').catch(() => {})
  await crashed
}
