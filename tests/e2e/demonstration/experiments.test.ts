// The experiments and the result of the demonstration in a real browser: what the page says is what the servers responded.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type ExperimentId, experimentIds } from '../../../demonstration/page/experiments.ts'
import { hashOf } from '../../../demonstration/page/stage.ts'
import { BrowserPages } from '../../support/pages/browser-page.ts'
import { RecordingProxy, WalkPage } from '../../support/pages/walk-page.ts'
import { untilSo } from '../../support/processes/nodes.ts'
import { startTestService } from '../../support/service.ts'

const service = await startTestService()
const proxy = await RecordingProxy.to(service.url)
const pages = await BrowserPages.start({ service, url: proxy.url })
// The tests share a profile, whose first tab stays open.
const beside = await pages.open('/sign-in')
after(async () => {
  await beside[Symbol.asyncDispose]()
  await pages[Symbol.asyncDispose]()
  await proxy[Symbol.asyncDispose]()
})

/**
 * These are the measures of each arrow, in order. A copied token works at the other server until it
 * expires.
 */
const expected: Record<ExperimentId, string[]> = {
  stolen: ['works', 'refused', 'works', 'works'],
  signOut: ['refused', 'refused', 'refused', 'works'],
  form: ['refused', 'refused'],
  script: ['refused', 'works', 'works'],
  time: ['works', 'refused', 'refused'],
  outage: ['refused', 'works', 'works'],
  balancer: ['refused', 'works', 'works'],
}

/** The browser reports requests that are refused on purpose. */
const complaints: Partial<Record<ExperimentId, RegExp[]>> = {
  form: [/^401 POST .*\/read-all/],
  time: [/^401 /],
  outage: [/^503 /],
  balancer: [/^401 /],
}

for (const id of experimentIds)
  test(`experiment ${id}: the measured answers stand beside the predictions, and the messages are those of the wire`, async () => {
    await using walk = await WalkPage.open(pages, `/demonstration${hashOf(id)}`, { beside })
    walk.opened.expects(...(complaints[id] ?? []))
    await walk.page.locator('svg .place').first().waitFor()
    const before = await walk.page.locator('svg .place').count()
    const experiment = await walk.experiment(id)
    await walk.opened.hasFocus(/Step by step/)
    const measured = await experiment.locator('.measured').allTextContents()
    assert.deepEqual(measured, expected[id])
    const verdicts = await experiment.locator('.chip b').allTextContents()
    assert.deepEqual(
      verdicts.map((verdict) => verdict === 'as you predicted'),
      measured.map((answer) => answer === 'works'),
    )
    assert.equal(await walk.page.locator('svg .place').count(), before, 'the places are the same')
    assert.deepEqual(
      await walk.page.evaluate(() => [scrollY, document.documentElement.scrollHeight]),
      [0, 800],
    )
    // The requests of the thief are sent by the server itself.
    if (id !== 'stolen' && id !== 'signOut' && id !== 'script')
      for (const lane of ['session', 'token'] as const)
        for (const [at, message] of (await walk.displayed(lane)).entries())
          assert.ok(
            proxy.saw(at % 2 === 0 ? 'to server' : 'to client', message),
            message.head.join('\n'),
          )
    // All have one form.
    if (process.env.SOAK || id === 'stolen') await walk.opened.isAccessible(`experiment-${id}`)
  })

test('sign-out: the list of revocations is in the picture of its moment, and for how long the other server accepts the copy', async () => {
  await using walk = await WalkPage.open(pages, '/demonstration', { beside })
  const experiment = await walk.experiment('signOut', 'last')
  const token = walk.lane('token')
  const has = async (text: RegExp, of = token) => assert.match((await of.textContent()) ?? '', text)
  await has(/The copied token works at the other server for (89\d|900) more seconds/)
  await has(/This server · search revocations, found in revocations/)
  await has(/revoked: 1/, token.locator('.canvas > svg'))
  await experiment.getByRole('button', { name: 'After' }).click()
  await has(/Revoked sign-ins in the list: \d+\. The last entry ends at /)
  await has(/revoked: 2/, token.locator('.canvas > svg'))
  await experiment.getByRole('button', { name: 'You sign out' }).click()
  await walk.page.getByRole('slider').fill('0')
  assert.doesNotMatch(
    (await token.locator('.canvas > svg').textContent()) ?? '',
    /revoked/,
    'nothing is revoked yet',
  )
})

test('the form of another site: the sentence says what this browser has sent', async () => {
  await using walk = await WalkPage.open(pages, '/demonstration', { beside })
  walk.opened.expects(...(complaints.form ?? []))
  await walk.experiment('form')
  const [request] = await walk.displayed('session')
  const isWithCookie = /^Cookie: .*carillon-demonstration=/im.test(request?.head.join('\n') ?? '')
  const text = (await walk.lane('session').locator('.note').allTextContents()).join()
  assert.match(
    text,
    isWithCookie ? /sent the cookie with the form/ : /sent the form without the cookie/,
  )
  assert.deepEqual(await walk.statuses('session'), [isWithCookie ? 403 : 401])
  assert.match(text, /Unread: 4 before, 4 after/)
})

test('before the run, each open arrow has two chips, and the run fills the same places', async () => {
  await using walk = await WalkPage.open(pages, '/demonstration#experiment-stolen', { beside })
  const { page } = walk
  const places = async () => {
    const of = page.locator('svg .place rect, .chips')
    await of.first().waitFor()
    const boxes = await Promise.all((await of.all()).map((one) => one.boundingBox()))
    return boxes.map((box) => [Math.round(box?.x ?? 0), Math.round(box?.y ?? 0)])
  }
  const labels = () => page.locator('.lane svg .label').allTextContents()
  const before = await places()
  assert.equal((await labels()).filter((label) => label === '?').length, 4)
  assert.equal(await page.locator('.chip').count(), 8)
  await walk.experiment('stolen')
  assert.equal((await labels()).filter((label) => label === '?').length, 0)
  assert.deepEqual((await places()).slice(0, 2), before.slice(0, 2))
})

test('the arrow keys go through the hops: each thing appears when its hop arrives', async () => {
  await using walk = await WalkPage.open(pages, '/demonstration', { beside })
  await walk.experiment('signOut')
  const { page } = walk
  const arrows = () => walk.lane('token').locator('svg .arrow').count()
  assert.equal(await arrows(), 4)
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('ArrowLeft')
  assert.equal(await arrows(), 3)
  assert.match(
    (await page.getByRole('slider').getAttribute('aria-valuetext')) ?? '',
    /GET \/me, the token/,
  )
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('ArrowRight')
  assert.equal(await arrows(), 4)
})

test('with motion, the hops arrive by themselves, one after the other', async () => {
  await using walk = await WalkPage.open(pages, '/demonstration', { beside })
  await walk.page.emulateMedia({ reducedMotion: 'no-preference' })
  await walk.experiment('signOut')
  const slider = walk.page.getByRole('slider')
  const seen = new Set<string>()
  await untilSo(async () => seen.add(await slider.inputValue()).has('7'))
  assert.ok(seen.size >= 5, [...seen].join())
})

test('the five servers: memory, shared store and public key, with counted look-ups', async () => {
  await using walk = await WalkPage.open(pages, '/demonstration', { beside })
  walk.opened.expects(/^401 /)
  await walk.experiment('balancer')
  assert.deepEqual(await walk.page.locator('.counted').allTextContents(), [
    '2 of 10 accepted, 0 look-ups',
    '10 of 10 accepted, 10 look-ups',
    '10 of 10 accepted, 0 look-ups',
  ])
})

test('a link opens its experiment; without predictions it does not run', async () => {
  await using walk = await WalkPage.open(pages, '/demonstration#experiment-stolen', { beside })
  const { page } = walk
  await walk.opened.hasFocus('The proof is stolen')
  await page.getByRole('button', { name: 'Run it' }).click()
  assert.equal(
    await page
      .getByRole('radio')
      .first()
      .evaluate((radio) => radio === document.activeElement),
    true,
  )
  assert.equal(await page.getByRole('slider').count(), 0)
  assert.equal(await page.locator('.experiment .primary').count(), 1, 'only Run it is primary')
})

test('the walk continues after an experiment, with a new sign-in', async () => {
  await using walk = await WalkPage.open(pages, '/demonstration#sign-in', { beside })
  walk.opened.expects(/^401 GET /)
  await walk.arrived('sign-in')
  await walk.experiment('signOut')
  await walk.page.evaluate(() => location.assign('#with-proof'))
  await walk.arrived('with-proof')
  assert.deepEqual(await walk.statuses('session'), [200, 401])
  assert.deepEqual(await walk.statuses('token'), [200, 200])
  assert.equal(await walk.page.getByRole('alert').count(), 0)
})

test('the result is three plots of measured values, and its address shows them to another reader', async () => {
  await using walk = await WalkPage.open(pages, '/demonstration#result', { beside })
  walk.opened.expects(/^401 /)
  const { page } = walk
  const plots = async (of = page) =>
    Promise.all(
      (await of.locator('.plot').all()).map(
        async (plot) => (await plot.getAttribute('aria-label')) ?? '',
      ),
    )
  assert.deepEqual(await plots(), [])
  await page.getByRole('button', { name: 'Measure' }).click()
  await page.getByRole('button', { name: 'Copy the link' }).waitFor({ timeout: 60_000 })
  const [theft = '', cost = ''] = await plots()
  assert.match(
    theft,
    /^cookie, nobody notices: 7 days – 30 days\. token, nobody notices: 15 min – 12 hr\. /,
  )
  assert.match(theft, /cookie, after the sign-out: 0 sec\. token, then at this server: 0 sec\. /)
  assert.match(theft, /token, then at the other one: (89\d sec|15 min)$/)
  assert.match(cost, /^look-ups: 100\. look-ups: 0\. kilobytes: \d+\. kilobytes: \d+$/)
  await walk.opened.isAccessible('demonstration-result')
  await using other = await pages.open(walk.opened.path, { beside })
  await other.page.getByText('These values came with the link.').waitFor()
  assert.deepEqual(await plots(other.page), [theft, cost])
})

test('the life of keys: a second key overlaps, a dropped one ends its tokens, and alg: none is refused', async () => {
  await using walk = await WalkPage.open(pages, '/demonstration#result', { beside })
  walk.opened.expects(/^401 /)
  const { page } = walk
  await page.getByRole('button', { name: 'Measure' }).click()
  const rows = page.locator('.findings tbody tr')
  await rows.last().waitFor({ timeout: 60_000 })
  const cells = async (at: number) => rows.nth(at).locator('td').allTextContents()
  const count = await rows.count()
  assert.deepEqual(await cells(count - 2), ['200', '200', '200', '401', '401', '401'])
  assert.deepEqual(await cells(count - 1), ['200', '200', '200', '200', '401', '401'])
  const signs = 'signs'
  assert.deepEqual(await cells(0), [signs, signs, signs, 'retired', 'retired', 'retired'])
  assert.deepEqual((await cells(1)).slice(0, 3), ['', 'published', 'published'])
})

for (const [language, title] of [
  ['de', 'Experimente'],
  ['fr', 'Expériences'],
] as const)
  test(`the demonstration speaks the language of its reader: ${language}`, async () => {
    await using walk = await WalkPage.open(pages, '/demonstration#experiments', { beside })
    await walk.speak(language)
    await walk.page.getByRole('heading', { level: 2, name: title }).waitFor()
    await walk.experiment('stolen')
    assert.doesNotMatch(
      (await walk.page.locator('#walk').allInnerTexts()).join(),
      /\b(the|server ›|works|look up|you)\b/i,
    )
  })
