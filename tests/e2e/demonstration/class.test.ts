// The demonstration for a class: questions, a proof of the reader's own, a handout, and pictures for other documents.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { inflateSync } from 'node:zlib'
import { BrowserPages } from '../../support/pages/browser-page.ts'
import { WalkPage } from '../../support/pages/walk-page.ts'

const pages = await BrowserPages.start()
after(() => pages[Symbol.asyncDispose]())

const piece = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

test('each of the ten questions leads to the place of its answer', async () => {
  await using walk = await WalkPage.open(pages, '/demonstration#class')
  const links = walk.page.locator('ol li a[href^="#"]').filter({ hasNotText: /^\d|^[?=+]/ })
  assert.equal(await links.count(), 10)
  await links.nth(5).click()
  await walk.page.getByRole('heading', { name: 'Sign out, here and everywhere' }).waitFor()
})

test('a pasted token is read in the page, and a cookie is told from it; nothing is sent', async () => {
  await using walk = await WalkPage.open(pages, '/demonstration#class')
  const field = walk.page.getByLabel('Paste a cookie or a token')
  await field.waitFor()
  await walk.page.waitForLoadState('networkidle')
  const before = walk.opened.requests.length
  await field.fill(`${piece({ alg: 'EdDSA' })}.${piece({ sub: 'Zoë', exp: 1_900_000_000 })}.sig`)
  await walk.page.getByText(/Signed is not encrypted.*It ends: Mar 17, 2030/).waitFor()
  assert.match(
    (await walk.page.locator('.fields').textContent()) ?? '',
    /sub\s*your user id, no secret\s*Zoë/,
  )
  await field.fill('session=019b76da-a800')
  await walk.page.getByText('This is no signed token.').waitFor()
  assert.equal(walk.opened.requests.length, before)
  await walk.opened.isAccessible('demonstration-class')
})

/** Chromium writes the pages as they are, Firefox in compressed streams. */
function textOf(pdf: Buffer): string {
  const streams = pdf.toString('latin1').split(/(?<=\bstream\r?\n)/)
  return streams
    .map((text) => {
      try {
        return text + inflateSync(Buffer.from(text, 'latin1'))
      } catch {
        return text
      }
    })
    .join('')
}

/** Pixels in a millimetre. Playwright sends inches to Firefox, which takes them as centimetres. */
const unit = (96 / 25.4) * (process.env.BROWSER === 'firefox' ? 2.54 : 1)

test('the handout has two pages of A4', async () => {
  for (const language of ['en', 'de', 'fr']) {
    await using opened = await pages.open('/demonstration#class', { language })
    await opened.page.locator('.handout').waitFor({ state: 'attached' })
    const pdf = await opened.page.pdf({ width: 210 * unit, height: 297 * unit })
    assert.equal(textOf(pdf).match(/\/Type\s*\/Page\b/g)?.length, 2, language)
  }
})

test('"Copy SVG" copies a picture that looks the same without the page', async () => {
  await using walk = await WalkPage.open(pages, '/demonstration#without-proof')
  walk.opened.expects(/^401 /)
  await walk.opened.mayCopy()
  await walk.arrived('without-proof')
  await walk.unfold('session')
  await walk.lane('session').getByRole('button', { name: 'Copy SVG' }).click()
  await walk.lane('session').getByText('Copied.').waitFor()
  const text = await walk.opened.clipboard()
  const parsed = await walk.page.evaluate((svg) => {
    const document_ = new DOMParser().parseFromString(svg, 'image/svg+xml')
    const line = document_.querySelector('path')
    return {
      root: document_.documentElement.tagName,
      stroke: line?.getAttribute('stroke'),
      text: document_.documentElement.textContent,
    }
  }, text)
  assert.equal(parsed.root, 'svg')
  assert.match(parsed.stroke ?? '', /^rgb|^#|^color/)
  assert.match(parsed.text ?? '', /Browser.*This server/s)
  assert.doesNotMatch(text, /class=|var\(|<!--/)
})
