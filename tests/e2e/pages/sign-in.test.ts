// The sign-in page in a real Chromium: its main path, each failure, the second step, without script, by keyboard, and its languages.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, test } from 'node:test'
import { listening } from '../../support/network/free-port.ts'
import { BrowserPages, type PageOptions } from '../../support/pages/browser-page.ts'
import { carefulUser } from '../../support/sign-in/authenticator.ts'

/** An application on another origin, to which users come back. */
const application = createServer((_, response) => {
  response
    .setHeader('content-type', 'text/html')
    .end('<!doctype html><title>Shop</title><link rel="icon" href="data:,">')
})
const shop = `http://127.0.0.1:${await listening(application)}`
const pages = await BrowserPages.start({
  env: { CARILLON_ALLOWED_ORIGINS: shop, CARILLON_VARIANT: 'stateless' },
})
const { service } = pages
after(async () => {
  application.close()
  await pages[Symbol.asyncDispose]()
})

const ways: PageOptions[] = [{}, { hasScript: false }]
const named = ({ hasScript }: PageOptions) =>
  hasScript === false ? 'without script' : 'with script'

for (const way of ways)
  test(`a user signs in with a password and gets to the inbox, or back to the application (${named(way)})`, async () => {
    const ann = await service.user()
    for (const [query, address] of [
      ['?return_to=https%3A%2F%2Fevil.example%2F', `${pages.url}/inbox`],
      [`?return_to=${encodeURIComponent(`${shop}/orders?id=7#top`)}`, `${shop}/orders?id=7#top`],
    ] as const) {
      await using opened = await pages.open(`/sign-in${query}`, way)
      await opened.heading('Sign in')
      assert.equal(
        await opened.page.getByText(`to continue to ${new URL(shop).host}`).count(),
        query.includes(new URL(shop).port) ? 1 : 0,
      )
      await opened.sendSignIn(ann)
      await opened.page.waitForURL(address)
      const cookies = await opened.context.cookies(pages.url)
      assert.ok(cookies.some(({ name, httpOnly }) => name === 'carillon' && httpOnly))
    }
  })

for (const way of ways)
  test(`a wrong password keeps the username and says so beside the field, which has the focus (${named(way)})`, async () => {
    const ann = await service.user()
    await using opened = await pages.open(`/sign-in?return_to=${encodeURIComponent(shop)}`, way)
    opened.expects(/^401 POST \/sign-in$/)
    await opened.sendSignIn({ ...ann, password: 'not the password' })
    await opened.alerts('The username or the password is wrong.')
    assert.equal(await opened.page.getByLabel('Username').inputValue(), ann.username)
    const password = opened.page.getByLabel('Password', { exact: true })
    assert.equal(await password.inputValue(), '')
    assert.equal(await password.getAttribute('aria-describedby'), 'fault')
    if (way.hasScript !== false) {
      await opened.hasFocus('Password')
      await opened.isAccessible('sign-in-wrong')
    }
    await opened.sendSignIn(ann)
    await opened.page.waitForURL(`${shop}/`)
  })

test('a whole sign-in works by keyboard alone', async () => {
  const ann = await service.user()
  await using opened = await pages.open('/sign-in')
  const { keyboard } = opened.page
  await opened.hasFocus('Username')
  await opened.isAccessible('sign-in')
  // An address, such as 127.0.0.1, can have none.
  assert.equal(await opened.page.getByRole('button', { name: /passkey/ }).count(), 0)
  await opened.page.getByLabel('Username').focus()
  await keyboard.type(ann.username)
  await keyboard.press('Tab')
  await keyboard.type(ann.password)
  await keyboard.press('Tab')
  await opened.hasFocus('Show password')
  await keyboard.press('Space')
  assert.equal(
    await opened.page.getByLabel('Password', { exact: true }).getAttribute('type'),
    'text',
  )
  await keyboard.press('Tab')
  await keyboard.press('Enter')
  await opened.page.waitForURL(`${pages.url}/inbox`)
})

test('who is signed in already continues or signs out', async () => {
  const ann = await service.user()
  await using opened = await pages.open(
    `/sign-in?return_to=${encodeURIComponent(`${shop}/orders`)}`,
    { user: ann },
  )
  await opened.heading('You are signed in')
  await opened.page.getByText(`As ${ann.username}.`).waitFor()
  await opened.isAccessible('sign-in-already')
  await opened.page.getByRole('link', { name: `Continue to ${new URL(shop).host}` }).click()
  await opened.page.waitForURL(`${shop}/orders`)
  await opened.page.goto(`${pages.url}/sign-in`)
  await opened.page.locator('main').getByRole('button', { name: 'Sign out' }).click()
  await opened.heading('Sign in')
  assert.equal(await opened.page.getByRole('alert').textContent(), '')
})

for (const way of ways)
  test(`the second step takes a code of the app or a recovery code, and a late one leads back to the password (${named(way)})`, async () => {
    const ann = await carefulUser(service)
    const { app, recoveryCodes } = ann
    await using opened = await pages.open('/sign-in?return_to=%2Faccount%23security', way)
    const { page } = opened
    opened.expects(/^401 POST \/sign-in$/)
    await opened.sendSignIn(ann)
    await opened.heading('Second step')
    await page.getByText(`Your password is correct, ${ann.username}.`).waitFor()
    if (way.hasScript !== false) {
      await opened.hasFocus('Code')
      await opened.isAccessible('second-step')
    }
    await page.getByLabel('Code', { exact: true }).fill(app.wrongCode(service.now()))
    await page.getByRole('button', { name: 'Continue' }).first().click()
    await opened.alerts('This code is wrong')
    service.pass(30_000)
    const code = app.code(service.now())
    await page.getByLabel('Code', { exact: true }).fill(`${code.slice(0, 3)} ${code.slice(3)}`)
    await page.getByRole('button', { name: 'Continue' }).first().click()
    await page.waitForURL(`${pages.url}/account#security`)

    await page.goto(`${pages.url}/sign-in`)
    await page.locator('main').getByRole('button', { name: 'Sign out' }).click()
    await opened.sendSignIn(ann)
    await page.getByText('Use a recovery code').click()
    await page.getByLabel('Recovery code').fill((recoveryCodes[0] ?? '').toUpperCase())
    await page.getByRole('button', { name: 'Continue' }).last().click()
    await page.waitForURL(`${pages.url}/inbox`)

    await page.goto(`${pages.url}/sign-in`)
    await page.locator('main').getByRole('button', { name: 'Sign out' }).click()
    await opened.sendSignIn(ann)
    await opened.heading('Second step')
    service.pass(5 * 60_000 + 1)
    await page.getByLabel('Code', { exact: true }).fill(app.code(service.now()))
    await page.getByRole('button', { name: 'Continue' }).first().click()
    await opened.alerts('This took longer than 5 minutes')
    assert.equal(await page.getByLabel('Username').inputValue(), ann.username)
  })
