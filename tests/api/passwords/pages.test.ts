// The pages of one-time links, as HTTP sends them: what they may load, what caches keep, and where their files are.
// tests/e2e/browser/password-pages.test.ts uses them in a browser.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { refusalIn } from '../../support/http/envelope.ts'
import { startBehindPath } from '../../support/network/stripping-proxy.ts'
import { startTestService } from '../../support/service.ts'

const app = await startTestService({ env: { CARILLON_PASSWORD_MIN: '17' } })
after(() => app.stop())
const files = ['/password/script.js', '/password/style.css']

test('the pages of links load only their own script and style sheet, send no referrer, and no cache keeps them (A19)', async () => {
  for (const path of ['/reset', '/invite', '/reset?from=mail']) {
    const { status, headers, text } = await app.get(path)
    assert.deepEqual([status, headers.get('content-type')], [200, 'text/html; charset=utf-8'])
    assert.equal(
      headers.get('content-security-policy'),
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
        "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    )
    assert.equal(headers.get('referrer-policy'), 'no-referrer')
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.doesNotMatch(text, /{{|}}|\bon\w+=|style=|<script(?! type="module" src="password\/script\.js">)/)
    assert.match(text, /^<!doctype html>\n<html lang="en">/)
    assert.match(text, /<noscript><p>This page needs JavaScript/)
    assert.match(text, /At least 17 characters/)
  }
})

test('the page of a reset link asks for a new password, and that of an invitation for a password', async () => {
  const titleOf = async (path: string) => /<title>(.*)<\/title>/.exec((await app.get(path)).text)?.[1]
  assert.equal(await titleOf('/reset'), 'Choose a new password')
  assert.equal(await titleOf('/invite'), 'Choose a password')
})

test('a browser keeps the script and the style sheet of these pages, and checks by their ETag that they are current', async () => {
  const types = ['text/javascript; charset=utf-8', 'text/css; charset=utf-8']
  for (const [n, path] of files.entries()) {
    const { status, headers } = await app.get(path)
    assert.deepEqual([status, headers.get('content-type')], [200, types[n]])
    assert.equal(headers.get('cache-control'), 'no-cache')
    const etag = headers.get('etag') ?? ''
    const unchanged = await app.get(path, { 'if-none-match': `W/${etag}` })
    assert.deepEqual([unchanged.status, unchanged.text, unchanged.headers.get('etag')], [304, '', etag])
    assert.equal((await app.get(path, { 'if-none-match': '"other"' })).status, 200)
    const headed = await app.exchange(path, { method: 'HEAD' })
    assert.deepEqual([headed.status, headed.text], [200, ''])
  }
  const etags = await Promise.all(files.map(async (path) => (await app.get(path)).headers.get('etag')))
  assert.equal(new Set(etags).size, 2)
})

test('below a public URL with a path a link leads to the page, and the files of the page are below it', async (t) => {
  const { service, url, stop } = await startBehindPath()
  t.after(stop)
  const { id } = await service.user()
  const { key } = await service.producerKey(['users'])
  const headers = { authorization: `Bearer ${key}` }
  for (const purpose of ['reset', 'invite']) {
    const link = (await service.post(`/api/users/${id}/links`, { purpose }, headers)).json().data.url
    const page = await fetch(link)
    assert.equal(page.status, 200)
    const loaded = [...(await page.text()).matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => {
      return new URL(path, page.url).href
    })
    assert.deepEqual(loaded.toSorted(), [`${url}/password/script.js`, `${url}/password/style.css`])
    for (const file of loaded) assert.equal((await fetch(file)).status, 200)
  }
})

test('no other file of these pages can be requested, and no other method (C11)', async () => {
  for (const path of [
    '/password/password.html',
    '/password/script.js/',
    '/password',
    '/reset/',
    '/password/..%2fserve.ts',
  ])
    assert.ok([400, 404].includes(refusalIn(await app.exchange(path)).status), path)
  assert.equal((await app.post('/reset', {})).status, 405)
})
