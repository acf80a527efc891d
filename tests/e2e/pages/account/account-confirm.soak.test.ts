// The dialog confirms a sign-in of more than ten minutes ago, by password, code and recovery code.
// The change that needed it is then made, or left as it is typed (A18). account-factors.soak.test.ts has passkeys.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Locator } from 'playwright-core'
import { type BrowserPage, BrowserPages } from '../../../support/pages/browser-page.ts'
import type { TestUser } from '../../../support/service.ts'
import { Authenticator, carefulUser } from '../../../support/sign-in/authenticator.ts'

const pages = await BrowserPages.start()
after(() => pages[Symbol.asyncDispose]())
const { service } = pages

/** A sign-in is fresh for ten minutes. */
const tenMinutes = 10 * 60_000 + 1_000
const title = 'Confirm that it is you'

const dialog = ({ page }: BrowserPage): Locator => page.getByRole('dialog', { name: title })
const inDialog = (opened: BrowserPage, name: string): Locator =>
  dialog(opened).getByRole('button', { name, exact: true })
const field = (opened: BrowserPage, label: string): Locator =>
  dialog(opened).getByLabel(label, { exact: true })

/** The first step of adding an app, which needs a fresh sign-in. */
async function startAdding(opened: BrowserPage): Promise<void> {
  await opened.page.getByRole('button', { name: 'Add an authenticator app', exact: true }).click()
  await opened.page.getByRole('textbox', { name: 'Name', exact: true }).fill('My phone')
  await opened.page.getByRole('button', { name: 'Continue', exact: true }).click()
}

async function isStarted({ page }: BrowserPage): Promise<void> {
  await page.locator('code.key').waitFor()
}

/**
 * What was typed is gone. The browser reports that a dialog is closed a moment after it has gone.
 */
async function isEmptied({ page }: BrowserPage): Promise<void> {
  await page.waitForFunction(
    () => document.querySelector<HTMLInputElement>('#confirm-proof')?.value === '',
  )
}

async function openStale(user: TestUser): Promise<BrowserPage> {
  const opened = await pages.open('/account', { user })
  await opened.page.locator('#display-name').waitFor()
  service.pass(tenMinutes)
  return opened
}

test('a user without a second factor confirms by the password, and the change is made at once (A18)', async () => {
  const ann = await service.user()
  await using opened = await openStale(ann)
  opened.expects(
    /^403 POST \/api\/me\/factors\/totp$/,
    /^401 POST \/api\/me\/confirm$/,
    /^400 POST \/api\/me\/confirm$/,
  )
  await startAdding(opened)
  await dialog(opened).waitFor()
  await opened.hasFocus('Password')
  await opened.isAccessible('confirm-password')
  await inDialog(opened, 'Show passwords').click()
  assert.equal(await field(opened, 'Password').getAttribute('type'), 'text')
  await inDialog(opened, 'Confirm').click()
  await dialog(opened).getByText('This is not your password.').waitFor()
  assert.equal(await field(opened, 'Password').getAttribute('type'), 'password')
  await field(opened, 'Password').fill('not the one of ann')
  await field(opened, 'Password').press('Enter')
  await dialog(opened).getByText('This is not your password.').waitFor()
  await opened.hasFocus('Password')
  await opened.isAccessible('confirm-wrong')
  await field(opened, 'Password').fill(ann.password)
  await field(opened, 'Password').press('Enter')
  await isStarted(opened)
  assert.equal(await dialog(opened).count(), 0)
  await isEmptied(opened)
})

test('a user who cancels is where they were, with what is typed and nothing said; the same button works later', async () => {
  const ann = await service.user()
  await using opened = await openStale(ann)
  opened.expects(/^403 POST/)
  const { page } = opened
  for (const way of ['button', 'key']) {
    await startAdding(opened)
    await field(opened, 'Password').fill('half typed')
    if (way === 'key') await page.keyboard.press('Escape')
    else await inDialog(opened, 'Cancel').click()
    await dialog(opened).waitFor({ state: 'hidden' })
    assert.equal(
      await page.getByRole('textbox', { name: 'Name', exact: true }).inputValue(),
      'My phone',
    )
    assert.deepEqual(
      (await page.getByRole('alert').allTextContents()).filter((text) => text.trim()),
      [],
    )
    await isEmptied(opened)
    await page.locator('add-app').getByRole('button', { name: 'Cancel' }).click()
  }
  await startAdding(opened)
  await field(opened, 'Password').fill(ann.password)
  await inDialog(opened, 'Confirm').click()
  await isStarted(opened)
})

test('a user with an app confirms by a code or a recovery code; the password is not offered (A18)', async () => {
  const kim = await carefulUser(service)
  await using opened = await openStale(kim)
  opened.expects(/^403 POST/, /^401 POST \/api\/me\/confirm$/)
  await startAdding(opened)
  await dialog(opened).waitFor()
  await opened.hasFocus('Code from your authenticator app')
  assert.equal(await field(opened, 'Password').count(), 0)
  await opened.isAccessible('confirm-code')
  await field(opened, 'Code from your authenticator app').fill(kim.app.wrongCode(service.now()))
  await inDialog(opened, 'Confirm').click()
  await dialog(opened).getByText('This code is wrong or has been used.').waitFor()
  await field(opened, 'Code from your authenticator app').fill(kim.app.code(service.now()))
  await inDialog(opened, 'Confirm').click()
  await isStarted(opened)

  service.pass(tenMinutes)
  await opened.page.locator('add-app').getByRole('button', { name: 'Cancel' }).click()
  await startAdding(opened)
  await inDialog(opened, 'Use a recovery code').click()
  await opened.hasFocus('Recovery code')
  await field(opened, 'Recovery code').fill(kim.recoveryCodes[0] ?? '')
  await field(opened, 'Recovery code').press('Enter')
  await isStarted(opened)
})

test('a second factor that another tab has added since is asked for (A18)', async () => {
  const ann = await service.user()
  await using opened = await openStale(ann)
  opened.expects(/^403 POST/, /^401 POST \/api\/me\/confirm$/)
  await startAdding(opened)
  await field(opened, 'Password').waitFor()
  const proof = await service.signIn(ann, 'stateful')
  const { id, secret } = (await service.post('/api/me/factors/totp', {}, proof)).json().data
  const app = new Authenticator(secret)
  const code = app.code(service.now())
  assert.equal(
    (await service.post('/api/me/factors/totp/confirm', { id, code }, proof)).status,
    200,
  )
  await field(opened, 'Password').fill(ann.password)
  await inDialog(opened, 'Confirm').click()
  await field(opened, 'Code from your authenticator app').waitFor()
  service.pass(60_000)
  await field(opened, 'Code from your authenticator app').fill(app.code(service.now()))
  await inDialog(opened, 'Confirm').click()
  await isStarted(opened)
})
