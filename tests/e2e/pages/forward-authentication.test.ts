// An application without a sign-in of its own, behind a proxy that asks `GET /verify`, in a real Chromium: the way to the sign-in page
// and back, and the name that reaches the application.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, test } from 'node:test'
import { updateUser } from '../../../server/users/users.store.ts'
import { freePort, listening } from '../../support/network/free-port.ts'
import { BrowserPages } from '../../support/pages/browser-page.ts'
import { startForwardAuthProxy } from '../../support/proxies/forward-auth-proxy.ts'
import { startTestService } from '../../support/service.ts'

/** Displays what it receives in its own words. */
const application = createServer(({ headers, url }, response) => {
  const utf8 = (name: string) =>
    Buffer.from(String(headers[name] ?? 'nobody'), 'latin1').toString('utf8')
  const texts = [url, ...['remote-user', 'remote-name', 'remote-user-id'].map(utf8)]
  const icon = '<link rel="icon" href="data:,">'
  response.setHeader('content-type', 'text/html; charset=utf-8')
  response.end(
    `<!doctype html><html lang="en"><title>Wiki</title>${icon}<h1>Wiki</h1><p>${texts.join(' · ')}</p>`,
  )
})
const applicationUrl = `http://127.0.0.1:${await listening(application)}`
after(() => application.close())

test('a user signs in on the way to an application and arrives there with the own name, never a claimed one', async () => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const env = { CARILLON_PUBLIC_URL: url, CARILLON_TRUSTED_PROXIES: '127.0.0.1' }
  const service = await startTestService({ env })
  const place = { carillon: service.url, application: applicationUrl, port }
  const proxy = await startForwardAuthProxy(place)
  after(() => proxy.stop())
  await using pages = await BrowserPages.start({ service, url })
  const user = await service.user('zoë')
  await service.store.write(updateUser, { userId: user.id, displayName: 'Zoë Ødegård' })
  await using opened = await pages.open('/wiki/start?page=2&of=%2F', {
    headers: { 'remote-user': 'root' },
  })
  const { page } = opened
  await opened.heading('Sign in')
  await opened.sendSignIn(user)
  await opened.heading('Wiki')
  assert.equal(opened.path, '/wiki/start?page=2&of=%2F')
  const seen = await page.locator('p').textContent()
  assert.equal(seen, `/wiki/start?page=2&of=%2F · zoë · Zoë Ødegård · ${user.id}`)

  // Otherwise what the page still loads gets 401 after the sign-out.
  await page.goto(`${url}/account`, { waitUntil: 'networkidle' })
  await page.getByRole('button', { name: 'Sign out', exact: true }).first().click()
  await opened.heading('Sign in')
  await page.goto(`${url}/wiki/again`)
  await opened.heading('Sign in')
  assert.equal(opened.path, `/sign-in?return_to=${encodeURIComponent(`${url}/wiki/again`)}`)
})
