// The front door in a real Chromium: each state of its reader and of the service, and where its links lead;
// and the frame that it shares with all pages.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { BrowserPages } from '../../support/pages/browser-page.ts'

const pages = await BrowserPages.start({
  env: { CARILLON_ACCENT: '#8a2be2', CARILLON_NAME: 'Harbour <Office>' },
})
after(() => pages[Symbol.asyncDispose]())
const { service } = pages

test('a service without a user says how to add one, on its own machine only; elsewhere a setting shows the link to the documentation', async () => {
  {
    await using opened = await pages.open('/')
    await opened.heading('Welcome to Harbour <Office>')
    await opened.page.getByText('npx carillon user add NAME').waitFor()
    await opened.isAccessible('front-no-user')
  }
  // The navigation has one link, and the page has one as a place to go.
  for (const [link, count] of Object.entries({ off: 0, on: 2 })) {
    await using elsewhere = await BrowserPages.start({
      env: {
        CARILLON_PUBLIC_URL: 'https://bell.example',
        CARILLON_TRUSTED_PROXIES: '127.0.0.1',
        CARILLON_DOCUMENTATION_LINK: link,
      },
    })
    await using opened = await elsewhere.open('/')
    await opened.heading('Welcome to Carillon')
    assert.equal(await opened.page.getByText('carillon user add').count(), 0)
    const links = opened.page.getByRole('link', { name: 'Documentation' })
    assert.equal(await links.count(), count)
  }
})

test('after the first start the page says where the first password is, until there is a second user', async () => {
  await service.user('operator')
  {
    await using opened = await pages.open('/', { language: 'fr' })
    await opened.heading('Bienvenue sur Harbour <Office>')
    await opened.page.getByText('Connectez-vous avec le nom d’utilisateur').waitFor()
    await opened.isAccessible('front-first-start')
  }
  await service.user('ann')
  await using opened = await pages.open('/')
  await opened.heading('Welcome to Harbour <Office>')
  assert.equal(await opened.page.getByText('first-sign-in.txt').count(), 0)
  await opened.isAccessible('front-signed-out')
})

test('a signed-out reader gets to sign-in, demonstration and documentation, with the keyboard too and without script', async () => {
  for (const hasScript of [undefined, false] as const) {
    await using opened = await pages.open('/', hasScript === false ? { hasScript } : {})
    const links = opened.page.getByRole('main').getByRole('link')
    const targets = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href')))
    assert.deepEqual(targets, ['sign-in', 'demonstration', 'docs'])
    const reached: string[] = []
    for (let steps = 0; steps < 12; steps++) {
      await opened.page.keyboard.press('Tab')
      reached.push(await opened.focused())
    }
    for (const name of ['Skip to the content', 'Sign in', 'Demonstration', 'Documentation'])
      assert.ok(reached.includes(name), `${name} is not among ${reached}`)
    await links.last().click()
    await opened.page.waitForURL(`${pages.url}/docs`)
  }
})

test('a signed-in reader is greeted with the number of unread notifications, and gets to inbox and account', async () => {
  const user = await service.user()
  {
    await using opened = await pages.open('/', { user })
    await opened.heading(`Hello, ${user.username}`)
    await opened.page.getByText('You have read everything.').waitFor()
  }
  await service.deliver({ to: user, title: 'One' })
  await using opened = await pages.open('/', { user, language: 'de' })
  await opened.heading(`Hallo ${user.username}`)
  await opened.page.getByText('Sie haben 1 ungelesene Mitteilung.').waitFor()
  await opened.isAccessible('front-signed-in')
  await opened.page.getByRole('main').getByRole('link', { name: 'Posteingang' }).click()
  await opened.heading('Posteingang')
  await opened.page.getByText('One').waitFor()
  await opened.page
    .getByRole('link', { name: 'Carillon' })
    .or(opened.page.locator('.brand'))
    .click()
  await opened.heading(`Hallo ${user.username}`)
})

test('the account page has the name of the service and of its user, and its languages, without script too', async () => {
  const user = await service.user()
  for (const [language, heading] of [
    ['en-GB', 'Account'],
    ['de-CH', 'Konto'],
    ['fr', 'Compte'],
    ['ja', 'Account'],
  ] as const) {
    await using opened = await pages.open('/account', { user, language, hasScript: false })
    await opened.heading(heading)
    assert.equal(await opened.page.title(), `${heading} · Harbour <Office>`)
    await opened.page.locator('.who', { hasText: user.username }).waitFor()
  }
})

test('the frame is accessible, fits 320 px and has the accent colour, in light and dark', async () => {
  await using opened = await pages.open('/account', { user: await service.user() })
  await opened.isAccessible('account')
  const accent = () =>
    opened.page
      .locator('.top nav a[aria-current]')
      .evaluate((link) => getComputedStyle(link).boxShadow)
  assert.match(await accent(), /rgb\(138, 43, 226\)/)
})

test('the helper of these tests refuses a page whose load has a failed request or a console error', async () => {
  const opened = await pages.open('/account', { user: await service.user() })
  await opened.page.evaluate(async () => {
    console.error('a complaint')
    await fetch('nothing-here')
  })
  await assert.rejects(
    async () => opened[Symbol.asyncDispose](),
    /a complaint.*404 GET \/nothing-here/s,
  )
})
