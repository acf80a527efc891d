// The pages of one-time links in a real Chromium, with links as the service makes them: every state, in light and dark.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { after, test } from 'node:test'
import type * as Axe from 'axe-core'
import type { Page, Request } from 'playwright-core'
import { Chromium } from '../../support/chromium.ts'
import { startBehindPath } from '../../support/network/stripping-proxy.ts'
import { type TestUser, variants } from '../../support/service.ts'

declare global {
  var axe: typeof Axe
}

const { service, url: publicUrl, stop } = await startBehindPath()
const browser = await Chromium.start()
after(async () => {
  await browser[Symbol.asyncDispose]()
  await stop()
})
const { key } = await service.producerKey(['users'])
const newPassword = 'grey heron over the weir'
type Purpose = 'reset' | 'invite'

// As init scripts: the policy of the page allows no other.
await browser.context.addInitScript({ path: createRequire(import.meta.url).resolve('axe-core/axe.min.js') })
await browser.context.addInitScript(() =>
  document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
    console.error(`blocked by ${violatedDirective}: ${blockedURI}`),
  ),
)

/** Writes a picture of each state into this folder, to look at. */
const { SCREENSHOTS } = process.env

async function linkFor({ id }: Pick<TestUser, 'id'>, purpose: Purpose = 'reset'): Promise<string> {
  const response = await service.post(`/api/users/${id}/links`, { purpose }, { authorization: `Bearer ${key}` })
  assert.equal(response.status, 201, response.text)
  return response.json().data.url
}

const tokenOf = (link: string) => link.split('#')[1] ?? ''

/** A page as its user meets it, with what its browser complains about. */
class PasswordPage implements AsyncDisposable {
  readonly page: Page
  readonly requests: Request[] = []
  /** Console errors, uncaught errors and reports of the Content Security Policy, without those that Chromium writes for a failed request. */
  readonly #complaints: string[] = []

  private constructor(page: Page) {
    this.page = page
  }

  static async open(link: string): Promise<PasswordPage> {
    const opened = new PasswordPage(await browser.context.newPage())
    const { page } = opened
    page.on('console', (message) => {
      const text = message.text()
      if (message.type() === 'error' && !text.startsWith('Failed to load resource')) opened.#complaints.push(text)
    })
    page.on('pageerror', (error) => opened.#complaints.push(String(error)))
    page.on('request', (request) => opened.requests.push(request))
    await page.goto(link)
    return opened
  }

  get field() {
    return this.page.locator('#password')
  }

  async heading(name: string): Promise<void> {
    await this.page.getByRole('heading', { name, exact: true }).waitFor()
    assert.equal(await this.page.title(), name)
  }

  async send(password: string): Promise<void> {
    await this.field.fill(password)
    await this.page.getByRole('button', { name: 'Set the password' }).click()
  }

  /** Waits for the sentence beside the field. */
  async shows(fault: string | RegExp): Promise<void> {
    await this.page.getByRole('alert').filter({ hasText: fault }).waitFor()
  }

  /** Whatever is displayed now, in both themes, follows the rules of axe and fits a narrow screen. */
  async isAccessible(state: string): Promise<void> {
    const { page } = this
    await page.setViewportSize({ width: 320, height: 640 })
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      if (SCREENSHOTS !== undefined) await page.screenshot({ path: `${SCREENSHOTS}/${state}-${colorScheme}.png` })
      const { violations, passes } = await page.evaluate(() => axe.run())
      assert.ok(passes.length > 10, 'axe checked hardly anything')
      const found = violations.flatMap(({ id, nodes }) => nodes.map(({ failureSummary }) => `${id}: ${failureSummary}`))
      assert.deepEqual(found, [], `${state}, ${colorScheme}`)
    }
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 320, state)
    const small = await page.evaluate(() =>
      [...document.querySelectorAll('input, button')].filter((one) => {
        const { width, height } = one.getBoundingClientRect()
        return width > 0 && Math.min(width, height) < 24
      }),
    )
    assert.equal(small.length, 0)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.page.close()
    assert.deepEqual(this.#complaints, [])
  }
}

async function canSignIn({ username }: TestUser, password: string): Promise<boolean> {
  return (await service.post('/login', { username, password })).status === 200
}

for (const [purpose, title] of [
  ['reset', 'Choose a new password'],
  ['invite', 'Choose a password'],
] as const)
  test(`a user opens a link (${purpose}), chooses a password and signs in with it; the link works once (A19)`, async () => {
    const ann = await service.user()
    const proofs = await Promise.all(variants.map((variant) => service.signIn(ann, variant)))
    const link = await linkFor(ann, purpose)
    {
      await using opened = await PasswordPage.open(link)
      await opened.heading(title)
      assert.ok(await opened.field.evaluate((field) => field === document.activeElement))
      assert.equal(await opened.field.getAttribute('autocomplete'), 'new-password')
      await opened.isAccessible(purpose)
      await opened.send(newPassword)
      await opened.heading('Your password is set')
      assert.equal(await opened.field.inputValue(), '')
      await opened.isAccessible('done')
    }
    assert.ok(await canSignIn(ann, newPassword))
    assert.ok(!(await canSignIn(ann, ann.password)))
    for (const proof of proofs) assert.equal((await service.get('/api/me', proof)).status, 401)

    await using used = await PasswordPage.open(link)
    await used.send('seven quiet lanterns at sea')
    await used.heading('This link does not work any more')
    await used.page.getByText('To get a new link,').waitFor()
    await used.isAccessible(`${purpose}-used`)
    assert.ok(await canSignIn(ann, newPassword))
  })

test('a password that is refused has its reason beside the field, and the link stays usable', async () => {
  const ann = await service.user('wendy-harbour')
  await using opened = await PasswordPage.open(await linkFor(ann))
  for (const [password, reason] of [
    ['', 'Write at least 15 characters.'],
    ['short', 'Write at least 15 characters.'],
    ['violet otter '.repeat(30), 'Write at most 256 characters.'],
    ['password12345678', 'Choose another: this one is a common password.'],
    ['wendy-harbour-1', 'Choose another: this one is little more than the username or a word of this product.'],
  ] as const) {
    await opened.send(password)
    await opened.shows(reason)
    assert.equal(await opened.field.getAttribute('aria-invalid'), 'true')
    assert.deepEqual((await opened.field.getAttribute('aria-describedby'))?.split(' '), ['hint', 'fault'])
    assert.ok(await opened.field.evaluate((field) => field === document.activeElement))
  }
  await opened.send('é'.repeat(10_000))
  await opened.shows('This password is too long. Choose a shorter one.')
  await opened.send('short')
  await opened.shows('Write at least 15 characters.')
  await opened.isAccessible('refused')
  await opened.send(newPassword)
  await opened.heading('Your password is set')
  assert.ok(await canSignIn(ann, newPassword))
})

test('the token leaves the address bar at once, and no request has it but the body that sets the password (A19)', async () => {
  const ann = await service.user()
  const link = await linkFor(ann)
  const token = tokenOf(link)
  await using opened = await PasswordPage.open(link)
  const { page, requests } = opened
  await opened.heading('Choose a new password')
  assert.equal(page.url(), `${publicUrl}/reset`)
  assert.ok(!(await page.content()).includes(token))
  await opened.send(newPassword)
  await opened.heading('Your password is set')
  const sent = await Promise.all(
    requests.map(async (request) => ({
      call: `${request.method()} ${request.url()}`,
      carries: [request.url().split('#')[0], ...Object.values(await request.allHeaders())].join().includes(token),
      body: request.postData(),
    })),
  )
  assert.deepEqual(
    sent.map(({ call }) => call.replace(/#.*/, '')),
    [
      `GET ${publicUrl}/reset`,
      `GET ${publicUrl}/password/style.css`,
      `GET ${publicUrl}/password/script.js`,
      `POST ${publicUrl}/password/reset`,
    ],
  )
  assert.ok(sent.every(({ carries }) => !carries))
  assert.deepEqual(
    sent.map(({ body }) => body !== null && JSON.parse(body)),
    [false, false, false, { token, newPassword }],
  )
  assert.deepEqual(await page.evaluate(() => [localStorage.length, sessionStorage.length, document.cookie]), [0, 0, ''])
})

test('without a token, or with half of one, the page says what to do, and a link pasted into its address bar works', async () => {
  const link = await linkFor(await service.user())
  for (const broken of [`${publicUrl}/reset`, `${publicUrl}/invite#`, link.slice(0, -3)]) {
    await using opened = await PasswordPage.open(broken)
    await opened.heading('This page needs the whole link')
    assert.ok(await opened.page.getByRole('button').first().isHidden())
    if (broken.endsWith('/reset')) await opened.isAccessible('missing')
    if (!broken.includes('/reset')) continue
    await opened.page.evaluate((hash) => {
      location.hash = hash
    }, tokenOf(link))
    await opened.heading('Choose a new password')
    assert.equal(opened.page.url(), `${publicUrl}/reset`)
  }
})

test('the password is hidden until the user shows it, and is hidden again when it is sent', async () => {
  await using opened = await PasswordPage.open(await linkFor(await service.user()))
  const type = () => opened.field.getAttribute('type')
  assert.equal(await type(), 'password')
  await opened.field.fill('short')
  await opened.page.getByRole('button', { name: 'Show password' }).click()
  assert.equal(await type(), 'text')
  await opened.isAccessible('shown')
  await opened.page.getByRole('button', { name: 'Hide password' }).click()
  assert.equal(await type(), 'password')
  await opened.page.getByRole('button', { name: 'Show password' }).click()
  await opened.field.press('Enter')
  await opened.shows('Write at least 15 characters.')
  assert.equal(await type(), 'password')
})

test('too many wrong links get a time to try again; a busy service and a lost connection keep the link', async () => {
  const ann = await service.user()
  const link = await linkFor(ann)
  const wrong = () => service.post('/password/reset', { token: 'x'.repeat(43), newPassword })
  while ((await wrong()).status !== 429);
  {
    await using delayed = await PasswordPage.open(`${publicUrl}/reset#${'y'.repeat(43)}`)
    await delayed.send(newPassword)
    await delayed.shows(/^There were too many attempts\. Try again in \d+ (seconds?|minutes?)\.$/)
    await delayed.isAccessible('delayed')
  }
  await using opened = await PasswordPage.open(link)
  const { page } = opened
  const reset = `${publicUrl}/password/reset`
  await page.route(reset, (route) => route.fulfill({ status: 503, headers: { 'retry-after': '120' }, json: {} }))
  await opened.send(newPassword)
  await opened.shows('The service is busy. Try again in 2 minutes.')
  await page.unroute(reset)
  await page.route(reset, (route) => route.abort())
  await opened.send(newPassword)
  await opened.shows('There was no response. Check your connection, then try again.')
  await page.unroute(reset)
  await opened.send(newPassword)
  await opened.heading('Your password is set')
})

test('without JavaScript the page says that it needs it', async () => {
  const context = await browser.context.browser()?.newContext({ javaScriptEnabled: false })
  assert.ok(context)
  const page = await context.newPage()
  await page.goto(await linkFor(await service.user()))
  await page.locator('noscript p').waitFor()
  assert.equal(await page.locator('#form').isVisible(), false)
  await context.close()
})
