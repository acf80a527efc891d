// Checks that a real Chromium starts and has what the client needs.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { Chromium } from '../../support/chromium.ts'

test('Chromium starts, opens a page and has locks, channels and fonts', async (t) => {
  const startedAt = performance.now()
  await using browser = await Chromium.start()
  t.diagnostic(`started in ${Math.round(performance.now() - startedAt)} ms`)
  const server = createServer((_request, response) =>
    response.setHeader('content-type', 'text/html').end('<h1>Ding</h1>'),
  )
  await new Promise<void>((listens) => server.listen(0, '127.0.0.1', listens))
  await using _ = { [Symbol.asyncDispose]: async () => void server.close() }
  const page = await browser.page(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  assert.equal(await page.textContent('h1'), 'Ding')
  const has = await page.evaluate(() => [
    isSecureContext,
    'locks' in navigator,
    'BroadcastChannel' in globalThis,
  ])
  assert.deepEqual(has, [true, true, true])
  const widths = await page.evaluate(() => {
    const context = document.createElement('canvas').getContext('2d')
    return ['iiii', 'WWWW'].map((text) => context?.measureText(text).width ?? 0)
  })
  assert.ok(
    (widths[0] ?? 0) > 0 && (widths[0] ?? 0) < (widths[1] ?? 0),
    `there are fonts: ${widths}`,
  )
})
