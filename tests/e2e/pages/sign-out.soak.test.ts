// The sign-out button of the pages works with and without script, leaves what it must on the
// device, and leads back to the account page through a sign-in; at the root, and behind a proxy
// that strips a path.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type BrowserPage, BrowserPages } from '../../support/pages/browser-page.ts'
import { storedIn } from '../../support/pages/stored.ts'
import { startBehindPath } from '../../support/proxies/stripping-proxy.ts'

const behind = await startBehindPath('/bell', { CARILLON_PAGES_PREFIX: '/hello' })
const stripped = await BrowserPages.start({ service: behind.service, url: behind.url })
const atRoot = await BrowserPages.start()
after(async () => {
  await stripped.browser[Symbol.asyncDispose]()
  await behind.stop()
  await atRoot[Symbol.asyncDispose]()
})
const places = [
  { name: 'at the root', pages: atRoot, prefix: '' },
  { name: 'behind a stripping proxy, with a prefix', pages: stripped, prefix: '/hello' },
]

const cookiesOf = async ({ context }: BrowserPage) =>
  (await context.cookies()).map(({ name }) => name)

for (const { name, pages, prefix } of places) {
  for (const hasScript of [true, false])
    test(`the button on a page ends the session and leads to the sign-in page, ${name}, ${hasScript ? 'with' : 'without'} script`, async () => {
      const ann = await pages.service.user()
      await using opened = await pages.open(`${prefix}/account`, {
        user: ann,
        ...(!hasScript && { hasScript: false as const }),
      })
      const [session = ''] = (await cookiesOf(opened)).filter((one) => !one.includes('device'))
      const value = (await opened.context.cookies()).find((one) => one.name === session)?.value
      await opened.page.getByRole('button', { name: 'Sign out' }).click()
      await opened.heading('Sign in')
      assert.equal(
        new URL(opened.page.url()).pathname,
        new URL(`${pages.url}${prefix}/sign-in`).pathname,
      )
      assert.equal(
        (await pages.service.get('/api/me', { cookie: `${session}=${value}` })).status,
        401,
      )
      assert.ok(!(await cookiesOf(opened)).includes(session))
    })

  test(`after a sign-out, nothing of the user is kept in the browser, also in another tab (C14), ${name}`, async () => {
    const ann = await pages.service.user()
    await pages.service.deliver({ to: ann, title: 'Private' })
    await using inbox = await pages.open(`${prefix}/inbox`, { user: ann })
    await inbox.page.getByText('Private').waitFor()
    await using account = await pages.open(`${prefix}/account`, { beside: inbox })
    inbox.expects(/^401 GET/)
    await account.page.getByRole('button', { name: 'Sign out' }).click()
    await account.heading('Sign in')
    await inbox.page.getByText('Private').waitFor({ state: 'detached' })
    for (const { page } of [account, inbox]) assert.deepEqual(await storedIn(page), [])
  })
}

test('a session that ends while the account page is open: the link leads to the sign-in page, and the sign-in back to the account', async () => {
  for (const { pages, prefix } of places) {
    const ann = await pages.service.user()
    await using opened = await pages.open(`${prefix}/account`, { user: ann })
    opened.expects(/^401 PATCH/)
    const { page } = opened
    await page.getByRole('textbox', { name: 'Display name' }).fill('Ann')
    await opened.context.clearCookies()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('link', { name: 'Sign in again' }).click()
    await opened.heading('Sign in')
    await page.getByLabel('Username').fill(ann.username)
    await page.getByRole('textbox', { name: 'Password' }).fill(ann.password)
    await page.getByRole('textbox', { name: 'Password' }).press('Enter')
    await opened.heading('Account')
    assert.equal(page.url(), `${pages.url}${prefix}/account`)
  }
})

test('a link to a part of the account page leads there, also if the reader has to sign in first', async () => {
  for (const { pages, prefix } of places) {
    const ann = await pages.service.user()
    await using opened = await pages.open(`${prefix}/account#preferences`)
    await opened.heading('Sign in')
    await opened.page.getByLabel('Username').fill(ann.username)
    await opened.page.getByRole('textbox', { name: 'Password' }).fill(ann.password)
    await opened.page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await opened.page.locator('section#preferences.target').waitFor()
    assert.equal(opened.page.url(), `${pages.url}${prefix}/account#preferences`)
  }
})
