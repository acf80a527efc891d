// Behind a proxy that strips `/bell`, with and without CARILLON_PAGES_PREFIX, every page loads and
// leads to what is below /bell/, and its main path works.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { BrowserPages, becomes } from '../../support/pages/browser-page.ts'
import { startBehindPath } from '../../support/proxies/stripping-proxy.ts'
import type { TestService } from '../../support/service.ts'

type Documented = Record<
  string,
  { get?: { tags: string[]; responses: Record<string, { content?: object }> } }
>

/** The service describes its pages, so a new one is checked without a change here. */
async function pathsOfPages(service: TestService): Promise<string[]> {
  const paths = (await service.get('/openapi.json')).json().paths as Documented
  return Object.entries(paths).flatMap(([path, { get }]) =>
    get?.tags.includes('pages') && 'text/html' in (get.responses[200]?.content ?? {}) ? [path] : [],
  )
}

for (const prefix of ['', '/hello']) {
  const where = `behind /bell${prefix}`
  const env = { CARILLON_DEMONSTRATION: 'on', CARILLON_ACCENT: '#0a7d4f' }
  const behind = await startBehindPath('/bell', {
    ...env,
    ...(prefix && { CARILLON_PAGES_PREFIX: prefix }),
  })
  const { service, url } = behind
  const pages = await BrowserPages.start({ service, url })
  after(async () => {
    await pages[Symbol.asyncDispose]()
    await behind.stop()
  })
  const signIn = `/bell${prefix}/sign-in`
  const paths = await pathsOfPages(service)

  test(`${where}: every page loads without a failed request, and what it loads and leads to exists below /bell/`, async () => {
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
          assert.ok(
            response.ok(),
            `${path} leads to ${target}, which responds ${response.status()}`,
          )
          assert.ok(response.url().startsWith(`${url}/`), `${target} leads to ${response.url()}`)
        }
      }
  })

  for (const hasScript of [undefined, false] as const)
    test(`${where}: a user comes from the account page to the sign-in page and back, and signs out${hasScript === false ? ', without script' : ''}`, async () => {
      const user = await service.user()
      await using opened = await pages.open(
        `${prefix}/account`,
        hasScript === false ? { hasScript } : {},
      )
      const { page } = opened
      await opened.heading('Sign in')
      assert.equal(
        opened.path,
        `${signIn}?return_to=${encodeURIComponent(`/bell${prefix}/account`)}`,
      )
      await page.getByLabel('Username').fill(user.username)
      await page.getByLabel('Password', { exact: true }).fill(user.password)
      await page.keyboard.press('Enter')
      await opened.heading('Account')
      assert.equal(opened.path, `/bell${prefix}/account`)
      await page.waitForLoadState('networkidle')
      await page.getByRole('button', { name: 'Sign out', exact: true }).first().click()
      await opened.heading('Sign in')
      assert.equal(opened.path.split('?')[0], signIn)
    })

  test(`${where}: the account page changes a name, and the inbox page marks a notification as read`, async () => {
    const user = await service.user()
    await service.deliver({ to: user, title: 'Tea is ready' })
    await using opened = await pages.open(`${prefix}/account`, { user })
    const { page } = opened
    await page.getByLabel('Display name').fill('Ann Example')
    await page.keyboard.press('Enter')
    await page.locator('.who', { hasText: 'Ann Example' }).waitFor()
    await page
      .getByRole('link', { name: /^Inbox/ })
      .first()
      .click()
    await page.getByText('Tea is ready').waitFor()
    assert.equal(opened.path, `/bell${prefix}/inbox`)
    await page.getByRole('button', { name: 'Mark as read' }).click()
    await page.waitForFunction(() => !document.title.startsWith('('))
    const proof = await service.signIn(user, 'stateful')
    await becomes(async () => `${(await service.list(proof)).unread} unread`, '0 unread')
  })

  test(`${where}: a one-time link sets a password, signs in, and leads to the account page`, async () => {
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
    assert.equal(opened.path, `/bell${prefix}/account`)
    assert.equal((await service.post('/login', { username: user.username, password })).status, 200)
  })
}
