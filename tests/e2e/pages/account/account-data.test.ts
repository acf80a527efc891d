// The account page in a real Chromium: a user downloads all data, and deletes the account.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { findUser } from '../../../../server/users/users.store.ts'
import { BrowserPages } from '../../../support/pages/browser-page.ts'

const pages = await BrowserPages.start()
after(() => pages[Symbol.asyncDispose]())
const { service } = pages

test('a user downloads a file with everything, and deletes the account only after a question and, after ten minutes, a confirmation', async () => {
  const user = await service.user()
  const [id] = await service.deliver({ to: user, title: 'A letter' })
  await using opened = await pages.open('/account#data', { user })
  const { page } = opened
  await page.locator('#data.target:focus').waitFor()
  await opened.isAccessible('data')
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download my data' }).click(),
  ])
  assert.equal(download.suggestedFilename(), 'carillon-export.jsonl')
  const lines = readFileSync(await download.path(), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.equal(lines[0].username, user.username)
  assert.equal(lines.at(-1).id, id)

  const erase = page.locator('#data').getByRole('button', { name: 'Delete my account' }).first()
  await erase.click()
  const question = page.getByRole('alertdialog', { name: 'Delete your account?' })
  await question.waitFor()
  await opened.hasFocus('Cancel')
  await opened.isAccessible('data-question')
  await page.keyboard.press('Escape')
  await question.waitFor({ state: 'hidden' })
  await opened.hasFocus('Delete my account')
  assert.ok(await service.store.read(findUser, user.id), 'Escape deletes nothing')

  await page.locator('account-data > .buttons > .danger[aria-disabled="false"]').press('Enter')
  service.pass(10 * 60_000 + 1_000)
  opened.expects(/^403 DELETE \/api\/me$/)
  await question.getByRole('button', { name: 'Delete my account' }).press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Confirm that it is you' })
  await dialog.getByLabel('Password', { exact: true }).fill(user.password)
  await opened.isAccessible('data-confirm')
  assert.ok(await service.store.read(findUser, user.id))
  await dialog.getByRole('button', { name: 'Confirm', exact: true }).click()
  await page.getByRole('status').filter({ hasText: 'Your account is deleted.' }).waitFor()
  assert.equal(opened.path, '/sign-in')
  assert.equal(await service.store.read(findUser, user.id), undefined)
  assert.deepEqual(
    (await opened.context.cookies()).map(({ name }) => name).includes('carillon'),
    false,
  )
})
