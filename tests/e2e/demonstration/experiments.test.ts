// The experiments and the result of the demonstration in a real browser: what the page says is what
// the servers responded. One run of all of them is recorded; the page and a static file play it.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import {
  type ExperimentId,
  experimentIds,
} from '../../../demonstration/page/experiments/experiments.ts'
import { statusOf } from '../../../demonstration/page/picture/hops.ts'
import { hashOf } from '../../../demonstration/page/places.ts'
import { stepIds } from '../../../demonstration/page/walk.ts'
import { pageOf, playing, recordIn } from '../../support/demonstration/record.ts'
import { BrowserPages } from '../../support/pages/browser-page.ts'
import { RecordingProxy, WalkPage } from '../../support/pages/walk-page.ts'
import { startTestService } from '../../support/service.ts'

const opened = new AsyncDisposableStack()
after(() => opened.disposeAsync())
const service = await startTestService()
const proxy = opened.use(await RecordingProxy.to(service.url))
const pages = opened.use(await BrowserPages.start({ service, url: proxy.url }))
const live = opened.use(await WalkPage.open(pages, '/demonstration#sign-in'))
// The browser reports requests that are refused on purpose.
live.opened.expects(/^401 /, /^503 /)
await live.arrived('sign-in')
const recording = await recordIn(live.opened)
const played = opened.use(await play('en'))
const folder = mkdtempSync(join(tmpdir(), 'carillon-'))
opened.defer(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'demonstration.html')
writeFileSync(file, await pageOf(recording))

/** The page of the service with the recorded run. */
async function play(language: string): Promise<WalkPage> {
  const site = await playing(service, recording, language)
  return WalkPage.open(pages, '/demonstration', { site, language })
}

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

async function isWhatTheWireHad(walk: WalkPage): Promise<void> {
  for (const lane of ['session', 'token'] as const)
    for (const [at, message] of (await walk.displayed(lane)).entries())
      assert.ok(
        proxy.saw(at % 2 === 0 ? 'to server' : 'to client', message),
        message.head.join('\n'),
      )
}

for (const id of experimentIds)
  test(`experiment ${id}: the measured answers stand beside the predictions, and the messages are those of the wire`, async () => {
    const { page } = played
    await played.go(hashOf(id))
    await page.locator(`input[name^="${id} "]`).first().waitFor()
    const before = await page.locator('svg .place').count()
    const experiment = await played.experiment(id)
    const measured = await experiment.locator('.measured').allTextContents()
    assert.deepEqual(measured, expected[id])
    const verdicts = await experiment.locator('.chip b').allTextContents()
    assert.deepEqual(
      verdicts.map((verdict) => verdict === 'as you predicted'),
      measured.map((answer) => answer === 'works'),
    )
    assert.equal(await page.locator('svg .place').count(), before, 'the places are the same')
    assert.deepEqual(
      await page.evaluate(() => [scrollY, document.documentElement.scrollHeight]),
      [0, 800],
    )
    // The requests of the thief are sent by the server itself.
    if (id !== 'stolen' && id !== 'signOut' && id !== 'script') await isWhatTheWireHad(played)
    // All have one form.
    if (process.env.SOAK || id === 'stolen') await played.opened.isAccessible(`experiment-${id}`)
  })

for (const [language, title] of [
  ['de', 'Experimente'],
  ['fr', 'Expériences'],
] as const)
  test(`the demonstration speaks the language of its reader, and each experiment fits the window after its run: ${language}`, async () => {
    await using walk = await play(language)
    const { page } = walk
    await walk.go('#experiments')
    await page.getByRole('heading', { level: 2, name: title }).waitFor()
    const higher: string[] = []
    for (const id of experimentIds) {
      await walk.experiment(id)
      const height = await page.evaluate(() => document.documentElement.scrollHeight)
      if (height > 800) higher.push(`${id}: ${height}`)
      assert.doesNotMatch(
        (await page.locator('#walk').allInnerTexts()).join(),
        /\b(the|server ›|works|look up|you)\b/i,
        id,
      )
    }
    assert.deepEqual(higher, [])
  })

test('the arrow keys go through the hops: each thing appears when its hop arrives', async () => {
  await played.experiment('signOut')
  const { page } = played
  const arrows = () => played.lane('token').locator('svg .arrow').count()
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
  // Without the focus on the slider, too.
  await played.go('#with-proof')
  await played.arrived('with-proof')
  await played.opened.hasFocus('Ask again, with the proof')
  const last = Number(await page.getByRole('slider').inputValue())
  await page.keyboard.press('ArrowLeft')
  assert.equal(Number(await page.getByRole('slider').inputValue()), last - 1)
})

test('sign-out: the list of revocations is in the picture of its moment, and for how long the other server accepts the copy', async () => {
  const experiment = await played.experiment('signOut', 'last')
  const token = played.lane('token')
  const has = async (text: RegExp, of = token) => assert.match((await of.textContent()) ?? '', text)
  await has(/The copied token works at the other server for (89\d|900) more seconds/)
  await has(/This server · search revocations, found in revocations/)
  await has(/revoked: 1/, token.locator('.canvas > svg'))
  await experiment.getByRole('button', { name: 'After' }).click()
  await played.page.getByRole('slider').press('End')
  await has(/Revoked sign-ins in the list: \d+\. The last entry ends at /)
  await has(/revoked: 2/, token.locator('.canvas > svg'))
  await experiment.getByRole('button', { name: 'You sign out' }).click()
  await played.page.getByRole('slider').fill('0')
  assert.doesNotMatch(
    (await token.locator('.canvas > svg').textContent()) ?? '',
    /revoked/,
    'nothing is revoked yet',
  )
})

test('the form of another site, run now: the sentence says what this browser has sent', async () => {
  await live.experiment('form')
  const [request] = await live.displayed('session')
  const isWithCookie = /^Cookie: .*carillon-demonstration=/im.test(request?.head.join('\n') ?? '')
  const text = (await live.lane('session').locator('.note').allTextContents()).join()
  assert.match(
    text,
    isWithCookie ? /sent the cookie with the form/ : /sent the form without the cookie/,
  )
  assert.deepEqual(await live.statuses('session'), [isWithCookie ? 403 : 401])
  assert.match(text, /Unread: 4 before, 4 after/)
  assert.deepEqual(await live.page.locator('.measured').allTextContents(), expected.form)
  await isWhatTheWireHad(live)
})

test('the walk continues after an experiment, with a new sign-in', async () => {
  await live.go('#with-proof')
  await live.arrived('with-proof')
  assert.deepEqual(await live.statuses('session'), [200, 401])
  assert.deepEqual(await live.statuses('token'), [200, 200])
  assert.equal(await live.page.getByRole('alert').count(), 0)
})

test('a step or a run that ends late changes nothing at the place where the reader is by then', async () => {
  await using walk = await WalkPage.open(pages, '/demonstration')
  walk.opened.expects(/^401 /)
  const { page } = walk
  let sent = Promise.withResolvers<void>()
  await page.route('**/demonstration/{visits,controls/steal}', async (route) => {
    await sent.promise
    await route.continue()
  })
  await walk.page.locator('#next').click()
  await walk.go('#experiments')
  sent.resolve()
  await page.locator('#next[aria-disabled=false]').waitFor()
  await page.getByRole('heading', { name: 'Experiments' }).waitFor()
  await walk.go('#inbox')
  await walk.arrived('inbox')

  await walk.go('#stolen')
  await page.locator('.chip').first().waitFor()
  for (const arrow of await page.locator('.prediction').all())
    await arrow.locator('label').first().click()
  sent = Promise.withResolvers()
  await page.locator('.acts .primary').click()
  await walk.go('#inbox')
  await walk.arrived('inbox')
  sent.resolve()
  await page.locator('#next[aria-disabled=false]').waitFor()
  await page.getByRole('button', { name: 'List and mark', pressed: true }).waitFor()
  assert.deepEqual(await walk.statuses('session'), [200, 204, 204])

  walk.opened.expects(/ POST .*visits$/)
  await page.route('**/demonstration/visits', (route) => route.abort())
  await walk.go('#stolen')
  await page.locator('.acts .primary').click()
  await page.getByText('What you have seen so far stays here.').waitFor()
  assert.equal(await page.locator('.measured').count(), 4)
})

test('a link opens its experiment; without predictions it does not run; each open arrow has two chips, and the run fills the same places', async () => {
  await using walk = await play('en')
  const { page } = walk
  await walk.go('#stolen')
  await walk.opened.hasFocus('The proof is stolen')
  const places = async () => {
    const of = page.locator('svg .place rect, .chips')
    const boxes = await Promise.all((await of.all()).map((one) => one.boundingBox()))
    return boxes.map((box) => [Math.round(box?.x ?? 0), Math.round(box?.y ?? 0)])
  }
  const labels = () => page.locator('.lane svg .label').allTextContents()
  const before = await places()
  assert.equal((await labels()).filter((label) => label === '?').length, 4)
  assert.equal(await page.locator('.chip').count(), 8)
  assert.equal(await page.locator('.experiment .primary').count(), 1, 'only Run it is primary')
  await page.getByRole('button', { name: 'Run it' }).click()
  const isFocused = (radio: Element) => radio === document.activeElement
  assert.equal(await page.getByRole('radio').first().evaluate(isFocused), true)
  assert.equal(await page.getByRole('slider').count(), 0)
  await walk.experiment('stolen')
  assert.equal((await labels()).filter((label) => label === '?').length, 0)
  assert.deepEqual((await places()).slice(0, 2), before.slice(0, 2))
})

test('with motion, the hops arrive by themselves, one after the other', async () => {
  await using walk = await play('en')
  const { page } = walk
  await page.emulateMedia({ reducedMotion: 'no-preference' })
  await page.clock.install()
  await walk.run('signOut', 'first')
  const slider = page.getByRole('slider')
  const seen = [await slider.inputValue()]
  for (let n = 0; n < 7; n++) {
    await page.clock.runFor(900)
    seen.push(await slider.inputValue())
  }
  assert.deepEqual(seen, ['1', '2', '3', '4', '5', '6', '7', '7'])
})

test('time passes: the end of the session is seven days after the use that is drawn', async () => {
  await played.experiment('time')
  const drawn = (await played.lane('session').locator('.canvas > svg').textContent()) ?? ''
  const [clock = 0, ends = 0] = [/clock (.+? [AP]M)/, /ends (.+? [AP]M)/].map((text) =>
    Date.parse(text.exec(drawn)?.[1] ?? ''),
  )
  assert.equal(ends - clock, 7 * 24 * 3_600_000, drawn)
})

test('the five servers: memory, shared store and public key, with counted look-ups', async () => {
  await played.experiment('balancer')
  assert.deepEqual(await played.page.locator('.counted').allTextContents(), [
    '2 of 10 accepted, 0 look-ups',
    '10 of 10 accepted, 10 look-ups',
    '10 of 10 accepted, 0 look-ups',
  ])
})

test('the result is three plots of measured values', async () => {
  const { page } = played
  await played.go('#result')
  const plots = async () =>
    Promise.all(
      (await page.locator('.plot').all()).map(
        async (plot) => (await plot.getAttribute('aria-label')) ?? '',
      ),
    )
  assert.deepEqual(await plots(), [])
  await page.getByRole('button', { name: 'Measure' }).click()
  await page.locator('.plot').first().waitFor()
  const [theft = '', cost = ''] = await plots()
  assert.match(
    theft,
    /^the cookie · Nobody notices: 7 days – 30 days\. the token · Nobody notices: 15 min – 12 hr\. /,
  )
  assert.match(
    theft,
    /the cookie · You sign out · at this server: 0 sec\. the token · You sign out · at this server: 0 sec\. /,
  )
  assert.match(theft, /the token · You sign out · at the other one: 15 min$/)
  const kilobytes = (['session', 'token'] as const).map((lane) => {
    const { request, response } = recording.outcomes.stolen?.acts[1]?.[lane][0] ?? assert.fail()
    const bytes = [request, response].map(({ line, fields, body }) =>
      [line, ...fields.map(([name, value]) => `${name}: ${value}`), '', body].join('\r\n'),
    )
    return Math.round(bytes.join('').length / 10)
  })
  assert.equal(
    cost,
    `the cookie · look-ups: 100. the token · look-ups: 0. the cookie · kilobytes: ${kilobytes[0]}. the token · kilobytes: ${kilobytes[1]}`,
  )
  await played.opened.isAccessible('demonstration-result')
})

test('the life of keys: a second key overlaps, a dropped one ends its tokens, and alg: none is refused', async () => {
  const { page } = played
  await played.go('#result')
  await page.getByRole('button', { name: 'Measure' }).click()
  const moments = page.locator('.moment')
  await moments.last().waitFor()
  const texts = await Promise.all(
    (await moments.all()).map((moment) => moment.locator('text').allTextContents()),
  )
  const column = (at: number) => texts.map((cells) => cells.at(at))
  assert.deepEqual(column(-2), ['200', '200', '200', '401', '401', '401'])
  assert.deepEqual(column(-1), ['200', '200', '200', '200', '401', '401'])
  assert.deepEqual(column(1), ['signs', 'signs', 'signs', 'retired', 'retired', 'retired'])
  assert.deepEqual(column(2).slice(0, 3), ['', 'published', 'published'])
})

test('a static file plays each step and each experiment with the recorded statuses and verdicts, and requests nothing', async () => {
  {
    await using german = await pages.open(pathToFileURL(file).href, { language: 'de' })
    await german.heading('Die Vorführung')
  }
  await using walk = new WalkPage(await pages.open(pathToFileURL(file).href))
  for (const id of stepIds) {
    await walk.next(id)
    const [, recorded] = recording.walk.find(([one]) => one === id) ?? assert.fail(id)
    for (const lane of ['session', 'token'] as const)
      assert.deepEqual(await walk.statuses(lane), recorded[lane].map(statusOf), `${id} ${lane}`)
    const lit = await walk.page.locator('.endpoints .lit').count()
    assert.equal(lit, [1, 2, 2, 5][stepIds.indexOf(id)], `${id}: endpoints used so far`)
  }
  await walk.opened.isAccessible('demonstration-recorded')
  for (const id of experimentIds) {
    const experiment = await walk.experiment(id)
    assert.deepEqual(await experiment.locator('.measured').allTextContents(), expected[id], id)
  }
  // Firefox does not report the request of the file itself.
  const others = walk.opened.requests
    .map((request) => request.url())
    .filter((url) => !url.startsWith('data:') && url !== pathToFileURL(file).href)
  assert.deepEqual(others, [])
})
