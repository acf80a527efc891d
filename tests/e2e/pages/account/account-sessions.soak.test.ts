// The account page in a real Chromium: where the user is signed in, "That was not me", and what happened to the account.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { BrowserPages } from '../../../support/pages/browser-page.ts'

const pages = await BrowserPages.start()
after(() => pages[Symbol.asyncDispose]())
const { service } = pages

const phone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1 Version/19.0 Mobile Safari/604.1'

async function onPhone({ username, password }: { username: string; password: string }) {
  const response = await service.request('/login', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': phone },
    body: JSON.stringify({ username, password, variant: 'stateful' }),
  })
  const proof = { cookie: response.headers.getSetCookie()[0]?.split(';')[0] ?? '' }
  const { items } = (await service.get('/api/me/sessions', proof)).json().data
  return { proof, id: items[0].id as string }
}

test('a user sees each sign-in with device and address, ends one, and then all others; this device stays signed in', async () => {
  const user = await service.user()
  const first = await onPhone(user)
  const second = await onPhone(user)
  const token = await service.signIn(user, 'stateless')
  await using opened = await pages.open('/account#sessions', { user })
  const { page } = opened
  const rows = page.locator('#sessions li')
  await rows.nth(3).waitFor()
  assert.match((await rows.first().textContent()) ?? '', /Chrome on Linux\s+This device/)
  await page.locator(`#session-${second.id}`, { hasText: 'Safari on iPhone' }).waitFor()
  await opened.isAccessible('sessions')

  await page.locator(`#session-${first.id}`).getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('status').filter({ hasText: 'The device is signed out.' }).waitFor()
  await page.locator(`#session-${first.id}`).waitFor({ state: 'detached' })
  await opened.hasFocus('Devices')
  const isOpen = async (proof: Record<string, string>) =>
    (await service.get('/routeRestreinte', proof)).status === 200
  assert.deepEqual([await isOpen(first.proof), await isOpen(second.proof)], [false, true])

  await page.getByRole('button', { name: 'Sign out all other devices' }).click()
  const dialog = page.getByRole('alertdialog', { name: 'Sign out all other devices?' })
  await dialog.waitFor()
  await opened.hasFocus('Cancel')
  await opened.isAccessible('sessions-question')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'hidden' })
  await opened.hasFocus('Sign out all other devices')
  assert.equal(await isOpen(second.proof), true, 'Escape changes nothing')
  await page.locator('#sessions > * > .buttons > [aria-disabled="false"]').press('Enter')
  await dialog.getByRole('button', { name: 'Sign out all other devices' }).press('Enter')
  await page.getByRole('status').filter({ hasText: 'All other devices are signed out.' }).waitFor()
  assert.deepEqual([await isOpen(second.proof), await isOpen(token)], [false, false])
  await page.reload()
  await rows.first().waitFor()
  assert.equal(await rows.count(), 1)
})

test('the link of a notification marks its sign-in; after ten minutes "That was not me" ends a newer one at once, and then asks to confirm (S18)', async () => {
  const user = await service.user()
  await using opened = await pages.open('/account', { user, language: 'de' })
  const { page } = opened
  service.pass(1_000)
  const { id, proof } = await onPhone(user)
  service.pass(11 * 60_000)
  await page.goto(`${pages.url}/account#session-${id}`)
  await page.reload()
  const marked = page.locator(`#session-${id}.target:focus`)
  await marked.waitFor()
  await marked.getByRole('button', { name: 'Das war ich nicht' }).click()
  await page
    .getByRole('alertdialog', { name: 'Waren Sie das nicht?' })
    .getByRole('button', { name: 'Abmelden und neues Passwort festlegen' })
    .click()
  const dialog = page.getByRole('dialog', { name: 'Bestätigen Sie, dass Sie es sind' })
  await dialog.getByLabel('Passwort').waitFor()
  assert.equal((await service.get('/routeRestreinte', proof)).status, 401)
  await dialog.getByLabel('Passwort').fill(user.password)
  await page.keyboard.press('Enter')
  await page.locator('#password:focus').waitFor()
  const me = await page.evaluate(async () => (await fetch('api/me')).json())
  assert.equal(me.data.passwordChangeRequired, true)
  await opened.alerts(/Passwort/)
  await opened.isAccessible('sessions-disowned')
  opened.expects(/403 POST .*disown/)
})

test('a sign-in that has ended can still be disowned from its link, and an id of nobody says so', async () => {
  const user = await service.user()
  const { id, proof } = await onPhone(user)
  await service.post('/logout', undefined, proof)
  await using opened = await pages.open(`/account#session-${id}`, { user })
  const { page } = opened
  const notice = page.locator(`#session-${id}:focus`)
  await notice.filter({ hasText: 'is already signed out' }).waitFor()
  await opened.isAccessible('sessions-ended')
  await notice.getByRole('button', { name: 'That was not me' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Sign it out' }).click()
  await page.locator('#password:focus').waitFor()

  opened.expects(/404 POST .*disown/)
  await page.evaluate(() => {
    location.hash = 'session-01a1fbae-0000-7000-8000-000000000000'
  })
  await page.locator('.notice:focus').getByRole('button', { name: 'That was not me' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Sign it out' }).click()
  await opened.alerts('Your account has no such device.')
})

test('a part of the page that cannot be loaded says so, and is loaded again on request; the other parts stay', async () => {
  await using opened = await pages.open('/docs')
  const { page } = opened
  const { username, password } = await service.user()
  await pages.signIn(opened.context, { username, password })
  await page.route('**/api/me/activity*', (route) => route.abort('connectionfailed'))
  opened.expects(/ERR_INTERNET_DISCONNECTED GET|ERR_CONNECTION_FAILED GET/)
  await page.goto(`${pages.url}/account`)
  await page
    .locator('#activity')
    .getByRole('alert')
    .filter({ hasText: 'There was no response.' })
    .waitFor()
  await page.locator('#sessions li').waitFor()
  await opened.isAccessible('activity-not-loaded')
  await page.unroute('**/api/me/activity*')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.locator('#activity li').first().waitFor()
  assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0)
  await opened.hasFocus('Activity')
})

test('the activity is in words, in pages, and leads from a sign-in to the place where it can be disowned', async () => {
  const user = await service.user()
  for (let count = 0; count < 11; count++) await service.signIn(user, 'stateful')
  await service.post('/login', { ...user, id: undefined, password: 'wrong' })
  await using opened = await pages.open('/account#activity', { user })
  const { page } = opened
  const rows = page.locator('#activity li')
  await rows.nth(9).waitFor()
  assert.equal(await rows.count(), 10)
  assert.match(
    (await rows.nth(0).textContent()) ?? '',
    /You signed in.*with the password.*Chrome on Linux.*127\.0\.0\.1/s,
  )
  assert.match((await rows.nth(1).textContent()) ?? '', /A sign-in was refused/)
  await opened.isAccessible('activity')
  await page.locator('#activity').getByRole('button', { name: 'Show more' }).click()
  await rows.nth(10).and(page.locator(':focus')).waitFor()
  assert.match(
    (await rows.last().textContent()) ?? '',
    /The account was created.*by the service itself/s,
  )
  await rows.nth(0).getByRole('link', { name: 'Not you?' }).click()
  await page.locator('#sessions li:focus', { hasText: 'This device' }).waitFor()
})
