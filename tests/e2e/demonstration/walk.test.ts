// The walk of the demonstration in a real browser: each step, what is displayed of it, and that it is what was on the wire.
// At last what it has for a class: questions, a proof of the reader's own, a handout, and pictures for other documents.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { inflateSync } from 'node:zlib'
import { stepIds } from '../../../demonstration/page/walk.ts'
import { lanes } from '../../../demonstration/page/world.ts'
import { BrowserPages } from '../../support/pages/browser-page.ts'
import { RecordingProxy, WalkPage } from '../../support/pages/walk-page.ts'
import { startTestService } from '../../support/service.ts'
import { soakTest } from '../../support/soak.ts'

const opened = new AsyncDisposableStack()
after(() => opened.disposeAsync())
const service = await startTestService()
const proxy = opened.use(await RecordingProxy.to(service.url))
const pages = opened.use(await BrowserPages.start({ service, url: proxy.url }))
const user = await service.user()
/** One reader, who is signed in, takes all steps. */
const walk = new WalkPage(opened.use(await pages.open('/demonstration', { user })))
walk.opened.expects(/^401 GET .*\/routeRestreinte$/, /^401 GET .*\/other-server\/me$/)
await walk.opened.mayCopy()

/** The other server cannot check a cookie. */
const expected = {
  'without-proof': { session: [401], token: [401] },
  'sign-in': { session: [200], token: [200] },
  'with-proof': { session: [200, 401], token: [200, 200] },
  inbox: { session: [200, 204, 204], token: [200, 204, 204] },
}

let words = 0

test('one button begins the walk', async () => {
  await walk.page.getByRole('button', { name: 'Start', exact: true }).waitFor()
  assert.equal(await walk.page.locator('#walk').getByRole('button').count(), 1)
  assert.equal(await walk.page.locator('.drawing').count(), 1)
  words = await wordsOf(walk)
  await walk.opened.isAccessible('demonstration-start')
})

for (const id of stepIds)
  test(`the step ${id} displays every byte of its messages as a recording proxy saw them, and is accessible in both themes, wide and at 320 px (axe)`, async () => {
    await walk.next(id)
    words += await wordsOf(walk)
    for (const lane of lanes) {
      assert.deepEqual(await walk.statuses(lane), expected[id][lane], lane)
      for (const [at, message] of (await walk.displayed(lane)).entries())
        assert.ok(
          proxy.saw(at % 2 === 0 ? 'to server' : 'to client', message),
          message.head.join('\n'),
        )
    }
    assert.equal(await walk.page.evaluate(() => location.hash), `#${id}`)
    await walk.opened.isAccessible(`demonstration-${id}`)
  })

test('the walk has at most 900 words', () => {
  assert.ok(words <= 900, `the walk has ${words} words`)
  assert.ok(
    !proxy.saw('to client', { head: ['HTTP/1.1 200 OK'], body: 'nothing like this' }),
    'it can fail',
  )
})

async function wordsOf({ page }: WalkPage): Promise<number> {
  return (await page.locator('#walk').allInnerTexts())
    .join()
    .split(/\s+/)
    .filter((word) => /\p{L}/u.test(word)).length
}

const putAway = {
  en: ['Archive one', 'Snooze one'],
  de: ['Eine archivieren', 'Eine zurückstellen'],
  fr: ['En archiver une', 'En reporter une'],
}
// The soak has every language; German is long.
for (const [language, names] of Object.entries(putAway))
  (language === 'de' ? test : soakTest)(
    `each step has at most two screens on a phone; in the inbox, the reader archives one and snoozes one in each lane (${language})`,
    async () => {
      const size = { language, width: 390, height: 844 }
      await using phone = new WalkPage(await pages.open('/demonstration', size))
      phone.opened.expects(/^401 /)
      await phone.page.emulateMedia({ reducedMotion: 'no-preference' })
      for (const id of stepIds) {
        await phone.next(id)
        await fitsPhone(phone, `${language} ${id}`)
      }
      for (const [at, name] of names.entries()) {
        await phone.page.getByRole('button', { name, exact: true }).click()
        await phone
          .lane('token')
          .getByText(`/${['archive', 'snooze'][at]}`)
          .first()
          .waitFor({ state: 'attached' })
        for (const lane of lanes) await isPutAway(phone, lane)
        await fitsPhone(phone, `${language} ${name}`)
      }
      await phone.opened.isAccessible(`demonstration-inbox-away-${language}`)
    },
  )

async function isPutAway(phone: WalkPage, lane: (typeof lanes)[number]): Promise<void> {
  assert.deepEqual(await phone.statuses(lane), [204], lane)
  const messages = await phone.displayed(lane)
  for (const [at, message] of messages.entries())
    assert.ok(proxy.saw(at % 2 === 0 ? 'to server' : 'to client', message), message.head.join('\n'))
  assert.match(String(messages[0]?.head[0]), /^PATCH .*\/(archive|snooze) HTTP/)
}

async function fitsPhone({ page }: WalkPage, name: string): Promise<void> {
  const [width, height] = await page.evaluate(() => {
    const { scrollWidth, scrollHeight } = document.documentElement
    return [scrollWidth, scrollHeight]
  })
  assert.equal(width, 390, name)
  assert.ok(Number(height) <= 2 * 844, `${name}: ${height} px`)
}

test('only the session needs the database; the signature is checked, with its algorithm and key, by both servers', async () => {
  await walk.go('#with-proof')
  await walk.arrived('with-proof')
  const [session] = await walk.displayed('session')
  const [token] = await walk.displayed('token')
  assert.match(
    String(session?.head.join('\n')),
    /^Cookie: .*carillon-demonstration=[\w-]{36}\.[\w-]{22}\.[\w-]{43}/m,
  )
  assert.doesNotMatch(String(session?.head.join('\n')), /^Authorization:/im)
  assert.match(String(token?.head.join('\n')), /^Authorization: Bearer [\w-]+\.[\w-]+\.[\w-]+$/m)
  assert.doesNotMatch(String(token?.head.join('\n')), /^Cookie:/im)
  const list = async (lane: 'session' | 'token') =>
    (await walk.lane(lane).locator('.legend li').allTextContents()).join('\n')
  assert.match(await list('session'), /^This server › Database · look up session$/m)
  assert.doesNotMatch(await list('token'), /Database/)
  assert.match(await list('token'), /^This server · check signature \(EdDSA, key [\w-]{8}\)$/m)
  assert.match(await list('token'), /^Other server · check signature \(EdDSA, key [\w-]{8}\)$/m)
})

test('a reader who edits the token sees its signature refused, and accepted again', async () => {
  const { page } = walk
  await walk.go('#with-proof')
  await walk.arrived('with-proof')
  await page.getByText(/The signature is valid: EdDSA, key [\w-]{8}/).waitFor()
  await page.getByRole('button', { name: 'Make me “admin”' }).click()
  await page.getByText('The token is about: admin').waitFor()
  await page.getByText('The signature is not valid: 401').waitFor()
  assert.equal(await page.getByLabel('Your token').getAttribute('aria-invalid'), 'true')
  await page.getByRole('button', { name: 'Put it back' }).click()
  await page.getByText('The signature is valid').waitFor()
})

test('the sign-in explains each field of both proofs, and says what is stored for other reasons', async () => {
  await walk.go('#sign-in')
  await walk.arrived('sign-in')
  const names = (await walk.page.locator('.fields dt code').allTextContents()).map((name) =>
    name.trim(),
  )
  for (const name of [
    'secret',
    'Path',
    'Max-Age',
    'HttpOnly',
    'SameSite',
    'secret_hash',
    'alg',
    'kid',
    'sub',
    'exp',
    'sid',
  ])
    assert.ok(names.includes(name), `${name} of ${names.join()}`)
  await walk.page.getByRole('slider').press('End')
  for (const lane of lanes) {
    await walk.lane(lane).getByText('Stored for other reasons').waitFor({ state: 'attached' })
    assert.match(
      (await walk.lane(lane).locator('.canvas > svg').textContent()) ?? '',
      /aside: audit line.*aside: known device/s,
    )
  }
})

const curl = fileURLToPath(new URL('../../support/http/curl.ts', import.meta.url))

async function printed(command: string): Promise<string> {
  const script = `curl() { '${process.execPath}' '${curl}' "$@"; }\n${command}\n`
  return (await promisify(execFile)('bash', ['-c', script])).stdout
}

test('"Copy as curl" copies a command that sends the same request again, with no secret among its arguments', async () => {
  for (const id of stepIds.slice(1, 3)) {
    await walk.go(`#${id}`)
    await walk.arrived(id)
    for (const lane of lanes) {
      await walk.unfold(lane)
      await walk.lane(lane).getByRole('button', { name: 'Copy as curl' }).first().click()
      await walk.lane(lane).getByText('Copied.').waitFor()
      const command = await walk.opened.clipboard()
      assert.doesNotMatch(command.split('<<')[0] ?? '', /Bearer|cookie|password/i)
      const text = await printed(command)
      assert.ok(
        text.startsWith(`HTTP/1.1 ${expected[id][lane][0]}\r\n`),
        `${id} ${lane}: ${command}\n${text}`,
      )
    }
  }
})

test('a link to a step shows that step, and the back button the step before', async () => {
  await using linked = new WalkPage(await pages.open('/demonstration#sign-in'))
  linked.opened.expects(/^401 GET .*\/(other-server\/me|routeRestreinte)$/)
  await linked.arrived('sign-in')
  await linked.opened.hasFocus('Sign in')
  await linked.next('with-proof')
  await linked.page.goBack()
  await linked.arrived('sign-in')
})

soakTest('the walk goes by keyboard alone: the focus is on the heading of each step', async () => {
  await using keyboard = new WalkPage(await pages.open('/demonstration'))
  keyboard.opened.expects(/^401 GET .*\/routeRestreinte$/)
  const { page } = keyboard
  await page.locator('#next').waitFor()
  for (let n = 0; n < 30 && (await keyboard.opened.focused()) !== 'Start'; n++)
    await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await keyboard.arrived('without-proof')
  await keyboard.opened.hasFocus('Ask without a proof')
})

test("the visitor's own sign-in stays as it is, and its cookie is not displayed", async () => {
  await walk.go('#inbox')
  await walk.arrived('inbox')
  const own = (await walk.opened.context.cookies(`${proxy.url}/`)).find(({ name }) =>
    /^(__Host-)?carillon$/.test(name),
  )
  assert.ok(own, 'the profile is signed in')
  const [message] = await walk.displayed('session')
  assert.match(String(message?.head.join('\n')), new RegExp(`${RegExp.escape(own.name)}=…`))
  assert.ok(
    !(await walk.page.content()).includes(own.value.slice(40)),
    'the secret is nowhere in the page',
  )
  assert.equal(await walk.page.evaluate(async () => (await fetch('/api/me')).status), 200)
})

const piece = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

test('each of the ten questions leads to the place of its answer', async () => {
  await using lesson = await WalkPage.open(pages, '/demonstration#class')
  const links = lesson.page.locator('ol li a[href^="#"]').filter({ hasNotText: /^\d|^[?=+]/ })
  assert.equal(await links.count(), 10)
  await links.nth(5).click()
  await lesson.page.getByRole('heading', { name: 'Sign out, here and everywhere' }).waitFor()
})

test('a pasted token is read in the page, and a cookie is told from it; nothing is sent', async () => {
  await using lesson = await WalkPage.open(pages, '/demonstration#class')
  const field = lesson.page.getByLabel('Paste a cookie or a token')
  await field.waitFor()
  await lesson.page.waitForLoadState('networkidle')
  const before = lesson.opened.requests.length
  await field.fill(`${piece({ alg: 'EdDSA' })}.${piece({ sub: 'Zoë', exp: 1_900_000_000 })}.sig`)
  await lesson.page.getByText(/Signed is not encrypted.*It ends: Mar 17, 2030/).waitFor()
  assert.match(
    (await lesson.page.locator('.fields').textContent()) ?? '',
    /sub\s*your user id, no secret\s*Zoë/,
  )
  const inCookie = `theme=dark; session=${piece({ alg: 'ES256' })}.${piece({ sub: 'Ida' })}.sig`
  await field.fill(inCookie)
  await lesson.page.getByText('Signed is not encrypted').waitFor()
  await field.fill('session=019b76da-a800')
  await lesson.page.getByText('This is no signed token.').waitFor()
  assert.equal(lesson.opened.requests.length, before)
  await lesson.opened.isAccessible('demonstration-class')
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
    await using lesson = await pages.open('/demonstration#class', { language })
    await lesson.page.locator('.handout').waitFor({ state: 'attached' })
    await lesson.page.evaluate(() => (document.documentElement.dataset.theme = 'dark'))
    await lesson.page.emulateMedia({ media: 'print' })
    const ink = await lesson.page.evaluate(() => getComputedStyle(document.body).color)
    assert.equal(ink, 'rgb(26, 27, 37)', 'paper is light')
    const pdf = await lesson.page.pdf({ width: 210 * unit, height: 297 * unit })
    assert.equal(textOf(pdf).match(/\/Type\s*\/Page\b/g)?.length, 2, language)
  }
})

test('"Copy SVG" copies a picture that looks the same without the page', async () => {
  await walk.go('#with-proof')
  await walk.arrived('with-proof')
  await walk.unfold('session')
  await walk.lane('session').getByRole('button', { name: 'Copy SVG' }).click()
  await walk.lane('session').getByText('Copied.').waitFor()
  const text = await walk.opened.clipboard()
  // The copy is for a light document, also in the dark theme.
  await walk.page.emulateMedia({ colorScheme: 'dark' })
  await walk.lane('session').getByRole('button', { name: 'Copy SVG' }).click()
  assert.equal(await walk.opened.clipboard(), text)
  await walk.page.emulateMedia({ colorScheme: 'light' })
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
