// The account page in a real Chromium: name, language, password, the parts that an address names, and how it fails.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { findUser, updateUser } from '../../../../server/users/users.store.ts'
import {
  type BrowserPage,
  BrowserPages,
  becomes,
  type PageOptions,
} from '../../../support/pages/browser-page.ts'
import type { TestUser } from '../../../support/service.ts'
import { inTurns, soakTest } from '../../../support/soak.ts'

const pages = await BrowserPages.start()
after(() => pages[Symbol.asyncDispose]())
const { service } = pages
const newPassword = 'grey heron over the weir'

const section = ({ page }: BrowserPage, id: string) => page.locator(`section#${id}`)
const field = ({ page }: BrowserPage, name: string) =>
  page.getByRole('textbox', { name, exact: true })
const button = ({ page }: BrowserPage, name: string) =>
  page.getByRole('button', { name, exact: true })
/** A password is no textbox for assistive technology. */
const password = ({ page }: BrowserPage, label: string) => page.getByLabel(label, { exact: true })

async function says(opened: BrowserPage, sentence: string | RegExp): Promise<void> {
  await opened.page.getByRole('status').filter({ hasText: sentence }).waitFor()
}

/** Every section has its data, so that no request of the start is on its way. */
async function openAccount(options: PageOptions, path = '/account'): Promise<BrowserPage> {
  const opened = await pages.open(path, options)
  await opened.page.locator('#display-name').waitFor()
  const loading = opened.page.getByText(/^(Loading…|Wird geladen …|Chargement…)$/)
  await becomes(async () => String(await loading.count()), '0')
  return opened
}

async function userOf({ id }: TestUser) {
  const user = await service.store.read(findUser, id)
  assert.ok(user)
  return user
}

async function canSignIn({ username }: TestUser, tried: string): Promise<boolean> {
  return (await service.post('/login', { username, password: tried })).status === 200
}

async function loses({ page }: BrowserPage, path: string): Promise<void> {
  await page.route(`**${path}`, (route) => route.abort('connectionrefused'), { times: 1 })
}

test('a user changes the display name, which is in the header at once and stays', async () => {
  const ann = await service.user()
  await using opened = await openAccount({ user: ann })
  await opened.heading('Account')
  const parts = opened.page.getByRole('navigation', { name: 'On this page' })
  await parts.getByRole('link', { name: 'Password' }).click()
  await opened.page.locator('section#password.target:focus').waitFor()
  assert.equal(await opened.page.locator('section.target').count(), 1)
  await opened.page.getByText(ann.username).first().waitFor()
  await opened.isAccessible('account')
  await field(opened, 'Display name').fill('  Ann Lee ')
  await field(opened, 'Display name').press('Enter')
  await says(opened, 'Your name is saved.')
  await becomes(
    async () => (await opened.page.locator('.who').textContent()) ?? '',
    'Signed in as Ann Lee',
  )
  await becomes(() => field(opened, 'Display name').inputValue(), 'Ann Lee')
  assert.equal((await userOf(ann)).displayName, 'Ann Lee')
  await opened.page.reload()
  await becomes(() => field(opened, 'Display name').inputValue(), 'Ann Lee')
  await field(opened, 'Display name').fill('')
  await button(opened, 'Save').click()
  await opened.page.locator('.who', { hasText: ann.username }).waitFor()
  assert.equal((await userOf(ann)).displayName, null)
})

soakTest('a name that is refused stays in its field, with the reason beside it', async () => {
  await using opened = await openAccount({ user: await service.user() })
  opened.expects(/^400 PATCH \/api\/me$/)
  await field(opened, 'Display name').fill('a'.repeat(201))
  await button(opened, 'Save').click()
  await opened.alerts('Enter at most 200 characters')
  await opened.hasFocus('Display name')
  assert.equal(await field(opened, 'Display name').getAttribute('aria-invalid'), 'true')
  assert.equal((await field(opened, 'Display name').inputValue()).length, 201)
  await opened.isAccessible('account-name-refused')
  await field(opened, 'Display name').fill('Ann')
  await button(opened, 'Save').click()
  await says(opened, 'Your name is saved.')
})

test('the whole page changes to another language at once, and keeps what is typed', async () => {
  const ann = await service.user()
  await using opened = await openAccount({ user: ann, language: 'en-GB' })
  const { page } = opened
  await field(opened, 'Display name').fill('half typed')
  await password(opened, 'New password').fill('and this')
  await page.getByRole('combobox', { name: 'Language', exact: true }).selectOption('Deutsch')
  await opened.heading('Konto')
  await says(opened, 'Die Sprache ist gespeichert.')
  assert.equal(await page.evaluate(() => document.documentElement.lang), 'de')
  assert.equal(await page.title(), 'Konto · Carillon')
  for (const name of ['Abmelden', 'Speichern', 'Passwort ändern'])
    assert.equal(await button(opened, name).count(), 1)
  assert.equal(await field(opened, 'Anzeigename').inputValue(), 'half typed')
  assert.equal(await password(opened, 'Neues Passwort').inputValue(), 'and this')
  await opened.isAccessible('account-de')
  assert.equal((await userOf(ann)).locale, 'de')

  await page.getByRole('combobox', { name: 'Sprache', exact: true }).selectOption('Français')
  await opened.heading('Compte')
  await opened.isAccessible('account-fr')
  await page.getByRole('combobox', { name: 'Langue', exact: true }).selectOption('')
  await opened.heading('Account')
  assert.equal((await userOf(ann)).locale, null)
})

soakTest(
  'the page begins in the language of the user, also one with a region that an application has set',
  async () => {
    const ann = await service.user()
    await service.store.write(updateUser, { userId: ann.id, locale: 'de-CH', audit: [] })
    await using opened = await openAccount({ user: ann, language: 'fr' })
    await opened.heading('Konto')
    const select = opened.page.getByRole('combobox', { name: 'Sprache', exact: true })
    assert.equal(await select.inputValue(), 'de-CH')
    assert.deepEqual(await select.locator('option').allInnerTexts(), [
      'Wie im Browser',
      'English',
      'Deutsch',
      'Français',
      'Schweizer Hochdeutsch',
    ])
  },
)

test('a user changes the password: this sign-in stays, every other ends, and the fields are empty (A13)', async () => {
  const ann = await service.user()
  const other = await service.signIn(ann, 'stateless')
  await using opened = await openAccount({ user: ann }, '/account#password')
  await password(opened, 'Current password').fill(ann.password)
  await password(opened, 'New password').fill(newPassword)
  await button(opened, 'Change the password').click()
  await says(opened, 'Your password was changed. All other devices are signed out.')
  for (const label of ['Current password', 'New password'])
    await becomes(() => password(opened, label).inputValue(), '')
  await opened.isAccessible('account-password-changed')
  assert.deepEqual(
    [await canSignIn(ann, newPassword), await canSignIn(ann, ann.password)],
    [true, false],
  )
  assert.equal((await service.get('/api/me', other)).status, 401)
  await opened.page.reload()
  await opened.heading('Account')
})

test('a password that is refused has its reason beside its field, in the language of the reader, and both stay typed', async () => {
  const wendy = await service.user('wendy-harbour')
  await using opened = await openAccount({ user: wendy })
  opened.expects(
    /^400 PUT \/api\/me\/password$/,
    /^401 PUT \/api\/me\/password$/,
    /^413 PUT \/api\/me\/password$/,
  )
  const current = password(opened, 'Current password')
  const next = password(opened, 'New password')
  const change = button(opened, 'Change the password')
  await change.click()
  await opened.alerts('Enter your current password first.')
  await current.fill(wendy.password)
  for (const [tried, reason] of [
    ['', 'Enter at least 15 characters.'],
    ['é'.repeat(10_000), 'Enter at most 256 characters.'],
    ['wendy-harbour-1', 'little more than your username'],
  ] as const) {
    await next.fill(tried)
    await change.click()
    await opened.page.locator('#new-password-fault', { hasText: reason }).waitFor()
    await opened.hasFocus('New password')
    assert.equal(await next.getAttribute('aria-invalid'), 'true')
    assert.equal(await next.inputValue(), tried)
  }
  await opened.isAccessible('account-password-refused')
  await current.fill('not the one of wendy')
  await next.fill(newPassword)
  await change.click()
  await opened.page
    .locator('#current-password-fault', { hasText: 'This is not your current password.' })
    .waitFor()
  await opened.hasFocus('Current password')
  assert.equal(await next.getAttribute('aria-invalid'), 'false')
  assert.equal(await next.inputValue(), newPassword)
  await opened.page.getByRole('combobox', { name: 'Language', exact: true }).selectOption('fr')
  await opened.alerts('Ce n’est pas votre mot de passe actuel.')
})

soakTest('a demand for a new password is displayed until there is one', async () => {
  const ann = await service.user()
  const stolen = await service.signIn(ann, 'stateful')
  const { id } = (await service.get('/api/me/sessions', stolen)).json().data.items[0]
  await using opened = await openAccount({ user: ann })
  const { page } = opened
  assert.equal(await page.getByText('so they may know your password').count(), 0)
  assert.equal(
    (await opened.context.request.post(`${pages.url}/api/me/sessions/${id}/disown`)).status(),
    200,
  )
  await page.reload()
  await opened.alerts('Someone else signed in to your account, so they may know your password.')
  await opened.isAccessible('account-demand')
  await page.getByRole('link', { name: 'Choose a new password' }).click()
  await becomes(async () => opened.path, '/account#password')
  await password(opened, 'Current password').fill(ann.password)
  await password(opened, 'New password').fill(newPassword)
  await password(opened, 'New password').press('Enter')
  await says(opened, 'Your password was changed.')
  await page.getByText('so they may know your password').waitFor({ state: 'detached' })
})

soakTest('the page says to a user without a username that there is no password', async () => {
  const ann = await service.user()
  await using opened = await openAccount({ user: ann })
  // As after a sign-in with a provider: no route takes a username away.
  await opened.page.route('**/api/session', async (route) => {
    const { data } = await (await route.fetch()).json()
    await route.fulfill({
      json: { success: true, data: { ...data, user: { ...data.user, username: null } } },
    })
  })
  await opened.page.reload()
  await section(opened, 'password').getByText('You have no password here').waitFor()
  assert.equal(await password(opened, 'New password').count(), 0)
  await opened.isAccessible('account-no-password')
})

soakTest('without an answer, nothing typed is lost, and the same button works later', async () => {
  const ann = await service.user()
  await using opened = await openAccount({ user: ann })
  opened.expects(
    /^net::ERR_CONNECTION_REFUSED PATCH/,
    /^net::ERR_CONNECTION_REFUSED PUT/,
    /^503 PUT/,
    /^502 PUT/,
  )
  await loses(opened, '/api/me')
  await field(opened, 'Display name').fill('Ann')
  await button(opened, 'Save').click()
  await opened.alerts('There was no response. Check your connection, then try again.')
  assert.equal(await field(opened, 'Display name').inputValue(), 'Ann')
  await opened.isAccessible('account-no-response')
  await button(opened, 'Save').click()
  await says(opened, 'Your name is saved.')

  const { page } = opened
  await loses(opened, '/api/me')
  const select = page.getByRole('combobox', { name: 'Language', exact: true })
  await select.selectOption('de')
  await opened.alerts('There was no response.')
  await becomes(() => select.inputValue(), '')

  await password(opened, 'Current password').fill(ann.password)
  await password(opened, 'New password').fill(newPassword)
  const fails = (response: {
    status: number
    headers?: Record<string, string>
    body?: string
    json?: object
  }) => page.route('**/api/me/password', (route) => route.fulfill(response), { times: 1 })
  const busy = { success: false, error: { code: 'UNAVAILABLE', message: 'busy' } }
  for (const [happens, sentence] of [
    [() => loses(opened, '/api/me/password'), 'There was no response.'],
    [
      () => fails({ status: 503, headers: { 'retry-after': '120' }, json: busy }),
      'The service is busy. Try again in 2 minutes.',
    ],
    [
      () => fails({ status: 502, body: '<h1>Bad gateway</h1>' }),
      'The response did not come from this service.',
    ],
  ] as const) {
    await happens()
    await button(opened, 'Change the password').click()
    await section(opened, 'password').getByText(sentence).waitFor()
    assert.equal(await password(opened, 'New password').inputValue(), newPassword)
  }
  await button(opened, 'Change the password').click()
  await says(opened, 'Your password was changed.')
})

soakTest('a page whose first request fails says so and offers to try again', async () => {
  await using opened = await openAccount({ user: await service.user() })
  opened.expects(/^net::ERR_CONNECTION_REFUSED GET \/api\/session$/)
  await loses(opened, '/api/session')
  await opened.page.reload()
  await opened.alerts('There was no response.')
  await opened.isAccessible('account-not-loaded')
  await button(opened, 'Try again').click()
  await field(opened, 'Display name').waitFor()
})

test('if the sign-in ends while the page is open, a link leads to the sign-in page and back', async () => {
  const ann = await service.user()
  await using opened = await openAccount({ user: ann })
  opened.expects(/^401 PATCH/)
  await opened.context.clearCookies()
  await field(opened, 'Display name').fill('Ann')
  await button(opened, 'Save').click()
  await opened.alerts('You are signed out.')
  const link = opened.page.getByRole('link', { name: 'Sign in again' })
  assert.equal(await link.getAttribute('href'), 'sign-in?return_to=%2Faccount')
  await opened.isAccessible('account-signed-out')
  // After a sign-in in another tab, nothing is lost.
  await pages.signIn(opened.context, ann)
  await button(opened, 'Save').click()
  await says(opened, 'Your name is saved.')
})

soakTest(
  'a page that becomes visible after another user has signed in displays the account of that user',
  async () => {
    const ann = await service.user()
    const bob = await service.user()
    await using opened = await openAccount({ user: ann })
    const { page } = opened
    const becomesVisible = () =>
      page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
    await field(opened, 'Display name').fill('half typed')
    const checked = page.waitForResponse('**/api/session')
    await becomesVisible()
    await checked
    assert.equal(await field(opened, 'Display name').inputValue(), 'half typed')
    await pages.signIn(opened.context, bob)
    await becomesVisible()
    await page.locator('.who', { hasText: bob.username }).waitFor()
    await becomes(() => field(opened, 'Display name').inputValue(), '')
  },
)

test('each part that an address names is at the top of the window, on a cold load too, and stays there while others arrive', async () => {
  const ann = await service.user()
  for (const category of ['tea', 'soup', 'bread'])
    await service.deliver({ to: ann, title: 'Hi', category })
  for (let signIns = 0; signIns < 6; signIns++) await service.signIn(ann, 'stateful')
  const ids = [
    'notifications',
    'profile',
    'password',
    'sessions',
    'activity',
    'factors',
    'preferences',
    'data',
  ]
  for (const id of inTurns(ids, { every: 4 }))
    for (const width of id === 'notifications' ? [1280, 390] : [1280]) {
      await using opened = await pages.open('/', { user: ann, width })
      const { page } = opened
      // One after the other, from the bottom to the top.
      let waits = 0
      await page.route('**/api/**', async (route) => {
        const isFirst = route.request().url().endsWith('/api/session')
        if (!isFirst) await new Promise((resolve) => setTimeout(resolve, 80 * ++waits))
        await route.continue()
      })
      await page.goto(`${pages.url}/account#${id}`)
      await page.locator('account-activity li').first().waitFor()
      await page.locator('account-sessions li').nth(5).waitFor()
      await page.locator('account-notifications select').nth(3).waitFor()
      const place = async () => `${Math.round((await section(opened, id).boundingBox())?.y ?? 999)}`
      await becomes(place, /^(1?\d|2[0-4])$/)
      await page.mouse.wheel(0, -100)
      // The reader goes elsewhere, and is not taken back.
      await becomes(async () => `${(await place()) === '16'}`, 'false')
    }
})

test('the account page works by keyboard alone', async () => {
  const ann = await service.user()
  await using opened = await openAccount({ user: ann })
  const { page } = opened
  await field(opened, 'Display name').waitFor()
  const walked: string[] = []
  const tabTo = async (name: string) => {
    for (let steps = 0; steps < 60; steps++) {
      await page.keyboard.press('Tab')
      walked.push(await opened.focused())
      if (walked.at(-1) === name) return
    }
    assert.fail(`${name} was not reached: ${walked.join(' | ')}`)
  }
  await page.keyboard.press('Tab')
  await opened.hasFocus('Skip to the content')
  await page.keyboard.press('Enter')
  assert.equal(await page.locator('.target').count(), 0)
  await tabTo('Display name')
  await page.keyboard.type('Ann')
  await page.keyboard.press('Enter')
  await says(opened, 'Your name is saved.')
  await tabTo('Current password')
  await page.keyboard.type(ann.password)
  await tabTo('New password')
  await page.keyboard.type(newPassword)
  await tabTo('Change the password')
  await page.keyboard.press('Enter')
  await says(opened, 'Your password was changed.')
  await opened.hasFocus('Change the password')
})

test('without script, the account page says that it needs it', async () => {
  await using opened = await pages.open('/account', {
    user: await service.user(),
    hasScript: false,
  })
  assert.match(await opened.page.locator('noscript').innerHTML(), /This page needs JavaScript\./)
  assert.ok(await opened.page.locator('noscript p').isVisible())
})
