// What a user mutes on the account page, in a real Chromium.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { putCategory, readPreferences } from '../../../../server/preferences/preferences.store.ts'
import { updateUser } from '../../../../server/users/users.store.ts'
import {
  type BrowserPage,
  BrowserPages,
  becomes,
  type PageOptions,
} from '../../../support/pages/browser-page.ts'
import { soakTest } from '../../../support/soak.ts'

const pages = await BrowserPages.start({
  env: { CARILLON_SMTP_URL: 'smtp://127.0.0.1:9', CARILLON_MAIL_UNREAD: '15m' },
})
after(() => pages[Symbol.asyncDispose]())
const { service } = pages

async function openNotifications(options: PageOptions): Promise<BrowserPage> {
  const opened = await pages.open('/account#notifications', { now: service.now(), ...options })
  await opened.page.locator('section#notifications.target:focus').waitFor()
  return opened
}

const select = ({ page }: BrowserPage, row: string, column = 'Inbox') =>
  page.getByRole('combobox', { name: `${row}, ${column}`, exact: true })
const chosen = (opened: BrowserPage, row: string, column?: string) =>
  select(opened, row, column).locator('option:checked').textContent().then(String)
async function says({ page }: BrowserPage, sentence: string): Promise<void> {
  await page.getByRole('status').filter({ hasText: sentence }).waitFor()
}

function declare(
  name: string,
  label: object | string,
  more: { description?: object; mandatory?: 1 } = {},
) {
  const { description, mandatory = 0 } = more
  const texts = {
    label: JSON.stringify(label),
    description: description ? JSON.stringify(description) : null,
  }
  return service.store.write(putCategory, { application: '', name, ...texts, mandatory })
}

test('without categories, a user mutes everything, until a time or always', async () => {
  const ann = await service.user()
  await using opened = await openNotifications({ user: ann })
  const { page } = opened
  await page.getByText('Once an application has sent you notifications').waitFor()
  await page.getByText('your account needs a verified address').waitFor()
  assert.equal(await page.getByRole('columnheader', { name: 'By e-mail' }).count(), 0)
  await opened.isAccessible('account-no-categories')
  assert.equal(await chosen(opened, 'All notifications'), 'On')
  await select(opened, 'All notifications').selectOption('Muted for an hour')
  await says(opened, 'Your choice is saved.')
  await becomes(() => chosen(opened, 'All notifications'), /^Until /)
  await page.reload()
  await becomes(() => chosen(opened, 'All notifications'), /^Until /)
  await select(opened, 'All notifications').selectOption('Muted for a week')
  await becomes(() => chosen(opened, 'All notifications'), /^Until Jan 8, 2026/)
  for (const choice of ['Always muted', 'On']) {
    await select(opened, 'All notifications').selectOption(choice)
    await says(opened, 'Your choice is saved.')
    await becomes(
      () =>
        select(opened, 'All notifications')
          .locator('option')
          .filter({ hasText: /^Until/ })
          .count()
          .then(String),
      '0',
    )
    await page.reload()
    await becomes(() => chosen(opened, 'All notifications'), choice)
  }
})

test('a user mutes a category, and sees the names of all in the own language, and which cannot be muted', async () => {
  const ann = await service.user()
  await service.deliver({ to: ann, title: 'Hi', category: 'raw "name"' })
  await declare(
    'builds',
    { en: 'Builds', de: 'Bauten' },
    { description: { en: 'What became of each build' } },
  )
  await declare('security', { en: 'Security', de: 'Sicherheit' }, { mandatory: 1 })
  await using opened = await openNotifications({ user: ann })
  const { page } = opened
  const section = page.locator('section#notifications')
  await section.getByText('What became of each build').waitFor()
  assert.deepEqual(await section.locator('tbody th > span').allInnerTexts(), [
    'All notifications',
    'Builds',
    'raw "name"',
    'Security',
  ])
  assert.equal(await select(opened, 'Security').count(), 0)
  await section.locator('td[data-name=Inbox]', { hasText: 'Always on' }).first().waitFor()
  await select(opened, 'Builds').selectOption('Muted until tomorrow, 8:00')
  await says(opened, 'Your choice is saved.')
  await becomes(() => chosen(opened, 'Builds'), /^Until .*2026.* 8:00/)
  await select(opened, 'raw "name"').selectOption('Always muted')
  await says(opened, 'Your choice is saved.')
  await opened.isAccessible('account-muted')
  await page.getByRole('combobox', { name: 'Language', exact: true }).selectOption('de')
  await select(opened, 'Bauten', 'Posteingang').waitFor()
  await becomes(() => chosen(opened, 'raw "name"', 'Posteingang'), 'Immer stumm')
  await opened.isAccessible('account-muted-de')
})

test('a user with a verified address chooses mails for each category, digests and quiet hours in the own time zone', async () => {
  const ann = await service.user()
  await service.store.write(updateUser, {
    userId: ann.id,
    email: 'ann@example.org',
    emailVerifiedAt: service.now(),
  })
  await declare('alarms', 'Alarms', { mandatory: 1 })
  await using opened = await openNotifications({ user: ann, timeZone: 'Asia/Tokyo' })
  const { page } = opened
  const section = page.locator('section#notifications')
  const zone = () => section.getByLabel('Time zone').inputValue()
  // The service takes that of the browser with the first choice.
  assert.equal(await zone(), 'UTC')
  assert.equal(await chosen(opened, 'All notifications', 'By e-mail'), 'Default (After 15 minutes)')
  await select(opened, 'All notifications', 'By e-mail').selectOption('Never')
  await says(opened, 'Your choice is saved.')
  await becomes(zone, 'Asia/Tokyo')
  await becomes(() => chosen(opened, 'Alarms', 'By e-mail'), 'Default (After 15 minutes)')
  assert.equal(await select(opened, 'Security', 'By e-mail').count(), 0)
  assert.equal(await select(opened, 'Alarms', 'By e-mail').locator('[value=off]').count(), 0)
  await select(opened, 'Alarms', 'By e-mail').selectOption('Once a day')
  await becomes(() => chosen(opened, 'Alarms', 'By e-mail'), 'Once a day')
  await section.getByLabel('Time zone').selectOption('America/New York')
  await section.getByLabel('Daily and weekly e-mails at').selectOption('17')
  await section.getByLabel('Quiet hours: nothing is sent').click()
  await section.getByLabel('to', { exact: true }).fill('06:30')
  await section.getByLabel('to', { exact: true }).blur()
  const stored = async () => {
    const found = await service.store.read(readPreferences, { userId: ann.id, now: '' })
    return JSON.stringify([
      found?.hours,
      Array.from(found?.choices.values() ?? [], ({ category, mail }) => [category, mail]),
    ])
  }
  const hours = {
    timeZone: 'America/New_York',
    digestAt: 17,
    quietHours: { from: '22:00', to: '06:30' },
  }
  const mails = [
    ['', 'off'],
    ['alarms', 'daily'],
  ]
  await becomes(stored, JSON.stringify([hours, mails]))
  await opened.isAccessible('account-mails')
})

test('a user turns pushes off for all, sees what that means for each category, and turns one on again', async () => {
  const ann = await service.user()
  await service.deliver({ to: ann, title: 'Hi', category: 'chat' })
  await declare('fire', 'Fire', { mandatory: 1 })
  await using opened = await openNotifications({ user: ann })
  const column = 'On your devices'
  assert.equal(await chosen(opened, 'All notifications', column), 'Default (On)')
  assert.equal(await chosen(opened, 'chat', column), 'Default (On)')
  await select(opened, 'All notifications', column).selectOption('Never')
  await becomes(() => chosen(opened, 'chat', column), 'Default (Never)')
  const fire = opened.page.locator('section#notifications tr', { hasText: 'Fire' })
  assert.deepEqual(await fire.locator('td').allInnerTexts(), ['Always on', 'Always on'])
  await select(opened, 'chat', column).selectOption('On')
  await says(opened, 'Your choice is saved.')
  await becomes(() => chosen(opened, 'chat', column), 'On')
})

soakTest(
  'a choice that is not saved says why, and the list shows what the service has',
  async () => {
    await using opened = await openNotifications({ user: await service.user() })
    opened.expects(/^net::ERR_CONNECTION_REFUSED PUT/)
    await opened.page.route('**/api/me/preferences', (route) => route.abort('connectionrefused'), {
      times: 1,
    })
    await select(opened, 'All notifications').selectOption('Always muted')
    await opened.alerts('There was no response.')
    assert.equal(await chosen(opened, 'All notifications'), 'On')
    await select(opened, 'All notifications').selectOption('Always muted')
    await says(opened, 'Your choice is saved.')
    assert.equal(await chosen(opened, 'All notifications'), 'Always muted')
  },
)
