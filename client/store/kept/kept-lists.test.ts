// Lists that are kept for the next visit, and acts that are made without a connection: in a real Chromium against a real service.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page, Route } from 'playwright-core'
import { Chromium } from '../../../tests/support/chromium.ts'
import type { TestUser } from '../../../tests/support/service.ts'
import type { CarillonOptions } from '../../carillon-client.ts'
import { send, service, setCookie, tokenOf, until } from '../../testing/tab-browser.ts'
import './testing/offline-tab.ts'

type Opening = Pick<CarillonOptions, 'offline'> & { token?: string; tokenError?: string }

/** A browser of a new user with a session, for whom notifications with these titles have arrived. */
class Visitor {
  readonly chromium: Chromium
  readonly user: TestUser
  /** The acts that the browser has sent, with the last digits of an id. */
  readonly sent: string[] = []
  readonly scripts: string[] = []
  #cut: ((route: Route) => Promise<void>) | undefined

  private constructor(chromium: Chromium, user: TestUser) {
    this.chromium = chromium
    this.user = user
  }

  static async start(t: TestContext, titles: string[]): Promise<Visitor> {
    const chromium = await Chromium.start()
    t.after(() => chromium[Symbol.asyncDispose]())
    const visitor = new Visitor(chromium, await service.user())
    for (const title of titles) await send(visitor.user, 1, 0, title)
    await chromium.serveClientAt(service.url)
    const script = '<script type="module" src="/client/store/kept/testing/offline-tab.ts"></script>'
    const body = `<!doctype html><title>Offline</title>${script}`
    await chromium.context.route(`${service.url}/offline.html`, (route) =>
      route.fulfill({ contentType: 'text/html', body }),
    )
    await setCookie(chromium, await service.signIn(visitor.user, 'stateful'))
    chromium.context.on('response', (response) => {
      const request = response.request()
      const { pathname, search } = new URL(request.url())
      if (request.method() === 'PATCH' || pathname.endsWith('read-all'))
        visitor.sent.push(`${pathname.split('/').slice(-1)}${search} ${response.status()}`)
      if (pathname.includes('/kept/kept-inbox')) visitor.scripts.push(pathname)
    })
    return visitor
  }

  async visit(how: Opening = { offline: true }): Promise<Page> {
    const page = await this.chromium.page(`${service.url}/offline.html`)
    await this.open(page, how)
    return page
  }

  async open(page: Page, how: Opening = { offline: true }): Promise<void> {
    await page.waitForFunction(() => 'offline' in globalThis)
    await page.evaluate((options) => offline.open(options), how)
  }

  /** No request reaches the service from now on. */
  async cut(how: 'silent' | 'refused' = 'refused'): Promise<void> {
    this.#cut = async (route) => {
      if (how === 'refused') await route.abort('internetdisconnected')
    }
    await this.chromium.context.route(`${service.url}/api/**`, this.#cut)
  }

  async reconnect(): Promise<void> {
    await this.chromium.context.unroute(`${service.url}/api/**`, this.#cut)
    for (const page of this.chromium.context.pages())
      await page.evaluate(() => globalThis.dispatchEvent(new Event('online')))
  }

  /** Leaves the page and returns to it. */
  async reload(page: Page, how?: Opening): Promise<void> {
    await page.reload()
    await this.open(page, how)
  }

  async listed(): Promise<string> {
    const { unread, items } = await service.list(await service.signIn(this.user, 'stateless'))
    const titles = items.map(({ title, read }) => title + (read ? ', read' : ''))
    return [`${unread} unread, live`, ...titles].join('; ')
  }
}

async function shows(page: Page, text: string): Promise<void> {
  let shown: string | undefined
  const read = async () => {
    shown = await page.evaluate(() => offline.shown.at(-1))
    return shown === text
  }
  await until(read, 20_000).catch(() => assert.equal(shown, text))
}

function historyOf(page: Page): Promise<string[]> {
  return page.evaluate(() => offline.shown)
}

function storedIn(page: Page): Promise<string> {
  return page.evaluate(() => offline.stored())
}

async function keeps(page: Page, text: string): Promise<void> {
  await until(async () => (await storedIn(page)).includes(text), 20_000)
}

test('the next visit shows the last list before any response, and then what has changed', async (t) => {
  const visitor = await Visitor.start(t, ['First', 'Second'])
  const page = await visitor.visit()
  await shows(page, '2 unread, live; Second; First')
  await keeps(page, 'Second')
  await visitor.cut('silent')
  await visitor.reload(page)
  await shows(page, '2 unread, loading; Second; First')
  assert.deepEqual(await historyOf(page), ['0 unread, loading', '2 unread, loading; Second; First'])
  await send(visitor.user, 1, 0, 'Third')
  await visitor.reconnect()
  await visitor.reload(page)
  await shows(page, '3 unread, live; Third; Second; First')
})

test('acts without a connection survive a reload, and are sent later, in order and each once', async (t) => {
  const visitor = await Visitor.start(t, ['First', 'Second', 'Third'])
  const page = await visitor.visit()
  await shows(page, '3 unread, live; Third; Second; First')
  await keeps(page, 'Third')
  await visitor.cut()
  await visitor.reload(page)
  await shows(page, '3 unread, offline; Third; Second; First')
  await page.evaluate(() => offline.act('read', 2))
  await shows(page, '2 unread, offline; Third; Second; First, read')
  await page.evaluate(() => offline.act('readAll'))
  await shows(page, '0 unread, offline; Third, read; Second, read; First, read')
  await keeps(page, 'throughSeq')
  await visitor.reload(page)
  await shows(page, '0 unread, offline; Third, read; Second, read; First, read')
  await send(visitor.user, 1, 0, 'Arrived unseen')
  await visitor.reconnect()
  await shows(page, '1 unread, live; Arrived unseen; Third, read; Second, read; First, read')
  await until(async () => (await storedIn(page)).includes('"acts":[]'))
  assert.equal(await visitor.listed(), '1 unread, live; Arrived unseen; Third, read; Second, read; First, read')
  assert.deepEqual(visitor.sent, ['read 204', 'read-all?throughSeq=3 204'])
})

test('acts that wait in two tabs are each sent by one of them', async (t) => {
  const visitor = await Visitor.start(t, ['First', 'Second', 'Third'])
  const one = await visitor.visit()
  await shows(one, '3 unread, live; Third; Second; First')
  await keeps(one, 'Third')
  await visitor.cut()
  await visitor.reload(one)
  await shows(one, '3 unread, offline; Third; Second; First')
  await one.evaluate(() => {
    offline.act('read', 0)
    offline.act('read', 1)
  })
  await until(async () => (await storedIn(one)).split('"type":"read"').length === 3)
  const two = await visitor.visit()
  await shows(two, '1 unread, offline; Third, read; Second, read; First')
  await two.evaluate(() => offline.act('read', 2))
  await keeps(two, '"acts"')
  await visitor.reconnect()
  for (const page of [one, two]) await shows(page, '0 unread, live; Third, read; Second, read; First, read')
  await until(async () => (await storedIn(one)).includes('"acts":[]'))
  assert.deepEqual(visitor.sent, ['read 204', 'read 204', 'read 204'])
})

test('an act that the server refuses later is dropped, and the acts after it are sent', async (t) => {
  const visitor = await Visitor.start(t, ['First'])
  const page = await visitor.visit()
  await shows(page, '1 unread, live; First')
  await keeps(page, 'First')
  await visitor.cut()
  await visitor.reload(page)
  await shows(page, '1 unread, offline; First')
  await page.evaluate(() => {
    offline.read('00000000-0000-7000-8000-000000000000')
    offline.act('read')
  })
  await shows(page, '0 unread, offline; First, read')
  await visitor.reconnect()
  await shows(page, '0 unread, live; First, read')
  await until(async () => (await storedIn(page)).includes('"acts":[]'))
  assert.deepEqual(visitor.sent, ['read 404', 'read 204'])
  assert.deepEqual(await page.evaluate(() => offline.failures), ['NOT_FOUND'])
})

test('if another user has signed in, what was kept is deleted and its acts are not sent (B2)', async (t) => {
  const visitor = await Visitor.start(t, ['Private', 'Secret'])
  const page = await visitor.visit()
  await shows(page, '2 unread, live; Secret; Private')
  await keeps(page, 'Secret')
  await visitor.cut()
  await visitor.reload(page)
  await shows(page, '2 unread, offline; Secret; Private')
  await page.evaluate(() => offline.act('readAll'))
  await keeps(page, 'throughSeq')
  const other = await service.user()
  for (const title of ['For the other', 'Also']) await send(other, 1, 0, title)
  await setCookie(visitor.chromium, await service.signIn(other, 'stateful'))
  await visitor.reconnect()
  await visitor.reload(page)
  await shows(page, '2 unread, live; Also; For the other')
  await keeps(page, 'Also')
  assert.doesNotMatch(await storedIn(page), /Secret|throughSeq/)
  assert.deepEqual(visitor.sent, [])
  await visitor.cut()
  await visitor.reload(page)
  await shows(page, '2 unread, offline; Also; For the other')
  assert.doesNotMatch((await historyOf(page)).join(), /Secret/)
})

test('nothing is kept after a sign-out, and none of it is shown on the next visit (B3)', async (t) => {
  const visitor = await Visitor.start(t, ['Secret'])
  const page = await visitor.visit()
  await shows(page, '1 unread, live; Secret')
  await keeps(page, 'Secret')
  await page.evaluate(() => offline.carillon?.logout())
  assert.equal(await storedIn(page), '[[[]]]')
  await shows(page, '0 unread, signed-out')
  await visitor.cut()
  await visitor.reload(page)
  await shows(page, '0 unread, offline')
  assert.doesNotMatch((await historyOf(page)).join(), /Secret/)
})

test('a session that has ended elsewhere deletes what was kept (B3)', async (t) => {
  const visitor = await Visitor.start(t, ['Secret'])
  const page = await visitor.visit()
  await shows(page, '1 unread, live; Secret')
  await keeps(page, 'Secret')
  await page.evaluate(() => fetch('/logout', { method: 'POST' }))
  await until(async () => (await storedIn(page)) === '[[[]]]')
  await shows(page, '0 unread, signed-out')
})

test('without the option, nothing is kept and the script for it is not loaded (B3)', async (t) => {
  const visitor = await Visitor.start(t, ['First'])
  const page = await visitor.visit({})
  await shows(page, '1 unread, live; First')
  assert.equal(await storedIn(page), '[]')
  assert.deepEqual(visitor.scripts, [])
})

test('no cookie and no token is kept (B3)', async (t) => {
  const visitor = await Visitor.start(t, ['First'])
  const token = await tokenOf(visitor.user)
  const page = await visitor.visit({ offline: 'ann of the shop', token })
  await shows(page, '1 unread, live; First')
  await keeps(page, 'First')
  await page.evaluate(() => offline.act('read'))
  await shows(page, '0 unread, live; First, read')
  const stored = await storedIn(page)
  for (const { value } of await visitor.chromium.context.cookies()) assert.doesNotMatch(stored, new RegExp(value))
  for (const part of token.split('.')) assert.ok(!stored.includes(part))
})

test('with tokens, a client for another id of the application shows nothing that was kept for the first one', async (t) => {
  const visitor = await Visitor.start(t, ['Secret'])
  const page = await visitor.visit({ offline: 'ann', token: await tokenOf(visitor.user) })
  await shows(page, '1 unread, live; Secret')
  await keeps(page, 'Secret')
  await visitor.cut()
  await visitor.reload(page, { offline: 'ann', token: 'of Ann' })
  await shows(page, '1 unread, offline; Secret')
  await visitor.reload(page, { offline: 'bob', token: 'of Bob' })
  await shows(page, '0 unread, offline')
  assert.doesNotMatch((await historyOf(page)).join(), /Secret/)
  assert.doesNotMatch(await storedIn(page), /Secret/)
})

test('if the application has no token for the user, what was kept is no longer shown', async (t) => {
  const visitor = await Visitor.start(t, ['Secret'])
  const page = await visitor.visit({ offline: 'ann', token: await tokenOf(visitor.user) })
  await shows(page, '1 unread, live; Secret')
  await keeps(page, 'Secret')
  await visitor.reload(page, { offline: 'ann', tokenError: 'You are not signed in' })
  await shows(page, '0 unread, error')
  assert.doesNotMatch((await historyOf(page)).at(-1) ?? '', /Secret/)
})

for (const [failure, setUp] of Object.entries({
  forbidden: () => {
    IDBFactory.prototype.open = () => {
      throw new DOMException('forbidden', 'SecurityError')
    }
  },
  full: () => {
    IDBObjectStore.prototype.put = () => {
      throw new DOMException('full', 'QuotaExceededError')
    }
  },
  silent: () => {
    IDBFactory.prototype.open = () => ({}) as IDBOpenDBRequest
  },
}))
  test(`if storage is ${failure}, the list is live, and acts without a connection wait in the tab`, async (t) => {
    const visitor = await Visitor.start(t, ['First', 'Second'])
    await visitor.chromium.context.addInitScript(setUp)
    const page = await visitor.visit()
    await shows(page, '2 unread, live; Second; First')
    await page.evaluate(() => offline.act('read'))
    await shows(page, '1 unread, live; Second, read; First')
    await visitor.cut()
    await page.evaluate(() => offline.act('read', 1))
    await shows(page, '0 unread, live; Second, read; First, read')
    await visitor.reconnect()
    await until(async () => (await visitor.listed()) === '0 unread, live; Second, read; First, read')
    assert.deepEqual(visitor.chromium.uncaught, [])
  })
