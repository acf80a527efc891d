// A user in a real Chromium signs in with a real OpenID provider on another site, in both variants, and comes back to a page of an
// allowed origin: the cookies as the browser keeps and sends them, and the code in the fragment.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { Chromium } from '../../support/chromium.ts'
import { startWithProvider } from '../../support/http/provider-browser.ts'

/** The page of an application: another origin of the same site. */
const application = createServer((_, response) => {
  response.setHeader('content-type', 'text/html').end('<!doctype html><title>Application</title>')
})
await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve))
const origin = `http://127.0.0.1:${(application.address() as AddressInfo).port}`
const { app, stop } = await startWithProvider(
  { createUsers: true },
  { host: 'localhost', env: { CARILLON_ALLOWED_ORIGINS: origin } },
)
after(async () => {
  application.close()
  await stop()
})

/** Signs in on the pages of the provider, and agrees to what it asks. */
async function signInAt(browser: Chromium, query: string) {
  const page = await browser.page(`${app.url}/login/with/staff?return_to=${origin}/page${query}`)
  assert.match(page.url(), /^http:\/\/localhost:/)
  await page.fill('input[name=login]', 'ann')
  await page.fill('input[name=password]', 'any')
  await page.click('button[type=submit]')
  await page.click('button[type=submit]')
  await page.waitForURL(`${origin}/page**`)
  return page
}

test('a sign-in ends on the page that began it, with a session that the browser sends', async () => {
  await using browser = await Chromium.start()
  const page = await signInAt(browser, '')
  assert.equal(page.url(), `${origin}/page`)
  const cookies = await browser.context.cookies(app.url)
  const session = cookies.find(({ name }) => name === 'carillon')
  assert.deepEqual([session?.httpOnly, session?.sameSite], [true, 'Lax'])
  assert.ok(!cookies.some(({ name }) => name.includes('-with-')))
  const sessionRoute = `${app.url}/api/session`
  const me = await page.evaluate(async (url) => (await fetch(url, { credentials: 'include' })).json(), sessionRoute)
  assert.equal(me.data.proof, 'session')
})

test('the page of a stateless sign-in exchanges the code of its fragment for the token', async () => {
  await using browser = await Chromium.start()
  const page = await signInAt(browser, '&variant=stateless')
  const [login, again, me] = await page.evaluate(async (service) => {
    const code = new URLSearchParams(location.hash.slice(1)).get('sign-in-code')
    history.replaceState(null, '', location.pathname)
    const exchange = () =>
      fetch(`${service}/login/with/staff`, {
        method: 'POST',
        credentials: 'include',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ code }),
      })
    const first = await (await exchange()).json()
    const second = await exchange()
    const own = await fetch(`${service}/api/me`, { headers: { authorization: `Bearer ${first.token}` } })
    return [first, second.status, own.status] as const
  }, app.url)
  assert.deepEqual([login.variant, again, me], ['stateless', 401, 200])
  assert.equal(page.url(), `${origin}/page`)
})
