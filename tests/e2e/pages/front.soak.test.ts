// The front door in a real Chromium: each state of its reader and of the service, and where its links lead.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { BrowserPages } from '../../support/pages/browser-page.ts'

const pages = await BrowserPages.start({ env: { CARILLON_NAME: 'Harbour Office' } })
after(() => pages[Symbol.asyncDispose]())
const { service } = pages

test('a service without a user says how to add one, on its own machine only', async () => {
  {
    await using opened = await pages.open('/')
    await opened.heading('Welcome to Harbour Office')
    await opened.page.getByText('npx carillon user add NAME').waitFor()
    await opened.isAccessible('front-no-user')
  }
  const elsewhere = await BrowserPages.start({
    env: { CARILLON_PUBLIC_URL: 'https://bell.example', CARILLON_TRUSTED_PROXIES: '127.0.0.1' },
  })
  try {
    await using opened = await elsewhere.open('/')
    await opened.heading('Welcome to Carillon')
    assert.equal(await opened.page.getByText('carillon user add').count(), 0)
    assert.equal(await opened.page.getByRole('link', { name: 'Documentation' }).count(), 0)
    assert.equal((await elsewhere.service.get('/docs')).status, 200)
  } finally {
    await elsewhere[Symbol.asyncDispose]()
  }
})

test('elsewhere, a setting shows the link to the documentation', async () => {
  const elsewhere = await BrowserPages.start({
    env: {
      CARILLON_PUBLIC_URL: 'https://bell.example',
      CARILLON_TRUSTED_PROXIES: '127.0.0.1',
      CARILLON_DOCUMENTATION_LINK: 'on',
    },
  })
  try {
    await using opened = await elsewhere.open('/')
    // The navigation has one, and the page has one as a place to go.
    assert.equal(await opened.page.getByRole('link', { name: 'Documentation' }).count(), 2)
  } finally {
    await elsewhere[Symbol.asyncDispose]()
  }
})

test('after the first start the page says where the first password is, until there is a second user', async () => {
  await service.user('operator')
  {
    await using opened = await pages.open('/', { language: 'fr' })
    await opened.heading('Bienvenue sur Harbour Office')
    await opened.page.getByText('Connectez-vous avec le nom d’utilisateur').waitFor()
    await opened.isAccessible('front-first-start')
  }
  await service.user('ann')
  await using opened = await pages.open('/')
  await opened.heading('Welcome to Harbour Office')
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
