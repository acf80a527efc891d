// Behind a proxy that strips a path, with a prefix: what a sign-out leaves on the device, and what a sign-in leads to.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { BrowserPages } from '../../support/pages/browser-page.ts'
import { storedIn } from '../../support/pages/stored.ts'
import { startBehindPath } from '../../support/proxies/stripping-proxy.ts'

const { service, url, stop } = await startBehindPath('/bell', { CARILLON_PAGES_PREFIX: '/hello' })
const pages = await BrowserPages.start({ service, url })
after(async () => {
  await pages.browser[Symbol.asyncDispose]()
  await stop()
})

test('after a sign-out, nothing of the user is kept in the browser, also in another tab (C14)', async () => {
  const ann = await service.user()
  await service.deliver({ to: ann, title: 'Private' })
  await using inbox = await pages.open('/hello/inbox', { user: ann })
  await inbox.page.getByText('Private').waitFor()
  await using account = await pages.open('/hello/account', { beside: inbox })
  inbox.expects(/^401 GET/)
  await account.page.getByRole('button', { name: 'Sign out' }).click()
  await account.heading('Sign in')
  await inbox.page.getByText('Private').waitFor({ state: 'detached' })
  for (const { page } of [account, inbox]) assert.deepEqual(await storedIn(page), [])
})

test('a link to a part of the account page leads there, also if the reader has to sign in first', async () => {
  await using opened = await pages.open('/hello/account#preferences')
  await opened.heading('Sign in')
  await opened.sendSignIn(await service.user())
  await opened.page.locator('section#preferences.target').waitFor()
  assert.equal(opened.page.url(), `${url}/hello/account#preferences`)
})
