// A user in a real Chromium signs in with a real OpenID provider on another site and comes back to
// an allowed origin. An attacker with an open redirect at that origin has no use of the code.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { Chromium } from '../../support/chromium.ts'
import { startWithProvider } from '../../support/http/provider-browser.ts'
import { listening } from '../../support/network/free-port.ts'

/** One of the pages redirects wherever its link says. */
const application = createServer((request, response) => {
  const to = new URL(request.url ?? '/', 'http://localhost').searchParams.get('to')
  if (to !== null) response.writeHead(302, { location: to }).end()
  else
    response
      .setHeader('content-type', 'text/html')
      .end('<!doctype html><title>Application</title><body>')
})
const port = await listening(application)
/** Another origin of the same site as the service, and one of another site. */
const origin = `http://127.0.0.1:${port}`
const elsewhere = `http://shop.localhost:${port}`
const evil = `http://evil.localhost:${port}`
const { app, stop } = await startWithProvider(
  { createUsers: true },
  { host: 'localhost', env: { CARILLON_ALLOWED_ORIGINS: `${origin},${elsewhere}` } },
)
after(async () => {
  application.close()
  await stop()
})

async function signInThere(page: Page) {
  await page.waitForURL(/^http:\/\/localhost:/)
  await page.fill('input[name=login]', 'ann')
  await page.fill('input[name=password]', 'any')
  await page.click('button[type=submit]')
  await page.click('button[type=submit]')
}

/** Calls the client in the page. A text, because the address of the script is known only here. */
const call = (page: Page, method: string, options: object = {}): Promise<unknown> =>
  page.evaluate(
    `import('${app.url}/carillon-client.js').then((client) => client.${method}${JSON.stringify({ baseUrl: app.url, ...options })}))`,
  )

async function beginOn(page: Page, returnTo: string) {
  // The page may be gone before the call has returned.
  await call(page, "signInWith('staff', ", { returnTo }).catch(() => {})
  await signInThere(page)
}

test('a sign-in ends on the page that began it, with a session that the browser sends', async () => {
  await using browser = await Chromium.start()
  const page = await browser.page(`${app.url}/login/with/staff?return_to=${origin}/page`)
  await signInThere(page)
  await page.waitForURL(`${origin}/page`)
  const cookies = await browser.context.cookies(app.url)
  const session = cookies.find(({ name }) => name === 'carillon')
  assert.deepEqual([session?.httpOnly, session?.sameSite], [true, 'Lax'])
  assert.ok(!cookies.some(({ name }) => name.includes('-with-')))
  const sessionRoute = `${app.url}/api/session`
  const me = await page.evaluate(
    async (url) => (await fetch(url, { credentials: 'include' })).json(),
    sessionRoute,
  )
  assert.equal(me.data.proof, 'session')
})

for (const [what, place] of [
  ['the same site', origin],
  ['another site', elsewhere],
] as const)
  test(`a page of ${what} gets a token by the client, once, and the address keeps no code`, async () => {
    await using browser = await Chromium.start()
    const page = await browser.page(`${place}/page?a=b`)
    await beginOn(page, '/page?a=b')
    await page.waitForURL(`${place}/page?a=b#sign-in-code=*`)
    const login = (await call(page, 'finishSignIn(')) as { variant: string; token: string }
    const again = await call(page, 'finishSignIn(')
    const me = (await app.get('/api/me', { authorization: `Bearer ${login.token}` })).status
    assert.deepEqual([login.variant, again, me], ['stateless', null, 200])
    assert.equal(page.url(), `${place}/page?a=b`)
  })

test('an open redirect at an allowed origin gives an attacker no token (P6)', async () => {
  await using browser = await Chromium.start()
  const verifier = randomBytes(32).toString('base64url')
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const open = `${elsewhere}/go?to=${encodeURIComponent(`${evil}/catch`)}`

  // A link, and a form on the attacker's own page.
  const query = new URLSearchParams({ variant: 'stateless', challenge, return_to: open })
  const link = await browser.context.newPage()
  assert.equal((await link.goto(`${app.url}/login/with/staff?${query}`))?.status(), 400)
  await link.goto(`${evil}/form`)
  const sent = link.waitForResponse(/\/login\/with\/staff\/start$/)
  await link.evaluate(
    ([action, fields]) => {
      const form = Object.assign(document.createElement('form'), { method: 'post', action })
      for (const [name, value] of Object.entries(fields))
        form.append(Object.assign(document.createElement('input'), { name, value }))
      document.body.append(form)
      form.submit()
    },
    [`${app.url}/login/with/staff/start`, { challenge, return_to: open }] as const,
  )
  assert.equal((await sent).status(), 403)

  // A careless page that begins the sign-in with its own open redirect.
  const page = await browser.page(`${elsewhere}/page`)
  await beginOn(page, open)
  await page.waitForURL(`${evil}/catch#sign-in-code=*`)
  const code = new URL(page.url()).hash.slice('#sign-in-code='.length)
  const exchange = `${app.url}/login/with/staff`
  const inPage = await page.evaluate(
    async ([url, bodies]) => {
      const send = (body: object, credentials: RequestCredentials) =>
        fetch(url, {
          method: 'POST',
          credentials,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }).then(
          ({ ok }) => ok,
          () => false,
        )
      return Promise.all(bodies.flatMap((body) => [send(body, 'include'), send(body, 'omit')]))
    },
    [exchange, [{ code }, { code, verifier }]] as const,
  )
  assert.deepEqual(inPage, [false, false, false, false])
  for (const body of [{ code }, { code, verifier }])
    for (const headers of [{}, { origin: elsewhere }])
      assert.equal((await app.post('/login/with/staff', body, headers)).status, 401)
})
