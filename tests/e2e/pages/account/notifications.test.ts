// What a user mutes on the account page, in a real Chromium.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { putCategory } from '../../../../server/preferences/preferences.store.ts'
import { type BrowserPage, BrowserPages, becomes, type PageOptions } from '../../../support/pages/browser-page.ts'
import { soakTest } from '../../../support/soak.ts'

const pages = await BrowserPages.start()
after(() => pages[Symbol.asyncDispose]())
const { service } = pages

async function openNotifications(options: PageOptions): Promise<BrowserPage> {
  const opened = await pages.open('/account#notifications', { now: service.now(), ...options })
  await opened.page.locator('section#notifications.target:focus').waitFor()
  return opened
}

const select = ({ page }: BrowserPage, name: string) => page.getByRole('combobox', { name, exact: true })
const chosen = (opened: BrowserPage, name: string) =>
  select(opened, name).locator('option:checked').textContent().then(String)
async function says({ page }: BrowserPage, sentence: string): Promise<void> {
  await page.getByRole('status').filter({ hasText: sentence }).waitFor()
}

function declare(name: string, label: object | string, more: { description?: object; mandatory?: 1 } = {}) {
  const { description, mandatory = 0 } = more
  const texts = { label: JSON.stringify(label), description: description ? JSON.stringify(description) : null }
  return service.store.write(putCategory, { application: '', name, ...texts, mandatory })
}

test('without categories, a user mutes everything, until a time or always', async () => {
  const ann = await service.user()
  await using opened = await openNotifications({ user: ann })
  const { page } = opened
  await page.getByText('Once an application has sent you notifications').waitFor()
  await opened.isAccessible('account-no-categories')
  assert.equal(await chosen(opened, 'All notifications'), 'Not muted')
  await select(opened, 'All notifications').selectOption('Muted for an hour')
  await says(opened, 'Your choice is saved.')
  await becomes(() => chosen(opened, 'All notifications'), /^Muted until .*2026/)
  await page.reload()
  await becomes(() => chosen(opened, 'All notifications'), /^Muted until .*2026/)
  await select(opened, 'All notifications').selectOption('Muted for a week')
  await becomes(() => chosen(opened, 'All notifications'), /^Muted until Jan 8, 2026/)
  for (const choice of ['Always muted', 'Not muted']) {
    await select(opened, 'All notifications').selectOption(choice)
    await says(opened, 'Your choice is saved.')
    await becomes(() => select(opened, 'All notifications').locator('[value=until]').count().then(String), '0')
    await page.reload()
    await becomes(() => chosen(opened, 'All notifications'), choice)
  }
})

test('a user mutes a category, and sees the names of all in the own language, and which cannot be muted', async () => {
  const ann = await service.user()
  await service.deliver({ to: ann, title: 'Hi', category: 'raw "name"' })
  await declare('builds', { en: 'Builds', de: 'Bauten' }, { description: { en: 'What became of each build' } })
  await declare('security', { en: 'Security', de: 'Sicherheit' }, { mandatory: 1 })
  await using opened = await openNotifications({ user: ann })
  const { page } = opened
  const section = page.locator('section#notifications')
  await section.getByText('What became of each build').waitFor()
  assert.deepEqual(await section.locator('li :is(label, strong)').allInnerTexts(), [
    'All notifications',
    'Builds',
    'raw "name"',
    'Security',
  ])
  assert.equal(await select(opened, 'Security').count(), 0)
  await section.getByText('Cannot be muted').waitFor()
  await select(opened, 'Builds').selectOption('Muted until tomorrow, 8:00')
  await says(opened, 'Your choice is saved.')
  await becomes(() => chosen(opened, 'Builds'), /^Muted until .*2026.* 8:00/)
  await select(opened, 'raw "name"').selectOption('Always muted')
  await says(opened, 'Your choice is saved.')
  await opened.isAccessible('account-muted')
  await page.getByRole('combobox', { name: 'Language', exact: true }).selectOption('de')
  await select(opened, 'Bauten').waitFor()
  await becomes(() => chosen(opened, 'raw "name"'), 'Immer stumm')
  await opened.isAccessible('account-muted-de')
})

soakTest('a choice that is not saved says why, and the list shows what the service has', async () => {
  await using opened = await openNotifications({ user: await service.user() })
  opened.expects(/^net::ERR_CONNECTION_REFUSED PUT/)
  await opened.page.route('**/api/me/preferences', (route) => route.abort('connectionrefused'), { times: 1 })
  await select(opened, 'All notifications').selectOption('Always muted')
  await opened.alerts('There was no response.')
  assert.equal(await chosen(opened, 'All notifications'), 'Not muted')
  await select(opened, 'All notifications').selectOption('Always muted')
  await says(opened, 'Your choice is saved.')
  assert.equal(await chosen(opened, 'All notifications'), 'Always muted')
})
