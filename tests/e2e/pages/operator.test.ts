// The page of the operator in a real Chromium: each view, an act with its confirmation, the keyboard, and who does not see it (O1).
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setRole } from '../../../server/users/roles.store.ts'
import { findUser, updateUser } from '../../../server/users/users.store.ts'
import { BrowserPages } from '../../support/pages/browser-page.ts'

const pages = await BrowserPages.start()
after(() => pages[Symbol.asyncDispose]())
const { service } = pages
const boss = await service.user('boss')
await service.store.write(setRole, { userId: boss.id, role: 'operator' })
const ann = await service.user('ann')
await service.store.write(updateUser, {
  userId: ann.id,
  displayName: 'Ann \u202elee',
  email: 'ann@example.org',
})
await service.signIn(ann, 'stateful')
await service.deliver({
  to: [ann, boss],
  title: 'confidential',
  key: 'order-1',
  category: 'orders',
})

test('each view is accessible in each language, in both themes and at both widths, and none shows a notification (O1)', async () => {
  for (const [language, width, theme] of [
    ['en', 1440, 'light'],
    ['de', 390, 'dark'],
    ['fr', 1440, 'dark'],
  ] as const) {
    await using opened = await pages.open('/operator', { user: boss, language, width, theme })
    for (const view of [
      'now',
      'users',
      `users/${ann.id}`,
      'keys',
      'deliveries',
      'attacks',
      'audit',
    ]) {
      await opened.page.evaluate((hash) => {
        location.hash = hash
      }, view)
      await opened.page.locator(`section.card :is(.entries, table, dl, svg)`).first().waitFor()
      await opened.isAccessible(`operator-${view.replace(/\/.*/, '-one')}-${language}-${width}`)
      assert.ok(!(await opened.page.content()).includes('confidential'), view)
    }
  }
})

test('the numbers of a day and of a month are drawn, and are a table that the keyboard opens (O1)', async () => {
  await using opened = await pages.open('/operator', { user: boss })
  const { page } = opened
  await page.locator('operator-strip canvas').nth(4).waitFor()
  await page.locator('summary').first().focus()
  await page.keyboard.press('Enter')
  const rows = page.locator('details[open] tbody tr')
  await rows.nth(23).waitFor()
  await page.getByRole('button', { name: '30 days' }).focus()
  await page.keyboard.press('Enter')
  await rows.nth(29).waitFor()
  assert.ok(
    Number(await rows.first().locator('td').nth(1).textContent()) >= 1,
    'the sign-ins of this test',
  )
})

test('an operator finds a user, sees the name as it is, and disables the user after a question (O1)', async () => {
  await using opened = await pages.open('/operator#users', { user: boss })
  const { page } = opened
  await page.getByRole('searchbox').fill('ANN@')
  await page.keyboard.press('Enter')
  await page.getByText('Ann \\u202elee').waitFor()
  await page.getByRole('link', { name: 'ann' }).click()
  await opened.hasFocus('Users')
  await page.getByRole('button', { name: 'Disable' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Disable' }).click()
  await page.getByRole('status').filter({ hasText: 'Done.' }).waitFor()
  assert.notEqual((await service.store.read(findUser, ann.id))?.disabledAt, null)
  await page.getByRole('button', { name: 'Enable' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Enable' }).click()
  await page.getByRole('button', { name: 'Disable' }).waitFor()
})

test('a stale sign-in is confirmed in a dialog, and a new key is shown once (O1)', async () => {
  await using opened = await pages.open('/operator#keys', { user: boss })
  const { page } = opened
  service.pass(10 * 60_000 + 1)
  opened.expects(/403 POST \/api\/operator\/keys/)
  await page.getByLabel('Name', { exact: true }).fill('shop')
  await page.getByRole('button', { name: 'Create a key' }).click()
  await page.getByLabel('Password', { exact: true }).fill(boss.password)
  await page.keyboard.press('Enter')
  await page.getByText(/^crl_[\da-f]{16}_/).waitFor()
  await page.getByRole('link', { name: 'Now', exact: true }).click()
  await page.getByRole('link', { name: 'Keys', exact: true }).click()
  await page.getByRole('cell', { name: 'shop', exact: true }).waitFor()
  assert.ok(!(await page.content()).includes('crl_'))
})

test('a delivery is found by its key and withdrawn (O1)', async () => {
  await using opened = await pages.open('/operator#deliveries', { user: boss })
  const { page } = opened
  await page.getByLabel('Key of a notification, or its id').fill('order-1')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Withdraw' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Withdraw' }).click()
  await page.getByRole('status').filter({ hasText: 'Withdrawn from 2 inboxes.' }).waitFor()
})

test('a user without the role has neither the link nor the page (O1)', async () => {
  await using opened = await pages.open('/inbox', { user: ann })
  assert.equal(await opened.page.getByRole('link', { name: 'Operator' }).count(), 0)
  opened.expects(/404 GET \/operator/)
  await opened.page.goto(`${pages.url}/operator`)
  await opened.heading('Page not found')
})
