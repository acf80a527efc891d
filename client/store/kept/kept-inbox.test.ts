// What is kept in the IndexedDB of a real browser, and what happens if there is no storage.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { newTab, startBrowser, until } from '../../testing/tab-browser.ts'
import type { NotificationPage } from '../../transport/types.ts'
import type { Act } from './record.ts'
import './testing/kept-tab.ts'

const chromium = await startBrowser()
after(() => chromium[Symbol.asyncDispose]())

const acts: Act[] = [
  { type: 'read', id: 'a' },
  { type: 'unread', id: 'b' },
]
const readAll: Act = { type: 'read-all', throughSeq: 7 }

function pageOf(count: number): NotificationPage {
  const items = Array.from({ length: count }, (_, index) => ({ id: `${index}` }) as NotificationPage['items'][0])
  return { items, total: count, hasMore: false, unread: count, version: 1, next: null }
}

/** `setUp` runs in the page first. */
async function openTab(server: string, setUp = async () => {}): Promise<Page> {
  const page = await newTab(chromium)
  await page.evaluate(setUp)
  await page.addScriptTag({ type: 'module', url: '/client/store/kept/testing/kept-tab.ts' })
  await page.waitForFunction(() => 'kept' in globalThis)
  await page.evaluate((address) => kept.open(address), server)
  return page
}

/** Keeps a page and two acts of Ann. */
async function keepForAnn(page: Page): Promise<void> {
  await page.evaluate(
    async ({ list, made }) => {
      await kept.confirm('ann')
      kept.save('all', list)
      kept.add(...made)
      // Changes take place in the order of their calls: after this one, the others are done.
      await kept.confirm('ann')
    },
    { list: pageOf(2), made: acts },
  )
}

function loaded(page: Page, list = 'all') {
  return page.evaluate((name) => kept.load(name), list)
}

test('a kept list and the waiting acts are loaded again on the next visit, in their order', async () => {
  const page = await openTab('https://visit.example')
  await keepForAnn(page)
  assert.deepEqual((await loaded(page))?.acts, acts)
  await page.close()
  const next = await openTab('https://visit.example')
  assert.deepEqual(await loaded(next), { user: 'ann', page: pageOf(2), acts })
  assert.deepEqual(await loaded(next, 'unread'), { user: 'ann', page: undefined, acts })
  assert.equal(await loaded(await openTab('https://another.example')), null)
})

test('the first 100 items are kept, of the five lists that changed last', async () => {
  const page = await openTab('https://size.example')
  await page.evaluate(async (list) => {
    await kept.confirm('ann')
    for (const name of ['1', '2', '3', '4', '5', '6']) kept.save(name, list)
  }, pageOf(150))
  await until(async () => (await loaded(page, '6'))?.page !== undefined)
  assert.equal((await loaded(page, '2'))?.page?.items.length, 100)
  assert.equal((await loaded(page, '1'))?.page, undefined)
})

test('the newest state is kept while a list changes all the time', async () => {
  const page = await openTab('https://busy.example')
  await page.evaluate(async (list) => {
    await kept.confirm('ann')
    for (let version = 1; version <= 1000; version++) kept.save('all', { ...list, version })
  }, pageOf(1))
  await until(async () => (await loaded(page))?.page?.version === 1000)
})

for (const user of ['bob', null])
  test(`what was kept is deleted if ${user ? 'another user is' : 'no user is'} signed in`, async () => {
    const page = await openTab(`https://${user}.example`)
    await keepForAnn(page)
    await page.evaluate((who) => kept.confirm(who), user)
    assert.equal(await loaded(page), null)
  })

test('a list and an act of a user are not kept if another tab has found another user', async () => {
  const server = 'https://users.example'
  const [anns, bobs] = [await openTab(server), await openTab(server)]
  await keepForAnn(anns)
  await bobs.evaluate(async (list) => {
    await kept.confirm('bob')
    kept.save('all', list)
  }, pageOf(1))
  const sent = await anns.evaluate(
    async ({ list, act }) => {
      kept.save('all', list)
      kept.add(act)
      return kept.send()
    },
    { list: pageOf(2), act: readAll },
  )
  // What Ann did before was deleted. The store confirms the user before each act.
  assert.deepEqual(sent, ['read-all'])
  assert.deepEqual(await loaded(bobs), { user: 'bob', page: pageOf(1), acts: [] })
})

test('clear() deletes what was kept, and what still waits to be written', async () => {
  const page = await openTab('https://clear.example')
  await keepForAnn(page)
  await page.evaluate(async (list) => {
    kept.save('all', list)
    await kept.clear()
    await new Promise((resolve) => setTimeout(resolve, 1_000))
  }, pageOf(3))
  assert.equal(await loaded(page), null)
})

test('a client with another name neither shows nor leaves what was kept', async () => {
  const page = await openTab('https://name.example')
  await keepForAnn(page)
  await page.evaluate(() => kept.open('https://name.example', 'bob of the shop'))
  assert.equal(await loaded(page), null)
  await page.evaluate(() => kept.open('https://name.example'))
  assert.equal(await loaded(page), null)
})

test('two tabs that send the same acts at the same time send each once, and in order', async () => {
  const server = 'https://tabs.example'
  const [one, two] = [await openTab(server), await openTab(server)]
  await keepForAnn(one)
  assert.deepEqual((await loaded(two))?.acts, acts)
  await two.evaluate((act) => kept.add(act), readAll)
  const sent = await Promise.all([one, two].map((page) => page.evaluate(() => kept.send())))
  assert.deepEqual(sent.flat().toSorted(), ['read', 'read-all', 'unread'])
  assert.equal(sent[1]?.at(-1), 'read-all')
  assert.deepEqual((await loaded(one))?.acts, [])
})

test('an act without a response waits on, and one that the server has refused does not', async () => {
  const page = await openTab('https://refused.example')
  await keepForAnn(page)
  const sent = await page.evaluate(async () => [
    await kept.send({ act: 'unread', code: 'NETWORK' }),
    await kept.send({ act: 'unread', code: 'NOT_FOUND', status: 404 }),
    await kept.send(),
  ])
  assert.deepEqual(sent, [['read', 'NETWORK'], ['NOT_FOUND'], []])
})

const failures: Record<string, () => Promise<void>> = {
  'is missing': async () => {
    Object.defineProperty(globalThis, 'indexedDB', { value: undefined })
  },
  'is forbidden': async () => {
    IDBFactory.prototype.open = () => {
      throw new DOMException('forbidden', 'SecurityError')
    }
  },
  'is full': async () => {
    IDBObjectStore.prototype.put = () => {
      throw new DOMException('full', 'QuotaExceededError')
    }
  },
  'is closed by the browser': async () => {
    IDBDatabase.prototype.transaction = () => {
      throw new DOMException('closed', 'InvalidStateError')
    }
  },
  'never responds': async () => {
    IDBFactory.prototype.open = () => ({}) as IDBOpenDBRequest
  },
  'was written by a newer version': async () => {
    const { open } = IDBFactory.prototype
    await new Promise((resolve) => {
      const opening = open.call(indexedDB, 'newer', 2)
      opening.onsuccess = () => resolve(opening.result.close())
    })
    IDBFactory.prototype.open = function () {
      return open.call(this, 'newer', 1)
    }
  },
  'is blocked by another tab': async () => {
    const { open } = IDBFactory.prototype
    await new Promise((resolve) => {
      open.call(indexedDB, 'blocked', 1).onsuccess = resolve
    })
    IDBFactory.prototype.open = function () {
      return open.call(this, 'blocked', 2)
    }
  },
}

for (const [failure, setUp] of Object.entries(failures))
  test(`if storage ${failure}, acts wait in the tab and are sent, and nothing else fails`, async () => {
    const page = await openTab(`https://${encodeURIComponent(failure)}.example`, setUp)
    await keepForAnn(page)
    assert.deepEqual(await page.evaluate(() => kept.send()), ['read', 'unread'])
    await page.evaluate(() => kept.clear())
    assert.equal(await loaded(page), null)
    assert.deepEqual(chromium.uncaught, [])
  })

test('without Web Locks the tab sends its acts all the same', async () => {
  const page = await openTab('https://locks.example', async () => {
    LockManager.prototype.request = async () => {
      throw new DOMException('an opaque origin', 'SecurityError')
    }
  })
  await keepForAnn(page)
  assert.deepEqual(await page.evaluate(() => kept.send()), ['read', 'unread'])
})
