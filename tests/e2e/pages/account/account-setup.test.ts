// In a real Chromium: a user whose sign-in only sets a second factor up is led from the sign-in page through the mailed link to the account.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { updateUser } from '../../../../server/users/users.store.ts'
import { MailServer, shownMail } from '../../../support/network/mail-server.ts'
import { BrowserPages } from '../../../support/pages/browser-page.ts'
import { Authenticator } from '../../../support/sign-in/authenticator.ts'

const mails = await MailServer.start()
const env = {
  CARILLON_SECOND_FACTOR: 'required',
  CARILLON_SECOND_FACTOR_GRACE: '1d',
  CARILLON_SMTP_URL: mails.url,
}
const pages = await BrowserPages.start({ env })
const { service } = pages
after(async () => {
  await pages[Symbol.asyncDispose]()
  await mails.stop()
})

test('the account page says until when a second factor is needed (A27)', async () => {
  const user = await service.user()
  await using opened = await pages.open('/account', { user, language: 'de', width: 390 })
  await opened.page
    .getByText(/^Ab dem .* brauchen Sie einen Passkey oder eine Authenticator-App/)
    .waitFor()
  await opened.isAccessible('setup-grace')
})

test('without a script a user gets the link by mail, and with it adds an app and goes on (A27)', async () => {
  const user = await service.user()
  service.pass(24 * 3_600_000)
  const email = `${user.username}@example.org`
  await service.store.write(updateUser, { userId: user.id, email, emailVerifiedAt: service.now() })
  {
    await using opened = await pages.open('/sign-in?return_to=/account', {
      hasScript: false,
      width: 390,
    })
    const { page } = opened
    await opened.sendSignIn(user)
    await opened.heading('One more step')
    await page.getByText('Set one up to go on').waitFor()
    await page.getByRole('button', { name: 'Send me the link by e-mail' }).click()
    await page.getByRole('status').filter({ hasText: 'The link is on its way.' }).waitFor()
  }
  {
    await using opened = await pages.open('/sign-in', { user, language: 'fr', width: 390 })
    await opened.heading('Encore une étape')
    await opened.isAccessible('setup-link')
  }
  const [link = ''] =
    /http\S+\/account#factor-\S+/.exec(shownMail(await mails.receivedBy(email)).text) ?? []
  // In another browser, in which the user has to sign in first.
  await using opened = await pages.open(link)
  const { page } = opened
  await opened.sendSignIn(user)
  await page.getByText('Add one of these to go on.').waitFor()
  assert.equal(new URL(page.url()).hash, '#factors', 'the address does not keep the link')
  assert.equal(await page.locator('#account section').count(), 1)
  await opened.isAccessible('setup-account')
  await page.getByRole('button', { name: 'Add an authenticator app' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
  const key = (await page.locator('.key').textContent()) ?? ''
  const app = new Authenticator(key.replaceAll(' ', ''))
  await page.getByLabel('Code from the app').fill(app.code(service.now()))
  await page.getByRole('button', { name: 'Confirm', exact: true }).click()
  await page.getByRole('status').filter({ hasText: 'The app was added.' }).waitFor()
  await page.locator('section#profile').waitFor()
  assert.equal(await page.locator('recovery-codes li').count(), 10)
})
