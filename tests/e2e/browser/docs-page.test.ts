// The page of the API in a real Chromium.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Chromium } from '../../support/chromium.ts'
import { startTestService } from '../../support/service.ts'

test('the page of the API fits a narrow screen, and every link in it leads to a section', async () => {
  const service = await startTestService()
  try {
    await using browser = await Chromium.start()
    const page = await browser.page(`${service.url}/docs`)
    await page.setViewportSize({ width: 390, height: 800 })
    const found = await page.evaluate(() => ({
      width: document.documentElement.scrollWidth,
      broken: [...document.querySelectorAll<HTMLAnchorElement>('a[href^="#"]')]
        .map(({ hash }) => hash.slice(1))
        .filter((id) => document.getElementById(id) === null),
    }))
    assert.deepEqual(found, { width: 390, broken: [] })
    assert.deepEqual(browser.uncaught, [])
  } finally {
    await service.stop()
  }
})
