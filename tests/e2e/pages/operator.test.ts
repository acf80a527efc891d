// The page of the operator in a real Chromium: each view, an act with its confirmation, the keyboard, and who does not see it (O1).
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, test } from 'node:test'
import { newId } from '../../../server/basics/ids.ts'
import { addHourly } from '../../../server/metrics/hourly.store.ts'
import { addTestMail } from '../../../server/reach/outbox.store.ts'
import { setRole } from '../../../server/users/access/roles.store.ts'
import { findUser, updateUser } from '../../../server/users/users.store.ts'
import { BrowserPages } from '../../support/pages/browser-page.ts'
import { untilSo } from '../../support/processes/nodes.ts'
import { isSoak } from '../../support/soak.ts'

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
  for (const [language, width, theme] of (
    [
      ['de', 390, 'dark'],
      ['en', 1440, 'light'],
      ['fr', 1440, 'dark'],
    ] as const
  ).slice(0, isSoak ? 3 : 1)) {
    await using opened = await pages.open('/operator', { user: boss, language, width, theme })
    for (const view of [
      'now',
      'users',
      `users/${ann.id}`,
      'keys',
      'deliveries',
      'outbox',
      'attacks',
      'audit',
    ]) {
      await opened.page.evaluate((hash) => {
        location.hash = hash
      }, view)
      await opened.page.locator(`section.card :is(.entries, table, dl, svg, h3)`).first().waitFor()
      await opened.isAccessible(`operator-${view.replace(/\/.*/, '-one')}-${language}-${width}`)
      assert.ok(!(await opened.page.content()).includes('confidential'), view)
    }
  }
})

test('the numbers of a day and of a month are drawn, and are a table that the keyboard opens (O1)', async () => {
  await using opened = await pages.open('/operator', { user: boss })
  const { page } = opened
  await page.locator('operator-strip canvas').nth(4).waitFor()
  await page.locator('operator-strip + details > summary').first().focus()
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

test('events of one hour are one mark with their number, whose tooltip lists them, and rows of a table (O1)', async () => {
  const hour = Math.floor(service.now() / 3_600_000)
  await service.store.write(addHourly, [{ name: 'starts', hour, count: 1, max: 0 }])
  await using opened = await pages.open('/operator', { user: boss, width: 390 })
  const { page } = opened
  await page.locator('operator-strip canvas').nth(4).waitFor()
  const marks = page.locator('operator-strip').first().locator('.event')
  const found = await marks.evaluateAll((all) =>
    all.map((one) => {
      const { left, right } = one.getBoundingClientRect()
      return { left, right, text: one.textContent, title: (one as HTMLElement).title }
    }),
  )
  for (const [n, { left }] of found.entries())
    assert.ok(n === 0 || left >= (found[n - 1]?.right ?? 0), JSON.stringify(found))
  const listed = found.flatMap(({ title }) => title.split('\n'))
  assert.ok(listed.some((line) => line.startsWith('+ Start, ')))
  assert.ok(listed.some((line) => line.startsWith('* New signing key, ')))
  for (const { text, title } of found) {
    const lines = title.split('\n')
    assert.equal(text, lines.length === 1 ? title[0] : String(lines.length))
  }
  await page.getByText('+ Start').click()
  await page.getByRole('cell', { name: 'New signing key' }).waitFor()
  assert.equal(await page.locator('details[open] tbody tr').count(), listed.length)
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
  await page.getByRole('link', { name: 'Applications and keys' }).click()
  await page.getByRole('cell', { name: 'shop', exact: true }).waitFor()
  assert.ok(!(await page.content()).includes('crl_'))
  await page.getByRole('button', { name: 'Rotate shop' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Rotate' }).click()
  await page.getByText(/^crl_[\da-f]{16}_/).waitFor()
  await page.getByRole('button', { name: 'Revoke shop' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('Revoked', { exact: true }).waitFor()
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

test('a part of the audit log is chosen by keyboard and by pointer, and exported (O1)', async () => {
  service.pass(24 * 3_600_000)
  await using opened = await pages.open('/operator#audit', { user: boss })
  const { page } = opened
  const rows = page.locator('operator-audit > .scroll tbody tr')
  await rows.nth(5).waitFor()
  const exported = page.getByRole('link', { name: 'Download as JSON lines' })
  await page.getByRole('slider', { name: /^From/ }).focus()
  await page.keyboard.press('End')
  // Of the last half day is this sign-in alone.
  await untilSo(async () => (await rows.count()) === 1)
  assert.match((await exported.getAttribute('href')) ?? '', /since=/)
  await page.keyboard.press('Home')
  await rows.nth(5).waitFor()
  const bars = await page.locator('.bars').boundingBox()
  assert.ok(bars)
  const { mouse } = page
  await mouse.move(bars.x + 0.1 * bars.width, bars.y + 5)
  await mouse.down()
  await mouse.move(bars.x + 0.2 * bars.width, bars.y + 5)
  await mouse.up()
  await page.getByText('Nothing was found.').waitFor()
  await page.getByLabel('Event', { exact: true }).selectOption('sign-in')
  await page.getByRole('button', { name: 'Search' }).click()
  await untilSo(async () => {
    const events = await rows.locator('td:nth-child(2)').allTextContents()
    return events.length > 1 && events.every((event) => event === 'sign-in')
  })
  const [download] = await Promise.all([page.waitForEvent('download'), exported.click()])
  const lines = (await readFile(await download.path(), 'utf8')).trim().split('\n')
  assert.equal(lines.length, await rows.count())
  assert.ok(lines.every((line) => JSON.parse(line).event === 'sign-in'))
})

test('the share that was heard is drawn for each age, and is a table (O1)', async () => {
  await using opened = await pages.open('/operator#deliveries', { user: boss })
  const { page } = opened
  await service.deliver({ to: [ann], title: 'confidential', category: 'orders' })
  service.pass(2_000)
  await page.reload()
  await page.locator('operator-deliveries operator-strip canvas').first().waitFor()
  await page.getByRole('button', { name: 'Read', exact: true }).focus()
  await page.keyboard.press('Enter')
  await page.locator('[aria-pressed=true]').filter({ hasText: 'Read' }).waitFor()
  await page.getByText('Numbers').click()
  await page.getByRole('row', { name: 'orders 5 sec 1 0% 0% 0%' }).waitFor()
})

test('what waits to be sent is dropped after a question (O1)', async () => {
  const at = service.now()
  await service.store.write(addTestMail, { id: newId(at), target: 'ann@example.org', at })
  await using opened = await pages.open('/operator#outbox', { user: boss })
  const { page } = opened
  await page.getByRole('button', { name: 'Send now' }).click()
  await page.getByRole('status').filter({ hasText: 'The audit log has an entry' }).waitFor()
  await page.getByRole('button', { name: 'Drop' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Drop' }).click()
  await page.getByText('Nothing waits.').waitFor()
})

test('in French, where the pages need two rows, the button to sign out stays at the end of the first', async () => {
  await using opened = await pages.open('/account', { user: boss, language: 'fr' })
  const { page } = opened
  const brand = await page.locator('.brand').boundingBox()
  const button = await page.getByRole('button', { name: 'Se déconnecter' }).boundingBox()
  const header = await page.locator('.top').boundingBox()
  assert.ok(brand && button && header)
  assert.ok(button.x > header.x + header.width / 2, JSON.stringify(button))
  assert.ok(button.y < brand.y + brand.height, JSON.stringify({ button, brand }))
})

test('a user without the role has neither the link nor the page (O1)', async () => {
  await using opened = await pages.open('/inbox', { user: ann })
  assert.equal(await opened.page.getByRole('link', { name: 'Operator' }).count(), 0)
  opened.expects(/404 GET \/operator/)
  await opened.page.goto(`${pages.url}/operator`)
  await opened.heading('Page not found')
})
