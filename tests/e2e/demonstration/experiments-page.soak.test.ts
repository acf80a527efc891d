// The experiments as a part of the page: links, keyboard, accessibility in each state, three languages, and the table that fills in.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { BrowserPages } from '../../support/pages/browser-page.ts'
import { ExperimentsPage } from '../../support/pages/experiments-page.ts'

const pages = await BrowserPages.start()
after(() => pages[Symbol.asyncDispose]())

test('a link opens its experiment, and the address follows the one that is opened', async () => {
  await using opened = await pages.open('/demonstration#experiment-change-character')
  const experiments = new ExperimentsPage(opened.page)
  await experiments.of('changeCharacter').getByRole('radio').first().waitFor()
  await opened.hasFocus(/Change one character/)
  await experiments.show('expiry')
  await opened.page.waitForFunction(() => location.hash === '#experiment-expiry')
  assert.equal(await experiments.of('changeCharacter').getAttribute('open'), null)
  await opened.page.reload()
  await experiments.of('expiry').getByRole('radio').first().waitFor()
})

test('a link leads to the table, and the way from the table back to an experiment', async () => {
  await using opened = await pages.open('/demonstration#when-to-take-which')
  await opened.page.waitForFunction(() => document.activeElement?.id === 'when-to-take-which')
  await opened.page.getByRole('table').getByRole('link', { name: 'Restart the server' }).click()
  await opened.page.waitForFunction(() => document.activeElement?.textContent?.startsWith('Restart the server'))
  assert.notEqual(await new ExperimentsPage(opened.page).of('restart').getAttribute('open'), null)
})

test('the steps of the walk continue after an experiment that ended their proofs', async () => {
  await using opened = await pages.open('/demonstration#sign-in')
  const experiments = new ExperimentsPage(opened.page)
  await opened.page.locator('#sign-in').waitFor()
  await experiments.predict('revokeAll', { session: 'no', token: 'no' })
  await experiments.start('revokeAll')
  await experiments.result('revokeAll')
  const before = Math.max(...experiments.seen.keys())
  await opened.page.evaluate(() => location.assign('#with-proof'))
  await opened.page.locator('#with-proof').waitFor()
  const seen = [...experiments.seen].filter(([n]) => n > before).map(([, line]) => line)
  assert.deepEqual(seen, Array(2).fill({ line: 'GET /routeRestreinte', status: 200 }))
  opened.expects(/^401 GET /)
})

test('an exchange can be copied as a command for a terminal, with its proof on the standard input', async () => {
  await using opened = await pages.open('/demonstration#experiment-restart')
  await opened.context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const experiments = new ExperimentsPage(opened.page)
  await experiments.predict('restart', { session: 'yes', token: 'yes' })
  await experiments.start('restart')
  const token = (await experiments.result('restart')).locator('.lane-token')
  await token.locator('.facts details summary').last().click()
  await token.getByRole('button', { name: 'Copy as curl' }).last().click()
  await token.getByText('Copied.').last().waitFor()
  const command = await opened.page.evaluate(() => navigator.clipboard.readText())
  assert.match(command, /^curl -si .*-H @-.*\/demonstration\/service\/routeRestreinte.*authorization: Bearer /s)
})

test('an experiment needs the keyboard only, and its result has the focus', async () => {
  await using opened = await pages.open('/demonstration#experiment-restart')
  const { keyboard } = opened.page
  const experiments = new ExperimentsPage(opened.page)
  await opened.hasFocus(/^Restart the server/)
  const press = async (...keys: string[]) => {
    for (const key of keys) await keyboard.press(key)
  }
  // From the title: the link of the experiment, the two groups of choices, the button.
  await press('Tab', 'Tab', 'Space', 'Tab', 'Space', 'ArrowDown', 'Tab', 'Enter')
  const result = await experiments.result('restart')
  await opened.hasFocus('Result')
  assert.match((await result.locator('.lane-session').textContent()) ?? '', /You predicted this/)
  assert.match((await result.locator('.lane-token').textContent()) ?? '', /You predicted: The proof is refused/)
  await press('Tab', 'Enter')
  const wire = result.locator('details[open] pre').first()
  await wire.waitFor()
  assert.match((await wire.textContent()) ?? '', /^GET \S*\/routeRestreinte HTTP\/1\.1\n/)
})

test('each state of an experiment is accessible, in both themes, wide and at 320 px', async () => {
  await using opened = await pages.open('/demonstration#experiment-change-character')
  const experiments = new ExperimentsPage(opened.page)
  await opened.isAccessible('experiment-question')
  await experiments.start('changeCharacter')
  await opened.alerts('Choose a prediction')
  await opened.isAccessible('experiment-problem')
  await experiments.predict('changeCharacter', { session: 'no', token: 'yes' })
  await experiments.start('changeCharacter')
  const result = await experiments.result('changeCharacter')
  await result.locator('.facts details summary').last().click()
  await result.locator('.facts details[open] pre').first().waitFor()
  await opened.isAccessible('experiment-result')
  opened.expects(/^401 GET /)
})

for (const { language, title, choice, table } of [
  { language: 'de', title: 'Experimente', choice: 'Der Nachweis gilt noch', table: 'Wann nimmt man was?' },
  { language: 'fr', title: 'Expériences', choice: 'La preuve est encore acceptée', table: 'Quand prendre quoi ?' },
])
  test(`the experiments are in the language of the page: ${language}`, async () => {
    await using opened = await pages.open('/demonstration#experiment-restart', { language })
    const { page } = opened
    await page.getByRole('heading', { level: 2, name: title, exact: true }).waitFor()
    await page.getByRole('heading', { level: 2, name: table }).waitFor()
    await page.getByRole('radio', { name: choice }).first().check()
    await page.getByRole('radio', { name: choice }).last().check()
    const experiments = new ExperimentsPage(page)
    await experiments.start('restart')
    assert.match((await (await experiments.result('restart')).textContent()) ?? '', new RegExp(choice))
    assert.doesNotMatch(
      (await page.locator('#experiments').textContent()) ?? '',
      /\b(the|you|predicted|signature is)\b/i,
    )
  })

test('the table fills in with what was measured, also after a reload, and forgets it if the reader wants', async () => {
  await using opened = await pages.open('/demonstration')
  const { page } = opened
  const experiments = new ExperimentsPage(page)
  const table = page.getByRole('table')
  const rowOf = (name: string) => table.getByRole('row').filter({ hasText: name })
  await table.waitFor()
  assert.equal(await table.getByRole('row').count(), 10)
  assert.match((await rowOf('Let it expire').textContent()) ?? '', /Not run yet/)
  await experiments.predict('expiry', { session: 'no', token: 'no' })
  await experiments.start('expiry')
  await experiments.result('expiry')
  const filledIn = /The proof is still accepted[\s\S]*The proof has expired[\s\S]*For long sign-ins take a session/
  assert.match((await rowOf('Let it expire').textContent()) ?? '', filledIn)
  assert.match((await page.locator('#when-to-take-which').textContent()) ?? '', /1 of 9 experiments done/)
  await page.reload()
  await rowOf('Let it expire').getByText('The proof has expired').waitFor()
  await page.getByRole('button', { name: 'Forget my results' }).click()
  await rowOf('Let it expire').getByText('Not run yet').waitFor()
  opened.expects(/^401 GET /)
})
