// The applications of examples/, each started and used: in a real browser if it has a page.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { createCarillon } from '../../../client/carillon-client.ts'
import { Chromium } from '../../support/chromium.ts'
import { freePort } from '../../support/network/free-port.ts'
import { CarillonProcess, carillon, Folder, firstSignInOf } from '../../support/processes/carillon-process.ts'
import { manifestOf, startExample } from '../../support/processes/example-application.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const chromium = await Chromium.start()
after(() => chromium[Symbol.asyncDispose]())

type Running = { url: string; key: string; folder: Folder; stop(): Promise<unknown> }

/** Carillon as it runs with these settings, with a key that has both scopes. It ends with the test. */
async function startCarillon(t: TestContext, env: Record<string, string> = {}): Promise<Running> {
  const folder = new Folder()
  const port = await freePort()
  const running = await CarillonProcess.ready(folder, { env: { ...env, CARILLON_PORT: String(port) } })
  t.after(async () => {
    await running[Symbol.asyncDispose]()
    folder[Symbol.dispose]()
  })
  const added = await carillon(folder, ['key', 'add', 'application', '--scope', 'send,users', '--json'])
  const { key } = JSON.parse(added.stdout)
  return { url: `http://127.0.0.1:${port}`, key, folder, stop: () => running.end('SIGTERM') }
}

/** A request of the application's backend. */
async function post({ url, key }: Running, path: string, body: object) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  const text = await response.text()
  assert.equal(response.status, 201, text)
  return JSON.parse(text).data
}

function send(service: Running, externalId: string, title: string) {
  return post(service, '/api/notifications', { recipients: [{ externalId }], title })
}

function settingsFor({ url, key }: Running) {
  return { CARILLON_URL: url, CARILLON_PRODUCER_KEY: key }
}

/** Waits until the page shows these notifications, the newest first, and this count. */
async function shows(page: Page, { titles, unread }: { titles: string[]; unread: number }): Promise<void> {
  await page.locator('output', { hasText: new RegExp(`^${unread}$`) }).waitFor()
  await page
    .locator('li')
    .nth(titles.length - 1)
    .waitFor()
  assert.deepEqual(await page.locator('li').allTextContents(), titles)
}

test('Express with a plain page: one origin, Carillon below /bell/, a live bell for a user of the shop', async (t) => {
  const port = await freePort()
  const service = await startCarillon(t, { CARILLON_PUBLIC_URL: `http://127.0.0.1:${port}/bell/` })
  await using shop = await startExample('express', { ...settingsFor(service), PORT: String(port) })
  await send(service, 'customers/Ann', 'Before the first sign-in')
  const page = await chromium.page(shop.url)
  const outside = requestsOutside(page, shop.url)
  await page.getByLabel('Name').fill('Ann')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await shows(page, { titles: ['Before the first sign-in'], unread: 1 })
  await page.getByRole('button', { name: 'Order tea' }).click()
  await shows(page, { titles: ['Tea is on its way', 'Before the first sign-in'], unread: 2 })
  await page.getByRole('button', { name: 'Mark all as read' }).click()
  await shows(page, { titles: ['Tea is on its way', 'Before the first sign-in'], unread: 0 })
  await page.reload()
  await shows(page, { titles: ['Tea is on its way', 'Before the first sign-in'], unread: 0 })
  assert.deepEqual([outside, chromium.uncaught], [[], []])
  const documentation = await page.goto(`${shop.url}/bell/`)
  assert.equal(documentation?.url(), `${shop.url}/bell/docs`)
})

test('a browser keeps and sends the session cookie of a service below a path, and sends it nowhere else', async (t) => {
  const port = await freePort()
  const service = await startCarillon(t, { CARILLON_PUBLIC_URL: `http://127.0.0.1:${port}/bell/` })
  await using shop = await startExample('express', { ...settingsFor(service), PORT: String(port) })
  const page = await chromium.page(shop.url)
  const { username, password } = firstSignInOf(service.folder)
  const content = "import * as client from 'carillon-client'; globalThis.client = client"
  await page.addScriptTag({ type: 'module', content })
  await page.waitForFunction('globalThis.client')
  const titles = await page.evaluate(
    async (credentials) => {
      const { client } = globalThis as unknown as { client: { createCarillon: typeof createCarillon } }
      const own = client.createCarillon({ baseUrl: '/bell/' })
      await own.login({ ...credentials, variant: 'stateful' })
      for await (const event of own.inbox.subscribe()) if (event.type === 'hello') break
      const { items } = await own.inbox.list()
      return items.map(({ title }) => title)
    },
    { username, password },
  )
  assert.deepEqual(titles, ['Welcome to Carillon'])
  const isSentTo = async (path: string) =>
    (await chromium.context.cookies(shop.url + path)).some(({ name }) => name === 'carillon')
  const sentTo = await Promise.all(['/bell/api/me', '/', '/bellows'].map(isSentTo))
  assert.deepEqual(sentTo, [true, false, false])
})

test('Hono and React: Carillon on an origin of its own, a live bell for the users of the application', async (t) => {
  const port = await freePort()
  const service = await startCarillon(t, { CARILLON_ALLOWED_ORIGINS: `http://127.0.0.1:${port}` })
  await using board = await startExample('hono-react', { ...settingsFor(service), PORT: String(port) })
  await send(service, 'bob', 'Before the first sign-in')
  await using another = await Chromium.start()
  const [anns, bobs] = [await chromium.page(board.url), await another.page(board.url)]
  for (const [page, name] of [
    [anns, 'Ann'],
    [bobs, 'Bob'],
  ] as const) {
    await page.getByLabel('Name').fill(name)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }
  await shows(bobs, { titles: ['Before the first sign-in'], unread: 1 })
  await anns.getByLabel('Owner').fill('bob')
  await anns.getByLabel('Task').fill('Water the plants')
  await anns.getByRole('button', { name: 'Assign' }).click()
  await shows(bobs, { titles: ['Ann: Water the plants', 'Before the first sign-in'], unread: 2 })
  await bobs.getByRole('button', { name: 'Mark all as read' }).click()
  await shows(bobs, { titles: ['Ann: Water the plants', 'Before the first sign-in'], unread: 0 })
  await bobs.reload()
  await shows(bobs, { titles: ['Ann: Water the plants', 'Before the first sign-in'], unread: 0 })
  assert.deepEqual([...chromium.uncaught, ...another.uncaught], [])
})

test('a service that checks tokens offline accepts the token of a user, also while Carillon is stopped, and no other', async (t) => {
  const service = await startCarillon(t)
  await using own = await startExample('offline-tokens', { CARILLON_ISSUER: service.url })
  const { username, password } = firstSignInOf(service.folder)
  const { User, token } = await createCarillon({ baseUrl: service.url }).login({
    username,
    password,
    variant: 'stateless',
  })
  const respond = (given?: string) =>
    fetch(own.url, given === undefined ? {} : { headers: { authorization: `Bearer ${given}` } })
  const accepted = await respond(token)
  assert.deepEqual([accepted.status, await accepted.json()], [200, { userId: User.id, name: username }])
  const inboxOnly = await post(service, `/api/users/${User.id}/tokens`, { scope: 'inbox' })
  for (const wrong of [undefined, inboxOnly.token, `${token}x`, 'x']) assert.equal((await respond(wrong)).status, 401)
  await service.stop()
  assert.equal((await respond(token)).status, 200)
})

test('each example names the packages of this checkout in their versions, and has a README', () => {
  const rootManifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const versions: Record<string, string> = {
    ...rootManifest.devDependencies,
    ...manifestOf(join(root, 'server')).dependencies,
    ...JSON.parse(readFileSync(join(root, 'client/package.json'), 'utf8')).devDependencies,
    'carillon-client': `file:../../dist/carillon-client-${rootManifest.version}.tgz`,
  }
  const folders = globSync('examples/*/package.json', { cwd: root }).map((file) => join(root, file, '..'))
  assert.equal(folders.length, 3)
  for (const folder of folders) {
    for (const [name, version] of Object.entries(manifestOf(folder).dependencies)) assert.equal(version, versions[name])
    assert.match(readFileSync(join(folder, 'README.md'), 'utf8'), /npm install\nnpm start/)
  }
})

/** Filled with the URLs that the page requests from other origins. */
function requestsOutside(page: Page, origin: string): string[] {
  const urls: string[] = []
  page.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`) && !request.url().startsWith('data:')) urls.push(request.url())
  })
  return urls
}
