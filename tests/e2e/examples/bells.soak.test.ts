// Builds and starts each example with a bell, and uses it in a real browser under a strict
// Content-Security-Policy.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createCarillon } from '../../../client/carillon-client.ts'
import { Chromium } from '../../support/chromium.ts'
import { freePort } from '../../support/network/free-port.ts'
import { firstSignInOf } from '../../support/processes/carillon-process.ts'
import { startExample } from '../../support/processes/example-application.ts'
import { Authenticator } from '../../support/sign-in/authenticator.ts'
import { BellPage } from './bell-page.ts'
import { RunningService } from './running-service.ts'

const shopPort = await freePort()
const withOwnUsers = ['other-origin', 'server-rendering']
const withCarillonUsers = ['react', 'vue', 'svelte']
const ports = new Map<string, number>()
for (const name of [...withOwnUsers, ...withCarillonUsers]) ports.set(name, await freePort())

const origins = [...ports.values()].map((port) => `http://127.0.0.1:${port}`)
const [service, belowPath, chromium] = await Promise.all([
  RunningService.start({ CARILLON_ALLOWED_ORIGINS: origins.join(',') }),
  RunningService.start({ CARILLON_PUBLIC_URL: `http://127.0.0.1:${shopPort}/bell/` }),
  Chromium.start(),
])
after(() =>
  Promise.all([chromium, service, belowPath].map((started) => started[Symbol.asyncDispose]())),
)

const start = (name: string) =>
  startExample(name, { ...service.settings, PORT: String(ports.get(name)) })
const startShop = () => startExample('express', { ...belowPath.settings, PORT: String(shopPort) })
const first = 'Before the first sign-in'

test('Express with a plain page: one origin, Carillon below /bell/, a live bell for a user of the shop', async () => {
  await using shop = await startShop()
  await belowPath.producer.send({ recipients: [{ externalId: 'customers/Ann' }], title: first })
  await using bell = await BellPage.open(chromium, shop.url)
  await signInByName(bell)
  const send = async () => {
    await bell.page.getByRole('button', { name: 'Order tea' }).click()
    return { title: 'Tea is on its way', url: '/#orders' }
  }
  await bell.walk({ first, send })
  await send()
  await bell.bell(1).waitFor()
  const badge = bell.page.locator('carillon-bell [part~=badge]')
  assert.equal(
    await badge.evaluate((element) => getComputedStyle(element).backgroundColor),
    'rgb(11, 107, 79)',
  )
  await bell.signOutAndIn(first, () => signInByLink(bell))
})

test('Hono with a plain page: Carillon on another origin, which issues tokens, a live bell for a user of the application', async () => {
  await using board = await start('other-origin')
  await service.producer.send({ recipients: [{ externalId: 'ann' }], title: first })
  await using bell = await BellPage.open(chromium, board.url, [board.url, service.url])
  await signInByName(bell)
  const send = async () => {
    await bell.page.getByLabel('Owner').fill('ann')
    await bell.page.getByLabel('Task').fill('Water the plants')
    await bell.page.getByRole('button', { name: 'Assign' }).click()
    return { title: 'Ann: Water the plants', url: '/#tasks' }
  }
  await bell.walk({ first, send })
  await bell.signOutAndIn(first, () => signInByLink(bell))
})

test('a browser keeps and sends the session cookie of a service below a path, and sends it nowhere else', async () => {
  await using shop = await startShop()
  const page = await chromium.page(shop.url)
  const { username, password } = firstSignInOf(belowPath.folder)
  await page.evaluate(
    "import('/bell/carillon-client.js').then((client) => { globalThis.client = client })",
  )
  const titles = await page.evaluate(
    async (credentials) => {
      const { client } = globalThis as unknown as {
        client: { createCarillon: typeof createCarillon }
      }
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
  await page.goto(`${shop.url}/bell/`)
  await page.getByRole('navigation').getByRole('link', { name: 'Documentation' }).click()
  await page.waitForURL(`${shop.url}/bell/docs`)
})

for (const name of withCarillonUsers)
  test(`${name} with Vite: the bell and a list of the page show the same inbox, which a user of Carillon signs in to`, async () => {
    await using app = await start(name)
    const username = `ann.of.${name}`
    const password = 'plum orchard gate 41'
    await service.producer.users.create({ username, password })
    const recipients = [{ username }]
    await service.producer.send({ recipients, title: first })
    await using bell = await BellPage.open(chromium, app.url)
    const signIn = async () => {
      await bell.page.getByLabel('Name').fill(username)
      await bell.page.getByLabel('Password').fill(password)
      await bell.page.getByRole('button', { name: 'Sign in' }).click()
    }
    await signIn()
    const send = () => sendOrder(recipients)
    await bell.walk({ first, send, beside: (titles, unread) => bell.listsBeside(titles, unread) })
    await bell.signOutAndIn(first, signIn)
  })

test('react with Vite: a user with an authenticator app signs in by password and code', async () => {
  await using app = await start('react')
  const user = { username: 'ann.with.an.app', password: 'plum orchard gate 41' }
  await service.producer.users.create(user)
  const { token } = await createCarillon({ baseUrl: service.url }).login({
    ...user,
    variant: 'stateless',
  })
  const send = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const response = await fetch(service.url + path, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    assert.ok(response.ok, path)
    return (await response.json()).data
  }
  const { id, secret } = await send('/api/me/factors/totp', {})
  const authenticator = new Authenticator(secret)
  // A code is used once: this is the one of the step before.
  await send('/api/me/factors/totp/confirm', { id, code: authenticator.code(Date.now() - 30_000) })
  await using bell = await BellPage.open(chromium, app.url)
  const { page } = bell
  await page.getByLabel('Name').fill(user.username)
  await page.getByLabel('Password').fill(user.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByLabel('Code').fill('wrong')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('alert').getByText('The second factor is wrong').waitFor()
  await page.getByLabel('Code').fill(authenticator.code(Date.now()))
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: /^Notifications/ }).waitFor()
})

test('server rendering: the list is in the HTML, also for a browser without JavaScript, and the hydrated page is live', async () => {
  await using app = await start('server-rendering')
  const recipients = [{ externalId: 'sam' }]
  const hostile = '</script><script>alert(1)</script>'
  await service.producer.send({ recipients, title: hostile })
  await using bell = await BellPage.open(chromium, app.url, [app.url, service.url])
  await signInByName(bell, 'Sam')
  await bell.bell(1).waitFor()
  const cookie = (await chromium.context.cookies())
    .map(({ name, value }) => `${name}=${value}`)
    .join('; ')
  const html = await (await fetch(app.url, { headers: { cookie } })).text()
  assert.match(html, /<li>&lt;\/script&gt;&lt;script&gt;alert\(1\)&lt;\/script&gt;<\/li>/)
  assert.match(html, /<output>1<\/output>/)
  const send = () => sendOrder(recipients)
  await bell.walk({
    first: hostile,
    send,
    beside: (titles, unread) => bell.listsBeside(titles, unread),
  })
  await bell.signOutAndIn(hostile, () => signInByName(bell, 'Sam'))
})

async function sendOrder(recipients: { username: string }[] | { externalId: string }[]) {
  const content = { title: 'Order 7 is on its way', url: '/#order-7' }
  await service.producer.send({ recipients, ...content })
  return content
}

async function signInByName({ page }: BellPage, name = 'Ann'): Promise<void> {
  await page.getByLabel('Name').fill(name)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** A signed-out bell has this link, in a page that stays. */
async function signInByLink(bell: BellPage): Promise<void> {
  await bell.openPanel()
  await bell.page.getByRole('dialog').getByText('You are signed out').waitFor()
  await bell.page.getByRole('link', { name: 'Sign in' }).click()
  await signInByName(bell)
}
