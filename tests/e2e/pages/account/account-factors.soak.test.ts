// The account page in a real Chromium: an authenticator app, passkeys of a virtual authenticator, and recovery codes.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { type BrowserPage, BrowserPages } from '../../../support/pages/browser-page.ts'
import { virtualAuthenticator } from '../../../support/passkeys.ts'
import { startTestService, type TestUser } from '../../../support/service.ts'
import { Authenticator, carefulUser, challengeOf } from '../../../support/sign-in/authenticator.ts'

const service = await startTestService()
/** Browsers have passkeys for names only. */
const pages = await BrowserPages.start({ service, host: 'localhost' })
after(() => pages[Symbol.asyncDispose]())

const codesOf = (page: Page) => page.locator('recovery-codes li').allTextContents()
const status = (page: Page, text: string | RegExp) =>
  page.getByRole('status').filter({ hasText: text }).waitFor()

async function factorsPage(user: TestUser, language = 'en'): Promise<BrowserPage> {
  const opened = await pages.open('/account#factors', { user, language })
  await opened.page.locator('#factors .choices button').first().waitFor()
  return opened
}

/** What a phone reads from the picture is the text of the key, which the page displays as well. */
async function appFrom(page: Page): Promise<Authenticator> {
  const key = (await page.locator('.key').textContent()) ?? ''
  assert.match(key, /^([A-Z2-7]{4} ){7}[A-Z2-7]{4}$/)
  return new Authenticator(key.replaceAll(' ', ''))
}

test('a user adds an authenticator app by its key, with a wrong code first, and keeps the recovery codes; the app signs in (A17)', async () => {
  const user = await service.user()
  await using opened = await factorsPage(user)
  const { page } = opened
  await opened.isAccessible('factors-none')
  await page.getByRole('button', { name: 'Add an authenticator app' }).click()
  await opened.hasFocus('Add an authenticator app')
  await page.getByLabel('Name', { exact: true }).fill('My phone')
  await opened.isAccessible('factors-app-name')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('img', { name: 'QR code' }).waitFor()
  await opened.hasFocus('Connect the app')
  const app = await appFrom(page)
  const link = await page.getByRole('link', { name: 'Open in an app' }).getAttribute('href')
  assert.ok(
    link?.startsWith('otpauth://totp/') && link.includes(app.secret.length ? 'secret=' : ''),
  )
  await opened.isAccessible('factors-app-code')

  opened.expects(/401 POST .*confirm/)
  const field = page.getByLabel('Code from the app')
  await field.fill(app.wrongCode(service.now()))
  await field.press('Enter')
  await opened.alerts('This code is wrong or too old.')
  await opened.hasFocus('Code from the app')
  assert.match(await field.inputValue(), /^\d{6}$/, 'nothing typed is lost')
  await opened.isAccessible('factors-app-wrong')
  await field.fill(app.code(service.now()))
  await page.getByRole('button', { name: 'Confirm', exact: true }).click()
  await status(page, 'The app was added.')
  await opened.hasFocus('Recovery codes')
  await opened.isAccessible('factors-codes')
  const codes = await codesOf(page)
  assert.equal(new Set(codes).size, 10)

  await opened.context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByRole('button', { name: 'Copy' }).click()
  await status(page, 'Copied.')
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), codes.join('\n'))
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download' }).click(),
  ])
  assert.equal(download.suggestedFilename(), 'recovery-codes.txt')
  const written = readFileSync(await download.path(), 'utf8')
  assert.ok(written.includes(codes.join('\n')) && written.includes(user.username), written)

  await page.getByRole('button', { name: 'I have saved them' }).click()
  await opened.hasFocus('Recovery codes')
  assert.deepEqual(await codesOf(page), [])
  await page.locator('#factors li', { hasText: 'My phone' }).waitFor()
  await page.getByText('10 codes left.').waitFor()
  service.pass(60_000)
  const challenge = await challengeOf(service, user, 'stateful')
  const recoveryCode = codes[3]
  assert.equal(
    (await service.post('/login/second-factor', { challenge, recoveryCode })).status,
    200,
  )
})

test('by keyboard alone a user adds the first factor; then the page offers to end the other sign-ins, which began without it', async () => {
  const user = await service.user()
  const elsewhere = await service.signIn(user, 'stateful')
  await using opened = await factorsPage(user)
  const { page } = opened
  await tabTo(opened, 'Add an authenticator app')
  await page.keyboard.press('Enter')
  await tabTo(opened, 'Continue')
  await page.keyboard.press('Enter')
  await page.getByRole('img', { name: 'QR code' }).waitFor()
  await tabTo(opened, 'Code from the app')
  await page.keyboard.type((await appFrom(page)).code(service.now()))
  await page.keyboard.press('Enter')
  await status(page, 'The app was added.')
  await tabTo(opened, 'I have saved them')
  await page.keyboard.press('Space')
  const dialog = page.getByRole('alertdialog', { name: 'Sign out all other devices?' })
  await dialog.getByText('signed in without the new second step').waitFor()
  await opened.isAccessible('factors-end-others')
  await dialog.getByRole('button', { name: 'Sign out all other devices' }).press('Enter')
  await status(page, 'All other devices are signed out.')
  assert.equal((await service.get('/api/me', elsewhere)).status, 401)
})

test('new recovery codes replace the old ones, only after a question; the page for printing has them and nothing else', async () => {
  const user = await carefulUser(service)
  await using opened = await factorsPage(user)
  const { page } = opened
  const renew = page.getByRole('button', { name: 'New recovery codes' })
  await renew.click()
  await opened.isAccessible('factors-renew-question')
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click()
  assert.deepEqual(await codesOf(page), [])
  await renew.click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'New recovery codes' }).click()
  await page.locator('recovery-codes li').nth(9).waitFor()
  const codes = await codesOf(page)
  const refused = {
    challenge: await challengeOf(service, user, 'stateful'),
    recoveryCode: user.recoveryCodes[0],
  }
  assert.equal((await service.post('/login/second-factor', refused)).status, 401)
  assert.equal(
    (await service.post('/login/second-factor', { ...refused, recoveryCode: codes[0] })).status,
    200,
  )
  await page.evaluate(() => {
    globalThis.print = () => document.body.setAttribute('data-printed', '')
  })
  await page.getByRole('button', { name: 'Print' }).click()
  await page.locator('body[data-printed]').waitFor()
  await page.emulateMedia({ media: 'print' })
  const visible = page.locator('button, a, h1, h2, input').locator('visible=true')
  assert.equal(await visible.count(), 0)
  assert.equal(await page.locator('recovery-codes li').locator('visible=true').count(), 10)
  await page.getByText(`Recovery codes of ${user.username} at localhost`).waitFor()
  const pdf = await page.pdf({ format: 'A4' })
  assert.equal(pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length, 1, 'one sheet of paper')
})

test('a passkey is added, used to confirm a sign-in that is not fresh, and removed, which needs an answer (A18)', async () => {
  const user = await service.user()
  await using opened = await factorsPage(user)
  const { page } = opened
  const verifies = await virtualAuthenticator(page)
  await page.getByRole('button', { name: 'Add a passkey' }).press('Enter')
  const name = page.getByLabel('Name', { exact: true })
  await page.waitForFunction(
    () => document.querySelector<HTMLInputElement>('#passkey-name')?.value === 'Chrome on Linux',
  )
  await name.fill('Work laptop')
  await opened.isAccessible('factors-passkey-name')
  await page.keyboard.press('Enter')
  await status(page, 'The passkey was added.')
  assert.equal((await codesOf(page)).length, 10)
  await page.getByRole('button', { name: 'I have saved them' }).press('Enter')
  await opened.isAccessible('factors-passkey')

  opened.expects(/403 POST .*passkeys\/options/, /403 DELETE/)
  service.pass(10 * 60_000 + 1)
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
  const confirm = page.getByRole('dialog', { name: 'Confirm that it is you' })
  await confirm.getByRole('button', { name: 'Use a passkey' }).click()
  await opened.alerts('This device already has a passkey for your account.')
  await page.getByRole('button', { name: 'Cancel' }).click()
  await opened.hasFocus('Add a passkey')

  service.pass(10 * 60_000 + 1)
  await page.getByRole('button', { name: 'Remove Work laptop' }).click()
  const question = page.getByRole('alertdialog', { name: 'Remove “Work laptop”?' })
  await question.getByText('It is your last one.').waitFor()
  await question.getByRole('button', { name: 'Remove' }).click()
  await confirm.getByRole('button', { name: 'Cancel' }).click()
  await page.locator('#factors li', { hasText: 'Work laptop' }).waitFor()
  await page.getByRole('button', { name: 'Remove Work laptop' }).click()
  await question.getByRole('button', { name: 'Remove' }).click()
  await verifies(false)
  await confirm.getByRole('button', { name: 'Use a passkey' }).click()
  await confirm.getByText('The passkey did not work').waitFor()
  await opened.isAccessible('confirm-passkey')
  assert.equal(await confirm.getByRole('button', { name: 'Use a recovery code' }).count(), 1)
  await verifies(true)
  await confirm.getByRole('button', { name: 'Use a passkey' }).click()
  await status(page, 'Removed.')
  await page
    .getByText('Add one of these, and your password alone is no longer enough to sign in.')
    .waitFor()
  assert.equal(await page.locator('#factors li').count(), 0)
})

test('a browser that refuses a passkey, and one without any, get a sentence and a way back', async () => {
  const user = await service.user()
  await using opened = await factorsPage(user, 'fr')
  const { page } = opened
  const verifies = await virtualAuthenticator(page)
  await verifies(false)
  await page.getByRole('button', { name: 'Ajouter une clé d’accès' }).click()
  await page.getByRole('button', { name: 'Continuer' }).click()
  await opened.alerts('Aucune clé d’accès n’a été ajoutée')
  await opened.isAccessible('factors-passkey-refused')
  await verifies(true)
  await page.getByRole('button', { name: 'Continuer' }).click()
  await status(page, 'La clé d’accès a été ajoutée.')

  await using old = await pages.open('/account#factors', { beside: opened })
  await old.page.evaluate(() => {
    Reflect.deleteProperty(globalThis, 'PublicKeyCredential')
  })
  await old.page.getByRole('button', { name: 'Ajouter une clé d’accès' }).click()
  await old.page.getByText('Ce navigateur ne prend pas en charge les clés d’accès.').waitFor()
  await old.page.getByRole('button', { name: 'Annuler' }).click()
  old.expects(/403 POST/)
  service.pass(10 * 60_000 + 1)
  await old.page.getByRole('button', { name: 'Ajouter une application' }).click()
  await old.page.getByRole('button', { name: 'Continuer' }).click()
  await old.page.getByRole('dialog').getByLabel('Code de secours').waitFor()
})

test('at the address 127.0.0.1 the page says why there are no passkeys, with a link to itself at localhost', async () => {
  await using numbered = await pages.open(`${service.url}/account`)
  const { username, password } = await service.user()
  await numbered.context.request.post(`${service.url}/login`, {
    data: { username, password, variant: 'stateful' },
  })
  const { page } = numbered
  await page.goto(`${service.url}/account#factors`)
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  const link = page.getByRole('link', { name: /^Open this page at localhost:\d+$/ })
  assert.equal(
    await link.getAttribute('href'),
    `${service.url.replace('127.0.0.1', 'localhost')}/account#factors`,
  )
  await page.getByRole('button', { name: 'Cancel' }).click()
})

async function tabTo(opened: BrowserPage, name: string): Promise<void> {
  for (let presses = 0; presses < 40; presses++) {
    if ((await opened.focused()) === name) return
    await opened.page.keyboard.press('Tab')
  }
  assert.fail(`the focus never came to ${name}`)
}
