// The walk of the demonstration in a real browser: each step, what is displayed of it, and that it is what was on the wire.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expectedStatus, stepIds } from '../../../pages/demonstration/steps.ts'
import { lanes } from '../../../pages/demonstration/world.ts'
import { BrowserPages } from '../../support/pages/browser-page.ts'
import { RecordingProxy, WalkPage } from '../../support/pages/walk-page.ts'
import { startTestService } from '../../support/service.ts'
import { isSoak, soakTest } from '../../support/soak.ts'

// One service has ten demonstrations at most, and each test takes one of them.
const service = await startTestService()
const proxy = await RecordingProxy.to(service.url)
const pages = await BrowserPages.start({ service, url: proxy.url })
after(async () => {
  await pages[Symbol.asyncDispose]()
  await proxy[Symbol.asyncDispose]()
})

const curl = fileURLToPath(new URL('../../support/http/curl.ts', import.meta.url))

/** What a terminal prints for a command. */
async function printed(command: string): Promise<string> {
  const script = `curl() { '${process.execPath}' '${curl}' "$@"; }\n${command}\n`
  return (await promisify(execFile)('bash', ['-c', script])).stdout
}

test('each step works in both lanes, and displays every byte of its messages as a recording proxy saw them', async () => {
  await using walk = await WalkPage.open(pages)
  for (const id of stepIds) {
    await walk.next(id)
    await walk.opened.hasFocus((await walk.page.locator(`h2#${id}`).textContent())?.trim() ?? id)
    for (const lane of lanes) {
      assert.ok((await walk.status(lane)).startsWith(String(expectedStatus[id])), `${id} ${lane}`)
      const [request, response] = [await walk.displayed(lane, 'request'), await walk.displayed(lane, 'response')]
      assert.ok(proxy.saw('to server', request), `${id} ${lane}: ${request.head.join('\n')}`)
      assert.ok(proxy.saw('to client', response), `${id} ${lane}: ${response.head.join('\n')}\n${response.body}`)
    }
    assert.equal(await walk.page.evaluate(() => location.hash), `#${id}`)
  }
  assert.ok(
    !proxy.saw('to client', { head: ['HTTP/1.1 200 OK'], body: 'nothing like this' }),
    'the comparison can fail',
  )
})

test('the lanes differ in their proof alone; diagram and plain list show the look-up of the session, and no question for the token', async () => {
  await using walk = await WalkPage.open(pages, '/demonstration#with-proof')
  await walk.arrived('with-proof')
  const session = (await walk.displayed('session', 'request')).head.join('\n')
  const token = (await walk.displayed('token', 'request')).head.join('\n')
  assert.match(session, /^Cookie: .*carillon-demonstration=[\w-]{36}\.[\w-]{43}/m)
  assert.doesNotMatch(session, /^Authorization:/im)
  assert.match(token, /^Authorization: Bearer [\w-]+\.[\w-]+\.[\w-]+$/m)
  assert.doesNotMatch(token, /^Cookie:/im)

  const figure = (lane: string) => walk.page.locator(`.diagram.lane-${lane}`)
  assert.ok((await figure('session').locator('svg .to-store').count()) > 0)
  assert.equal(await figure('token').locator('svg .to-store').count(), 0)
  const list = (lane: string) => figure(lane).locator('ol.for-readers li').allTextContents()
  const [first = '', second = '', third = ''] = await list('session')
  assert.equal(first, 'Browser to server: GET /routeRestreinte, with the cookie.')
  assert.match(second, /^Server to database: look the session up, [\d.]+ ms\.$/)
  assert.equal(third, 'Server to browser: 200 OK.')
  assert.doesNotMatch((await list('token')).join('\n'), /database/)
})

test('the sign-in shows the row that was stored beside "nothing was stored", and explains each field of both proofs', async () => {
  await using walk = await WalkPage.open(pages, '/demonstration#sign-in')
  await walk.arrived('sign-in')
  const { page } = walk
  const row = walk.lane('session').locator('.row')
  assert.match((await row.textContent()) ?? '', /secret_hash/)
  assert.equal(await walk.lane('token').locator('.row').count(), 0)
  assert.match((await walk.lane('token').locator('.nothing').textContent()) ?? '', /Nothing was stored/)
  const names = await page.locator('.apart dt').allTextContents()
  for (const name of ['secret', 'Path', 'Max-Age', 'HttpOnly', 'SameSite', 'alg', 'kid', 'sub', 'exp', 'signature'])
    assert.ok(names.map((one) => one.trim()).includes(name), `${name} of ${names.join()}`)
  const reasons = await page.locator('.apart .why').allTextContents()
  assert.equal(reasons.length, names.length)
  assert.ok(!reasons.includes(''), 'each field has an explanation')
})

/** The first three have all that differs between commands: no proof, a body, a cookie and a token. */
const copiedSteps = process.env.SOAK === undefined ? stepIds.slice(0, 3) : stepIds

test('"Copy as curl" copies a command that sends the same request again, with no secret among its arguments', async () => {
  await using walk = await WalkPage.open(pages)
  await walk.opened.context.grantPermissions(['clipboard-read', 'clipboard-write'])
  for (const id of copiedSteps) {
    await walk.next(id)
    for (const lane of lanes) {
      await walk.lane(lane).getByRole('button', { name: 'Copy as curl' }).click()
      await walk.lane(lane).getByText('Copied.').waitFor()
      const command = await walk.page.evaluate(() => navigator.clipboard.readText())
      assert.doesNotMatch(command.split('<<')[0] ?? '', /Bearer|cookie|password/i)
      const text = await printed(command)
      assert.ok(text.startsWith(`HTTP/1.1 ${expectedStatus[id]}\r\n`), `${id} ${lane}: ${command}\n${text}`)
    }
  }
})

soakTest('a link to a step shows that step, and the back button the step before', async () => {
  await using walk = await WalkPage.open(pages, '/demonstration#list')
  await walk.arrived('list')
  await walk.next('mark-one')
  await walk.page.goBack()
  await walk.arrived('list')
})

soakTest(
  'the walk goes by keyboard alone: Tab to the button, Enter, and the focus is on the heading of the step',
  async () => {
    await using walk = await WalkPage.open(pages)
    const { page } = walk
    await page.locator('#next').waitFor()
    const press = async (key: string, label: RegExp) => {
      for (let n = 0; n < 30 && !label.test(await walk.opened.focused()); n++) await page.keyboard.press(key)
      await walk.opened.hasFocus(label)
      await page.keyboard.press('Enter')
    }
    await press('Tab', /^Start: ask without proof$/)
    await walk.arrived('without-proof')
    await press('Shift+Tab', /^Next: Sign in$/)
    await walk.arrived('sign-in')
    await walk.opened.hasFocus(/^Sign in/)
  },
)

// Every third one; with SOAK=1 all.
test('every state is accessible, in both themes, wide and at 320 px (axe)', async () => {
  await using walk = await WalkPage.open(pages)
  await walk.page.locator('#next').waitFor()
  await walk.opened.isAccessible('demonstration-start')
  for (const [index, id] of stepIds.entries()) {
    await walk.next(id)
    if (isSoak || index % 3 === 0) await walk.opened.isAccessible(`demonstration-${id}`)
  }
})

for (const [language, title, label] of [
  ['de', 'Sitzung oder Token: beiden bei der Arbeit zusehen', 'Das behält der Server'],
  ['fr', 'Session ou jeton : regardez-les travailler', 'Le serveur garde'],
] as const)
  soakTest(`the demonstration speaks the language of its reader: ${language}`, async () => {
    await using walk = await WalkPage.open(pages, '/demonstration#sign-in', { language })
    await walk.arrived('sign-in')
    await walk.opened.heading(title)
    assert.equal(await walk.page.getByText(label, { exact: true }).count(), 2)
    const text = (await walk.page.locator('main').textContent()) ?? ''
    assert.doesNotMatch(text, /The server|The browser|Next:|Step \d/)
  })

test("the visitor's own sign-in stays as it is, and its cookie is not displayed", async () => {
  const user = await service.user()
  await using walk = await WalkPage.open(pages, '/demonstration#mark-all', { user })
  await walk.arrived('mark-all')
  const own = (await walk.opened.context.cookies(`${proxy.url}/`)).find(({ name }) => /^(__Host-)?carillon$/.test(name))
  assert.ok(own, 'the profile is signed in')
  const { head } = await walk.displayed('session', 'request')
  assert.match(head.join('\n'), new RegExp(`${RegExp.escape(own.name)}=…`))
  assert.ok(!(await walk.page.content()).includes(own.value.slice(40)), 'the secret is nowhere in the page')
  const response = await walk.opened.context.request.get(`${proxy.url}/api/me`)
  assert.equal(response.status(), 200)
})
