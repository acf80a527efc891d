// Behind a proxy that strips `/bell`, with CARILLON_PAGES_PREFIX, every page loads and leads to what
// is below /bell/, and its main path works.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { BrowserPages, becomes } from '../../support/pages/browser-page.ts'
import { startBehindPath } from '../../support/proxies/stripping-proxy.ts'

type Documented = Record<
  string,
  { get?: { tags: string[]; responses: Record<string, { content?: object }> } }
>

const { service, url, stop } = await startBehindPath('/bell', {
  CARILLON_PAGES_PREFIX: '/hello',
  CARILLON_DEMONSTRATION: 'on',
  CARILLON_ACCENT: '#0a7d4f',
})
const pages = await BrowserPages.start({ service, url })
after(async () => {
  await pages.browser[Symbol.asyncDispose]()
  await stop()
})
/** The service describes its pages, so a new one is checked without a change here. */
const documented = (await service.get('/openapi.json')).json().paths as Documented
// The page of the operator is not there below a path, and that to unsubscribe not without a mail.
const paths = Object.entries(documented).flatMap(([path, { get }]) =>
  !/\/(operator|unsubscribe)$/.test(path) &&
  get?.tags.includes('pages') &&
  'text/html' in (get.responses[200]?.content ?? {})
    ? [path]
    : [],
)

test(`every page loads without a failed request, and what it loads and leads to exists below /bell/`, async () => {
  assert.ok(paths.length >= 8, String(paths))
  const user = await service.user()
  for (const path of paths)
    for (const signedIn of [{}, { user }]) {
      await using opened = await pages.open(path, signedIn)
      const { page } = opened
      // The inbox page holds a stream open, and so is never idle.
      await page.waitForLoadState('networkidle', { timeout: 3_000 }).catch(() => {})
      assert.equal(await page.locator('h1:visible').count(), 1, path)
      const places = await page
        .locator('a[href], link[href], script[src], img[src], form[action]')
        .evaluateAll((all) =>
          all.map((one) => ({
            isForm: one instanceof HTMLFormElement,
            url: String(
              (one instanceof HTMLFormElement && one.action) ||
                Reflect.get(one, 'href') ||
                Reflect.get(one, 'src'),
            ).replace(/#.*/, ''),
          })),
        )
      const requested = opened.requests.map((request) => request.url())
      const outside = [...places.map((place) => place.url), ...requested].filter(
        (one) => !one.startsWith(`${url}/`),
      )
      assert.deepEqual(outside, [], `${path} leads outside of ${url}`)
      const targets = new Set(places.filter(({ isForm }) => !isForm).map((place) => place.url))
      assert.ok(targets.size > 4, `${path} has no links`)
      for (const target of targets) {
        const response = await page
          .context()
          .request.get(target, { headers: { accept: 'text/html' } })
        assert.ok(response.ok(), `${path} leads to ${target}, which responds ${response.status()}`)
        assert.ok(response.url().startsWith(`${url}/`), `${target} leads to ${response.url()}`)
      }
    }
})

for (const way of [{}, { hasScript: false } as const])
  test(`a user comes from the account page to the sign-in page and back, and signs out (${JSON.stringify(way)})`, async () => {
    const user = await service.user()
    await using opened = await pages.open('/hello/account', way)
    const { page } = opened
    await opened.heading('Sign in')
    assert.equal(opened.path, '/bell/hello/sign-in?return_to=%2Fbell%2Fhello%2Faccount')
    opened.expects(/^401 POST \/bell\/hello\/sign-in$/)
    await opened.sendSignIn({ ...user, password: 'not the password' })
    await opened.alerts('The username or the password is wrong.')
    await opened.sendSignIn(user)
    await opened.heading('Account')
    assert.equal(opened.path, '/bell/hello/account')
    await page.waitForLoadState('networkidle')
    const cookies = await opened.context.cookies()
    const session = cookies.find(({ name }) => name === 'carillon')
    await page.getByRole('button', { name: 'Sign out', exact: true }).first().click()
    await opened.heading('Sign in')
    assert.equal(new URL(page.url()).pathname, '/bell/hello/sign-in')
    const cookie = `carillon=${session?.value}`
    assert.equal((await service.get('/api/me', { cookie })).status, 401)
    assert.ok((await opened.context.cookies()).every(({ name }) => name !== 'carillon'))
  })

test(`the account page changes a name, and the inbox page marks a notification as read`, async () => {
  const user = await service.user()
  await service.deliver({ to: user, title: 'Tea is ready' })
  await using opened = await pages.open(`/hello/account`, { user })
  const { page } = opened
  await page.getByLabel('Display name').fill('Ann Example')
  await page.keyboard.press('Enter')
  await page.locator('.who', { hasText: 'Ann Example' }).waitFor()
  await page
    .getByRole('link', { name: /^Inbox/ })
    .first()
    .click()
  await page.getByText('Tea is ready').waitFor()
  assert.equal(opened.path, `/bell/hello/inbox`)
  await page.getByRole('button', { name: 'Mark as read' }).click()
  await page.waitForFunction(() => !document.title.startsWith('('))
  const proof = await service.signIn(user, 'stateful')
  await becomes(async () => `${(await service.list(proof)).unread} unread`, '0 unread')
})

test(`a one-time link sets a password, signs in, and leads to the account page`, async () => {
  const user = await service.user()
  const { key } = await service.producerKey(['users'])
  const headers = { authorization: `Bearer ${key}` }
  const made = await service.post(`/api/users/${user.id}/links`, { purpose: 'reset' }, headers)
  await using opened = await pages.open(made.json().data.url)
  const { page } = opened
  const password = 'grey heron over the weir'
  await page.locator('input[type=password]').first().waitFor()
  for (const field of await page.locator('input[type=password]').all()) await field.fill(password)
  await page.keyboard.press('Enter')
  await page.getByRole('main').getByRole('link', { name: 'Account' }).click()
  await page.locator('.who', { hasText: user.username }).waitFor()
  assert.equal(opened.path, `/bell/hello/account`)
  assert.equal((await service.post('/login', { username: user.username, password })).status, 200)
})
