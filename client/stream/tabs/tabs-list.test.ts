// The list by the code of docs/inbox/keep-a-list.js equals the list of the service.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codeFor, type KeptList } from '../../../tests/support/event-source/documented-list.ts'
import { randomOf } from '../../../tests/support/event-source/random.ts'
import { createCarillon, type StreamEvent } from '../../carillon-client.ts'
import {
  followingTabs,
  leaderIn,
  startBrowser,
  startService,
  tokenOf,
  until,
} from '../../testing/tab-browser.ts'

const service = await startService()

const { applyEvent } = codeFor(20)

function listAfter(events: readonly StreamEvent[]): KeptList {
  const list: KeptList = { items: [], unread: 0, total: 0, version: 0 }
  for (const { type, position: _, ...data } of events) assert.ok(applyEvent(list, type, data), type)
  return list
}

test('two tabs and a second device keep the list right, also after the leading tab is closed and the device is cut off', async (t) => {
  const random = randomOf(t)
  await using browser = await startBrowser()
  const ann = await service.user()
  const tabs = await followingTabs(browser, ann, 3, { since: 0 })
  const token = await tokenOf(ann)
  const { inbox } = createCarillon({ baseUrl: service.url, auth: () => token })
  const events: StreamEvent[] = []
  const leave = new AbortController()
  const following = (async () => {
    while (!leave.signal.aborted)
      for await (const event of inbox.subscribe({
        since: events.at(-1)?.position ?? 0,
        signal: leave.signal,
      })) {
        events.push(event)
        if (random.draw() < 0.1) break
      }
  })()
  const ended = following.catch((error) => assert.equal(error, leave.signal.reason))
  for (let round = 0; round < 6; round++) {
    for (let count = 0; count < 20; count++) {
      const { items } = await inbox.list()
      const id = items[random.below(items.length)]?.id
      const again = {
        key: `key ${random.below(6)}`,
        ...(random.draw() < 0.5 && { renotify: true }),
      }
      const acts = [
        () => service.deliver({ to: ann, title: `${round} ${count}` }),
        () => service.deliver({ to: ann, title: `${round} ${count}`, ...again }),
        () => id && inbox.read(id),
        () => id && inbox.markUnread(id),
        () => id && random.draw() < 0.3 && inbox.readAll({ through: id }),
        () => random.draw() < 0.3 && inbox.seen(items[0]?.seq ?? 0),
      ]
      await acts[random.below(acts.length)]?.()
    }
    if (round === 2) await leaderIn(browser).close()
    const { items, unread, total, version } = await inbox.list()
    const expected = JSON.stringify({ items, unread, total, version })
    const open = tabs.filter((tab) => !tab.isClosed())
    const seen = async () => [
      events,
      ...(await Promise.all(open.map((page) => page.evaluate(() => tab.events)))),
    ]
    await until(async () => (await seen()).every((all) => listAfter(all).version >= version))
    for (const all of await seen()) assert.equal(JSON.stringify(listAfter(all)), expected)
  }
  assert.equal(tabs.filter((tab) => !tab.isClosed()).length, 2)
  leave.abort()
  await ended
})
