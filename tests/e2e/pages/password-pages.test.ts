// The pages of one-time links in a real Chromium, with links as the service makes them: every state, in light and dark.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { type BrowserPage, BrowserPages, becomes } from '../../support/pages/browser-page.ts'
import { startBehindPath } from '../../support/proxies/stripping-proxy.ts'
import { type TestUser, variants } from '../../support/service.ts'
import { carefulUser } from '../../support/sign-in/authenticator.ts'
import { soakTest } from '../../support/soak.ts'

const { service, url: publicUrl, stop } = await startBehindPath()
const pages = await BrowserPages.start({ service, url: publicUrl })
after(async () => {
  await pages.browser[Symbol.asyncDispose]()
  await stop()
})
const { key } = await service.producerKey(['users'])
const newPassword = 'grey heron over the weir'
type Purpose = 'reset' | 'invite'

const headers = { authorization: `Bearer ${key}` }

async function linkFor(
  { id }: Pick<TestUser, 'id'>,
  purpose: Purpose = 'reset',
  more: object = {},
): Promise<string> {
  const response = await service.post(`/api/users/${id}/links`, { purpose, ...more }, headers)
  assert.equal(response.status, 201, response.text)
  return response.json().data.url
}

/** An invitation is for a user without a password. */
async function invited(profile: object = {}): Promise<{ id: string }> {
  const username = `invited-${randomUUID()}`
  return (await service.post('/api/users', { username, ...profile }, headers)).json().data
}

const tokenOf = (link: string) => link.split('#')[1] ?? ''

const fieldOf = ({ page }: BrowserPage) => page.locator('#password')

async function send(opened: BrowserPage, password: string): Promise<void> {
  await fieldOf(opened).fill(password)
  await opened.page.getByRole('button', { name: 'Set the password' }).click()
}

async function isTitled(opened: BrowserPage, title: string): Promise<void> {
  await opened.heading(title)
  assert.equal(await opened.page.title(), `${title} · Carillon`)
}

async function canSignIn({ username }: TestUser, password: string): Promise<boolean> {
  return (await service.post('/login', { username, password })).status === 200
}

const devicesEnded = /device.* signed out/

// Both kinds of link have the same page, with other words.
test('a user opens a link, chooses a password and is signed in; the link works once (A19)', async () => {
  const ann = await service.user()
  const proofs = await Promise.all(variants.map((variant) => service.signIn(ann, variant)))
  const link = await linkFor(ann)
  {
    await using opened = await pages.open(link, { width: 390 })
    const main = opened.page.getByRole('main')
    await isTitled(opened, 'Choose a new password')
    await opened.hasFocus('New password')
    assert.equal(await fieldOf(opened).getAttribute('autocomplete'), 'new-password')
    await main.getByText(`Your username: ${ann.username}`).waitFor()
    assert.equal(await opened.page.locator('[autocomplete=username]').inputValue(), ann.username)
    await opened.isAccessible('reset')
    await send(opened, newPassword)
    await isTitled(opened, 'Your password is set')
    await main.getByText('You are signed in.').waitFor()
    assert.equal(await opened.page.getByRole('link', { name: 'Sign in' }).count(), 0)
    assert.equal(await main.getByText(devicesEnded).filter({ visible: true }).count(), 1)
    assert.equal(await fieldOf(opened).inputValue(), '')
    await opened.isAccessible('reset-done')
    await main.getByRole('link', { name: 'Account' }).click()
    await opened.page.waitForURL(`${publicUrl}/account`)
    await opened.page.locator('.who').getByText(ann.username).waitFor()
  }
  assert.ok(await canSignIn(ann, newPassword))
  assert.ok(!(await canSignIn(ann, ann.password)))
  for (const proof of proofs) assert.equal((await service.get('/api/me', proof)).status, 401)

  await using used = await pages.open(link)
  used.expects(/^422 POST/)
  await isTitled(used, 'This link is no longer valid')
  await used.page.getByText('To get a new link,').waitFor()
  await used.isAccessible('reset-used')
  await used.page.getByRole('main').getByRole('link', { name: 'Sign in' }).waitFor()
})

test('a user with a second factor sets the password, and is led to the sign-in page, which leads on to `returnTo` (A20)', async () => {
  const ann = await carefulUser(service)
  const returnTo = `${new URL(publicUrl).pathname}/inbox`
  await using opened = await pages.open(await linkFor(ann, 'reset', { returnTo }))
  opened.expects(/^401 POST/)
  await send(opened, newPassword)
  await isTitled(opened, 'Your password is set')
  const main = opened.page.getByRole('main')
  assert.equal(await main.getByText(devicesEnded).filter({ visible: true }).count(), 1)
  await main.getByRole('link', { name: 'Sign in' }).click()
  await opened.page.waitForURL(`${publicUrl}/sign-in?return_to=${encodeURIComponent(returnTo)}`)
  assert.equal((await opened.context.request.get(`${publicUrl}/api/me`)).status(), 401)
})

test('an invited user sees where the link was sent to, masked, and goes on to `returnTo`, whose address has no token', async () => {
  const email = 'ann.lee@example.org'
  const ann = await invited({ email })
  const returnTo = `${new URL(publicUrl).pathname}/inbox`
  const link = await linkFor(ann, 'invite', { returnTo, mailedTo: email })
  await using opened = await pages.open(link)
  await isTitled(opened, 'Choose a password')
  await opened.page.getByRole('main').getByText('Welcome to Carillon.').waitFor()
  await opened.page.getByText('This link was sent to: a***@example.org').waitFor()
  await opened.isAccessible('invite-mailed')
  await send(opened, newPassword)
  await opened.page.waitForURL(`${publicUrl}/inbox`)
  assert.ok(opened.requests.every((request) => !request.url().includes(tokenOf(link))))
  assert.equal((await opened.context.request.get(`${publicUrl}/api/me`)).status(), 200)
})

test('a link that ends while its page is open is refused when the password is sent', async () => {
  const ann = await service.user()
  const link = await linkFor(ann)
  await using opened = await pages.open(link)
  opened.expects(/^422 POST/)
  await isTitled(opened, 'Choose a new password')
  assert.equal(
    (await service.post('/password/reset', { token: tokenOf(link), newPassword })).status,
    204,
  )
  await send(opened, 'seven quiet lanterns at sea')
  await isTitled(opened, 'This link is no longer valid')
  assert.ok(await canSignIn(ann, newPassword))
})

test('a password that is refused has its reason beside the field, and the link stays usable', async () => {
  const ann = await service.user('wendy-harbour')
  await using opened = await pages.open(await linkFor(ann))
  opened.expects(/^400 POST/, /^413 POST/)
  for (const [password, reason] of [
    ['short', 'Enter at least 15 characters.'],
    ['violet otter '.repeat(30), 'Enter at most 256 characters.'],
    [
      'password12345678',
      'Choose another one: many people use this password, so it is easy to guess.',
    ],
    [
      'grey heron\u0007 over the weir',
      'Enter it without line breaks or other invisible characters.',
    ],
    [
      'wendy-harbour-1',
      'Choose another one: this is little more than your username or the name of this service.',
    ],
  ] as const) {
    await send(opened, password)
    await opened.alerts(reason)
    assert.equal(await fieldOf(opened).getAttribute('aria-invalid'), 'true')
    assert.deepEqual((await fieldOf(opened).getAttribute('aria-describedby'))?.split(' '), [
      'hint',
      'fault',
    ])
    await opened.hasFocus(/^(New p|P)assword$/)
  }
  await send(opened, 'é'.repeat(10_000))
  await opened.alerts('Enter at most 256 characters.')
  await send(opened, 'short')
  await opened.alerts('Enter at least 15 characters.')
  await opened.isAccessible('refused')
  await send(opened, newPassword)
  await isTitled(opened, 'Your password is set')
  assert.ok(await canSignIn(ann, newPassword))
})

test('the token leaves the address bar at once, and no request has it but in its body (A19)', async () => {
  const ann = await service.user()
  const link = await linkFor(ann)
  const token = tokenOf(link)
  await using opened = await pages.open(link)
  const { page, requests } = opened
  await isTitled(opened, 'Choose a new password')
  await becomes(async () => page.url(), `${publicUrl}/reset`)
  assert.ok(!(await page.content()).includes(token))
  await send(opened, newPassword)
  await isTitled(opened, 'Your password is set')
  const sent = await Promise.all(
    requests.map(async (request) => ({
      call: `${request.method()} ${request.url()}`,
      carries: [request.url().split('#')[0], ...Object.values(await request.allHeaders())]
        .join()
        .includes(token),
      body: request.postData(),
    })),
  )
  const isFile = ({ call }: { call: string }) =>
    call.startsWith(`GET ${publicUrl}/carillon-scripts/`)
  assert.deepEqual(
    sent.filter((one) => !isFile(one)).map(({ call }) => call.replace(/#.*/, '')),
    [
      `GET ${publicUrl}/reset`,
      `POST ${publicUrl}/password/link`,
      `POST ${publicUrl}/password/reset`,
    ],
  )
  assert.ok(sent.every(({ carries }) => !carries))
  // Fails in Firefox, whose WebDriver BiDi reports no bodies.
  assert.deepEqual(
    sent.flatMap(({ body }) => (body === null ? [] : [JSON.parse(body)])),
    [{ token }, { token, newPassword, variant: 'stateful' }],
  )
  assert.deepEqual(
    await page.evaluate(() => [localStorage.length, sessionStorage.length, document.cookie]),
    [0, 0, ''],
  )
})

soakTest(
  'without a token, or with half of one, the page says what to do, and a link pasted into its address bar works',
  async () => {
    const link = await linkFor(await service.user())
    for (const broken of [`${publicUrl}/reset`, `${publicUrl}/invite#`, link.slice(0, -3)]) {
      await using opened = await pages.open(broken)
      await isTitled(opened, 'The link is incomplete')
      assert.equal(await opened.page.getByRole('main').getByRole('button').count(), 0)
      if (broken.endsWith('/reset')) await opened.isAccessible('missing')
      if (!broken.includes('/reset')) continue
      await opened.page.evaluate((hash) => {
        location.hash = hash
      }, tokenOf(link))
      await isTitled(opened, 'Choose a new password')
      await becomes(async () => opened.page.url(), `${publicUrl}/reset`)
    }
  },
)

soakTest(
  'the password is hidden until the user shows it, and is hidden again when it is sent',
  async () => {
    await using opened = await pages.open(await linkFor(await service.user()))
    opened.expects(/^400 POST/)
    const type = () => fieldOf(opened).getAttribute('type')
    assert.equal(await type(), 'password')
    await fieldOf(opened).fill('short')
    await opened.page.getByRole('button', { name: 'Show password' }).click()
    assert.equal(await type(), 'text')
    await opened.isAccessible('shown')
    await opened.page.getByRole('button', { name: 'Hide password' }).click()
    assert.equal(await type(), 'password')
    await opened.page.getByRole('button', { name: 'Show password' }).click()
    await fieldOf(opened).press('Enter')
    await opened.alerts('Enter at least 15 characters.')
    assert.equal(await type(), 'password')
  },
)

soakTest(
  'too many wrong links get a time to try again; a busy service and a lost connection keep the link',
  async () => {
    const ann = await service.user()
    const link = await linkFor(ann)
    const wrong = () => service.post('/password/reset', { token: 'x'.repeat(43), newPassword })
    let status = 0
    while (status !== 429) status = (await wrong()).status
    {
      await using delayed = await pages.open(`${publicUrl}/reset#${'y'.repeat(43)}`)
      delayed.expects(/^429 POST/)
      await send(delayed, newPassword)
      await delayed.alerts(
        /^There were too many attempts\. Try again in \d+ (seconds?|minutes?)\.$/,
      )
      await delayed.isAccessible('delayed')
    }
    await using opened = await pages.open(link)
    const { page } = opened
    const reset = `${publicUrl}/password/reset`
    opened.expects(/^503 POST/, /ERR_FAILED/)
    const busy = {
      success: false,
      error: { code: 'UNAVAILABLE', status: 503, message: 'The service is busy', requestId: '1' },
    }
    await page.route(reset, (route) =>
      route.fulfill({ status: 503, headers: { 'retry-after': '120' }, json: busy }),
    )
    await send(opened, newPassword)
    await opened.alerts('The service is busy. Try again in 2 minutes.')
    await page.unroute(reset)
    await page.route(reset, (route) => route.abort())
    await send(opened, newPassword)
    await opened.alerts('There was no response. Check your connection, then try again.')
    await page.unroute(reset)
    await send(opened, newPassword)
    await isTitled(opened, 'Your password is set')
  },
)

// Fails in Firefox: with scripts turned off by WebDriver BiDi, it parses and displays no `noscript`.
test('without JavaScript the page says that it needs it', async () => {
  await using opened = await pages.open(await linkFor(await service.user()), { hasScript: false })
  await opened.page.locator('noscript p').waitFor()
  assert.equal(await opened.page.locator('#form').isVisible(), false)
})

soakTest('the pages of links are in the language of the browser, with their faults', async () => {
  const link = await linkFor(await invited(), 'invite')
  await using opened = await pages.open(link, { language: 'fr' })
  opened.expects(/^400 POST/)
  await isTitled(opened, 'Choisir un mot de passe')
  const submit = opened.page.getByRole('button', { name: 'Enregistrer le mot de passe' })
  await fieldOf(opened).fill('short')
  await submit.click()
  await opened.alerts('Saisissez au moins 15 caractères.')
  await opened.isAccessible('invite-fr')
  await fieldOf(opened).fill(newPassword)
  await submit.click()
  await isTitled(opened, 'Bienvenue sur Carillon')
})
