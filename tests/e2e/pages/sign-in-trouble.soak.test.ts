// The sign-in page in a real Chromium when something is wrong: blocked cookies, a service that does not respond, a form of another site;
// the page for a forgotten password; and the page in other languages, below a path and with a prefix.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, test } from 'node:test'
import { updateUser } from '../../../server/users/users.store.ts'
import { listening } from '../../support/network/free-port.ts'
import { MailServer } from '../../support/network/mail-server.ts'
import { BrowserPages } from '../../support/pages/browser-page.ts'
import { startProxy } from '../../support/proxies/proxy.ts'
import { startBehindPath } from '../../support/proxies/stripping-proxy.ts'

const mailServer = await MailServer.start()
const behind = await startBehindPath('/bell', {
  CARILLON_SMTP_URL: mailServer.url,
  CARILLON_PAGES_PREFIX: '/hello',
})
const pages = await BrowserPages.start({ service: behind.service, url: behind.url })
const plain = await BrowserPages.start()
after(async () => {
  await pages[Symbol.asyncDispose]()
  await plain[Symbol.asyncDispose]()
  await behind.stop()
  await mailServer.stop()
})
const { service } = behind

test('a user who signs out a moment after signing in is not told that the browser kept no cookie', async () => {
  const ann = await plain.service.user()
  for (const place of ['/account', '/', '/forgot', '/reset']) {
    await using opened = await plain.open('/sign-in')
    const { page } = opened
    await opened.sendSignIn(ann)
    await page.waitForURL(`${plain.url}/inbox`)
    await page.goto(plain.url + place)
    await page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await page.waitForURL(`${plain.url}/sign-in`)
    await opened.heading('Sign in')
    assert.equal(await page.locator('#fault').textContent(), '', place)
  }
})

test('the page speaks German and French, in every state', async () => {
  const ann = await service.user()
  for (const [language, title, username, password, wrong, forgot] of [
    ['de-AT', 'Anmelden', 'Benutzername', 'Passwort', 'stimmt nicht', 'Passwort vergessen?'],
    [
      'fr',
      'Connexion',
      'Nom d’utilisateur',
      'Mot de passe',
      'est incorrect',
      'Mot de passe oublié ?',
    ],
  ] as const) {
    await using opened = await pages.open('/hello/sign-in', { language })
    const { page } = opened
    await opened.heading(title)
    opened.expects(/^401 POST/)
    await page.getByLabel(username).fill(ann.username)
    await page.getByLabel(password, { exact: true }).fill('violet')
    await page.keyboard.press('Enter')
    await opened.alerts(wrong)
    await opened.isAccessible(`sign-in-${language}`)
    await page.getByRole('link', { name: forgot }).click()
    await opened.heading(forgot)
    await opened.isAccessible(`forgot-${language}`)
  }
})

for (const way of [{}, { hasScript: false } as const])
  test(`a user requests a link and the page says the same for everyone (${JSON.stringify(way)})`, async () => {
    const ann = await service.user()
    await service.store.write(updateUser, { userId: ann.id, email: `${ann.username}@example.org` })
    for (const [account, hasMail] of [
      [`${ann.username}@example.org`, true],
      ['nobody@example.org', false],
    ] as const) {
      const before = mailServer.mails.length
      await using opened = await pages.open('/hello/sign-in', way)
      const { page } = opened
      await page.getByRole('link', { name: 'Forgot your password?' }).click()
      await page.getByLabel('Username or e-mail address').fill(account)
      await page.getByRole('button', { name: 'Send the link' }).click()
      await opened.heading('Check your e-mail')
      if (way.hasScript !== false && hasMail) await opened.isAccessible('forgot-sent')
      await page.reload()
      await opened.heading('Check your e-mail')
      if (hasMail)
        assert.deepEqual((await mailServer.received(before + 1))[before]?.to, [
          `${ann.username}@example.org`,
        ])
      await page.getByRole('link', { name: 'Back to sign-in' }).click()
      await opened.heading('Sign in')
    }
  })

test('an empty form is refused beside its field, and without mail the page says whom to ask', async () => {
  await using opened = await pages.open('/hello/forgot')
  opened.expects(/^400 POST \/bell\/hello\/forgot$/)
  await opened.page.getByLabel('Username or e-mail address').fill('   ')
  await opened.page.getByRole('button', { name: 'Send the link' }).click()
  await opened.alerts('Enter your username or e-mail address.')
  await opened.isAccessible('forgot-empty')
  await using without = await plain.open('/sign-in')
  assert.equal(await without.page.getByText('Forgot your password?').count(), 0)
  await without.page.goto(`${plain.url}/forgot`)
  await without.page.getByText('This service sends no e-mail.').waitFor()
  await without.isAccessible('forgot-no-mail')
})

test('a service that does not respond, or a proxy in its place, leaves everything in the form, and the next attempt works', async () => {
  const ann = await plain.service.user()
  await using opened = await plain.open('/sign-in')
  const { page } = opened
  opened.expects(/^net::ERR_CONNECTION_REFUSED HEAD/, /^502 HEAD/)
  const noResponse = 'There was no response. What you typed is still here.'
  await page.route('**/sign-in', (route) => route.abort('connectionrefused'))
  await opened.sendSignIn(ann)
  await opened.alerts(noResponse)
  assert.equal(await page.getByLabel('Password', { exact: true }).inputValue(), ann.password)
  await opened.isAccessible('sign-in-no-response')
  await page.unroute('**/sign-in')
  await page.route('**/sign-in', (route) => route.fulfill({ status: 502 }))
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await opened.alerts(noResponse)
  await page.unroute('**/sign-in')
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.waitForURL(`${plain.url}/inbox`)
})

test('a browser that blocks cookies, or loses the one of the sign-in, gets a sentence that says so', async () => {
  await using blocking = await plain.open('/forgot')
  await blocking.context.addInitScript(() =>
    Object.defineProperty(navigator, 'cookieEnabled', { value: false }),
  )
  await blocking.page.goto(`${plain.url}/sign-in`)
  await blocking.alerts('Your browser blocks cookies for this site')
  await blocking.isAccessible('cookies-blocked')

  const ann = await plain.service.user()
  const losing = await startProxy(plain.service.url, {
    onTheWayBack: ({ headers }) => delete headers['set-cookie'],
  })
  await using opened = await plain.open('/forgot')
  await opened.page.goto(`${losing.url}/sign-in`)
  await opened.sendSignIn(ann)
  await opened.alerts('You signed in a moment ago, but your browser did not keep the cookie.')
  assert.equal(opened.path, '/sign-in?return_to=%2Finbox')
  await opened.page.reload()
  await opened.heading('Sign in')
  assert.equal(await opened.page.getByRole('alert').textContent(), '')
  await losing.stop()
})

test('a form of another site gets a page that says what to do, and signs nobody in (C1)', async () => {
  const ann = await plain.service.user()
  const body = `<!doctype html><link rel="icon" href="data:,"><title>Other</title><form method="post" action="${plain.url}/sign-in">
<input name="username" value="${ann.username}"><input name="password" value="${ann.password}"><button>Win</button></form>`
  const other = createServer(
    (_, response) => void response.setHeader('content-type', 'text/html').end(body),
  )
  const port = await listening(other)
  await using opened = await plain.open('/forgot')
  opened.expects(/^403 POST \/sign-in$/)
  await opened.page.goto(`http://localhost:${port}/`)
  await opened.page.getByRole('button', { name: 'Win' }).click()
  await opened.alerts('The form was sent from another site, so it was refused.')
  assert.deepEqual(await opened.context.cookies(plain.url), [])
  await opened.isAccessible('sign-in-cross-site')
  await opened.sendSignIn(ann)
  await opened.page.waitForURL(`${plain.url}/inbox`)
  other.close()
})
