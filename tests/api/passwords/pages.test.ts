// tests/e2e/pages/password-pages.test.ts uses these pages in a browser.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startBehindPath } from '../../support/proxies/stripping-proxy.ts'
import { startTestService } from '../../support/service.ts'

const app = await startTestService({ env: { CARILLON_PASSWORD_MIN: '17' } })
after(() => app.stop())

test('the pages of links load only files of the service, send no referrer, and no cache keeps them (A19)', async () => {
  for (const path of ['/reset', '/invite', '/reset?from=mail']) {
    const { status, headers, text } = await app.get(path)
    assert.deepEqual([status, headers.get('content-type')], [200, 'text/html; charset=utf-8'])
    assert.equal(
      headers.get('content-security-policy'),
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    )
    assert.equal(headers.get('referrer-policy'), 'no-referrer')
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.doesNotMatch(
      text,
      /\bon\w+=|style=|<script(?! type="module"[^>]* src="carillon-scripts\/)/,
    )
    assert.match(text, /^<!doctype html>\n<html lang="en">/)
    assert.match(text, /<noscript><p class="fault">This page needs JavaScript/)
    assert.match(text, /At least 17 characters/)
  }
})

test('the page of a reset link asks for a new password, and that of an invitation for a password', async () => {
  const titleOf = async (path: string) =>
    /<title>(.*)<\/title>/.exec((await app.get(path)).text)?.[1]
  assert.equal(await titleOf('/reset'), 'Choose a new password · Carillon')
  assert.equal(await titleOf('/invite'), 'Choose a password · Carillon')
})

test('below a public URL with a path a link leads to the page, and the files of the page are below it', async (t) => {
  const { service, url, stop } = await startBehindPath()
  t.after(stop)
  const { key } = await service.producerKey(['users'])
  const headers = { authorization: `Bearer ${key}` }
  const { id } = (await service.post('/api/users', { username: 'invited' }, headers)).json().data
  for (const purpose of ['reset', 'invite']) {
    const link = (await service.post(`/api/users/${id}/links`, { purpose }, headers)).json().data
      .url
    const page = await fetch(link)
    assert.equal(page.status, 200)
    const loaded = [...(await page.text()).matchAll(/(?:src|href)="(carillon-[^"]+)"/g)].map(
      ([, path = '']) => {
        return new URL(path, page.url).href
      },
    )
    assert.ok(loaded.length > 3)
    for (const file of loaded) {
      assert.ok(file.startsWith(`${url}/carillon-scripts/`), file)
      assert.equal((await fetch(file)).status, 200)
    }
  }
})
