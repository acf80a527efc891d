// What is kept in the IndexedDB of a real browser, and what happens if there is no storage.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { newTab, startBrowser, until } from '../../testing/tab-browser.ts'
import type { NotificationPage } from '../../transport/types.ts'
import type { KeptInbox, WaitingAct } from './kept-inbox.ts'

declare global {
  var kept: KeptInbox
  var transmitted: string[]
  function keptAs(name: string, user: string | null): KeptInbox
}

const chromium = await startBrowser()
after(() => chromium[Symbol.asyncDispose]())

const first: WaitingAct = { key: 'first', type: 'read', id: 'a' }
const second: WaitingAct = { key: 'second', type: 'unread', id: 'b' }
const third: WaitingAct = { key: 'third', type: 'read-all', throughSeq: 7 }

function pageOf(count: number, title = 'Ding'): NotificationPage {
  const items = Array.from({ length: count }, (_, index) => ({ id: `${index}`, title }) as NotificationPage['items'][0])
  return { items, total: count, hasMore: false, unread: count, version: 1, next: null }
}

/** A tab with `keptAs`, for a server of its own. `setUp` runs in the page first. */
async function openTab(server: string, setUp = async () => {}): Promise<Page> {
  const page = await newTab(chromium)
  await page.evaluate(setUp)
  const content = `import { KeptInbox } from '/client/store/kept/kept-inbox.ts'
    globalThis.transmitted = []
    globalThis.keptAs = (name, user) => {
      const me = async () => user && { user: { id: user } }
      return globalThis.kept = new KeptInbox({ server: '${server}', name, me })
    }`
  await page.addScriptTag({ type: 'module', content })
  await page.waitForFunction(() => 'keptAs' in globalThis)
  return page
}

/** Keeps a page and two acts of Ann. */
async function keepForAnn(page: Page): Promise<void> {
  await page.evaluate(
    async ({ list, acts }) => {
      keptAs('', 'ann')
      await kept.confirm()
      kept.save('all', list)
      for (const act of acts) await kept.add(act)
    },
    { list: pageOf(2), acts: [first, second] },
  )
}

function loaded(page: Page, { name = '', user = 'ann' as string | null, list = 'all' } = {}) {
  return page.evaluate(async (how) => (await keptAs(how.name, how.user).load(how.list)) ?? null, { name, user, list })
}

test('a kept list and the waiting acts are loaded again on the next visit, in their order', async () => {
  const page = await openTab('https://visit.example')
  await keepForAnn(page)
  await page.close()
  const next = await openTab('https://visit.example')
  assert.deepEqual(await loaded(next), { user: 'ann', page: pageOf(2), acts: [first, second] })
  assert.deepEqual(await loaded(next, { list: 'unread' }), { user: 'ann', acts: [first, second], page: undefined })
  const other = await openTab('https://another.example')
  assert.equal(await loaded(other), null)
})

test('the first 100 items are kept, of the five lists that changed last', async () => {
  const page = await openTab('https://size.example')
  await page.evaluate(async (list) => {
    await keptAs('', 'ann').confirm()
    for (const name of ['1', '2', '3', '4', '5', '6']) kept.save(name, list)
  }, pageOf(150))
  await until(async () => (await loaded(page, { list: '6' }))?.page !== undefined)
  assert.equal((await loaded(page, { list: '2' }))?.page?.items.length, 100)
  assert.equal((await loaded(page, { list: '1' }))?.page, undefined)
})

test('the newest state is kept while a list changes all the time', async () => {
  const page = await openTab('https://busy.example')
  await page.evaluate(async (list) => {
    await keptAs('', 'ann').confirm()
    for (let version = 1; version <= 1000; version++) kept.save('all', { ...list, version })
  }, pageOf(1))
  await until(async () => (await loaded(page))?.page?.version === 1000)
})

for (const user of ['bob', null])
  test(`what was kept is deleted if ${user ? 'another user is' : 'no user is'} signed in`, async () => {
    const page = await openTab(`https://${user}.example`)
    await keepForAnn(page)
    const confirmed = await page.evaluate(async (who) => (await keptAs('', who).confirm()) ?? null, user)
    assert.equal(confirmed, user)
    assert.equal(await loaded(page), null)
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
  assert.equal(await loaded(page, { name: 'bob of the shop' }), null)
  assert.equal(await loaded(page), null)
})

test('two tabs that send at the same time send each act once, in order, and one that has to wait stays', async () => {
  const server = 'https://tabs.example'
  const tabs = [await openTab(server), await openTab(server)]
  await keepForAnn(tabs[0] as Page)
  await tabs[1]?.evaluate(async (act) => {
    await keptAs('', 'ann').confirm()
    await kept.add(act)
  }, third)
  await Promise.all(
    tabs.map((page) =>
      page.evaluate(() =>
        kept.send(async ({ key }) => {
          await new Promise((resolve) => setTimeout(resolve, 10))
          if (key !== 'third') transmitted.push(key)
          return key !== 'third'
        }),
      ),
    ),
  )
  const sent = await Promise.all(tabs.map((page) => page.evaluate(() => transmitted)))
  assert.deepEqual(sent.flat(), ['first', 'second'])
  assert.deepEqual((await loaded(tabs[0] as Page))?.acts, [third])
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
    await page.evaluate(() => kept.send(async ({ key }) => transmitted.push(key) > 0))
    assert.deepEqual(await page.evaluate(() => transmitted), ['first', 'second'])
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
  await page.evaluate(() => kept.send(async ({ key }) => transmitted.push(key) > 0))
  assert.deepEqual(await page.evaluate(() => transmitted), ['first', 'second'])
})
