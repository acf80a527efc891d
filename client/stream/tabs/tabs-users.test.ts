// Several users in one browser, a cookie that another sign-in replaces, and the end of proofs.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page, Route } from 'playwright-core'
import type { TestUser } from '../../../tests/support/service.ts'
import type { Carillon, InboxList } from '../../carillon-client.ts'
import { StreamServer } from '../../testing/stream-server.ts'
import {
  browserAt,
  countersOf,
  followingTabs,
  isOver,
  leaderIn,
  locksIn,
  newTab,
  openStreams,
  receivedIn,
  send,
  setCookie,
  startBrowser,
  startService,
  tokenOf,
  until,
  upTo,
  versionsOf,
} from '../../testing/tab-browser.ts'

const service = await startService()

test('tabs of several users in one browser, by token or with a replaced cookie, receive only the events of their own user', async () => {
  await using browser = await startBrowser()
  const ann = await service.user()
  const ben = await service.user()
  const cid = await service.user()
  const following = async (user: TestUser) => ({ token: await tokenOf(user) })
  const [anns] = await followingTabs(browser, ann, 1, await following(ann))
  const [bens] = await followingTabs(browser, ben, 1, await following(ben))
  const [cids] = await followingTabs(browser, cid, 1)
  assert.equal(openStreams.size, 3)
  const [annsByCookie] = await followingTabs(browser, ann, 1)
  assert.ok(anns && bens && cids && annsByCookie)
  // A cookie and a token may end one before the other, so there are two streams.
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
  const ann = await service.user()
  const ben = await service.user()
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
  const ann = await service.user()
  const ben = await service.user()
  await send(ann, 3)
  await send(ben, 7)
  const tabs = await followingTabs(browser, ann, 3)
  await setCookie(browser, await service.signIn(ben, 'stateful'))
  const leader = leaderIn(browser)
  const others = tabs.filter((tab) => tab !== leader)
  await leader.close()
  for (const tab of others) await until(async () => (await countersOf(tab)).at(-1) === 'hello 7')
  const [bens] = await followingTabs(browser, ben, 1)
  assert.ok(bens)
  await setCookie(browser, await service.signIn(ann, 'stateful'))
  await browser.context.setOffline(true)
  await browser.context.setOffline(false)
  for (const tab of [...others, bens])
    await until(async () => (await countersOf(tab)).at(-1) === 'hello 3')
  for (const tab of others)
    assert.deepEqual(await countersOf(tab), [
      'hello 3',
      'resync 7',
      'hello 7',
      'resync 3',
      'hello 3',
    ])
  assert.deepEqual(await countersOf(bens), ['hello 7', 'resync 3', 'hello 3'])
})

test('a tab that has received nothing requests the current user again before it leads', async () => {
  await using browser = await startBrowser()
  const ann = await service.user()
  const ben = await service.user()
  await send(ben, 7)
  const block = (route: Route) => route.abort()
  await browser.context.route('**/api/notifications/stream*', block)
  const leader = await newTab(browser)
  const others = [await newTab(browser), await newTab(browser)]
  await setCookie(browser, await service.signIn(ann, 'stateful'))
  await leader.evaluate(() => tab.follow())
  await until(async () => (await locksIn(leader)).length === 1)
  for (const page of others) await page.evaluate(() => tab.follow())
  await until(async () => (await locksIn(leader)).length === 3)
  await sleep(1_100)
  await setCookie(browser, await service.signIn(ben, 'stateful'))
  // Otherwise this leader would pass its greeting on, and other tabs would not request.
  await leader.close()
  await browser.context.unroute('**/api/notifications/stream*', block)
  for (const tab of others) await until(async () => (await receivedIn(tab)).types.length > 0)
  const locks = await locksIn(others[0] as Page)
  assert.deepEqual(locks, Array(2).fill(`carillon 4 session ${service.url}/ ${ben.id}`))
})

test('if the inbox of the stream changes again and again, the client requests it with growing delays', async () => {
  const state = '{"version":1,"unread":1,"total":1}'
  let count = 0
  await using server = await StreamServer.with((stream) => {
    const tag = ['aaaaaaaa', 'bbbbbbbb'][count++ % 2]
    stream
      .open()
      .write(
        `retry: 1\n\nevent: hello\ndata: ${state}\n\nevent: resync\nid: 1-${tag}\ndata: ${state}\n\n`,
      )
  })
  await using browser = await browserAt(server)
  await browser.context.addInitScript('Math.random = () => 0.999')
  const page = await newTab(browser, server)
  await page.evaluate(() => tab.follow({ since: '1-cccccccc' }))
  await until(() => server.streams.length > 3)
  const times = server.streams.map(({ at }) => at)
  const waits = times.map((at, n) => at - (times[n - 1] ?? at))
  assert.ok((waits[2] ?? 0) >= 990 && (waits[3] ?? 0) >= 1_990, waits.join())
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
    assert.deepEqual(
      [name, code, status, reason],
      ['CarillonError', 'UNAUTHORIZED', 401, 'revoked'],
    )
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
  const { name, code, cause } = (await receivedIn(failing)).error ?? {}
  assert.deepEqual(
    [name, code, String(cause)],
    ['CarillonError', 'AUTH_FAILED', 'RangeError: no token today'],
  )
  await send(ann, 1)
  assert.deepEqual(await versionsOf(other, 1), [1])
})

test('signOut in one tab ends the lists of that user in the other tabs, and of no other user', async () => {
  await using browser = await startBrowser()
  const ann = await service.user()
  const bob = await service.user()
  await send(ann, 1, 0, 'Of Ann')
  await send(bob, 1, 0, 'Of Bob')
  const pages: Page[] = []
  for (const user of [ann, ann, bob]) {
    const page = await newTab(browser)
    pages.push(page)
    await page.evaluate(
      (token) => {
        const carillon = tab.createCarillon({ auth: () => token })
        Object.assign(globalThis, { carillon, list: carillon.inbox.open() })
      },
      await tokenOf(user),
    )
  }
  const shown = () =>
    Promise.all(
      pages.map((page) =>
        page.evaluate(() => {
          const { state, items } = (globalThis as unknown as { list: InboxList }).list.getSnapshot()
          return [state, ...items.map(({ title }) => title)].join()
        }),
      ),
    )
  await until(async () => (await shown()).join(' ') === 'live,Of Ann live,Of Ann live,Of Bob')
  await pages[0]?.evaluate(() =>
    (globalThis as unknown as { carillon: Carillon }).carillon.signOut(),
  )
  await until(async () => (await shown()).join(' ') === 'signed-out signed-out live,Of Bob')
  await until(() => openStreams.size === 1)
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
