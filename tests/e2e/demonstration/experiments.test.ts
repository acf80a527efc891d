// The experiments and the result of the demonstration in a real browser: what the page says is what the servers responded.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type ExperimentId, experimentIds } from '../../../demonstration/page/experiments.ts'
import { BrowserPages } from '../../support/pages/browser-page.ts'
import { RecordingProxy, WalkPage } from '../../support/pages/walk-page.ts'
import { startTestService } from '../../support/service.ts'

const service = await startTestService()
const proxy = await RecordingProxy.to(service.url)
const pages = await BrowserPages.start({ service, url: proxy.url })
// One address has two demonstrations at most: the tests share a profile, whose first tab stays open.
const beside = await pages.open('/sign-in')
after(async () => {
  await beside[Symbol.asyncDispose]()
  await pages[Symbol.asyncDispose]()
  await proxy[Symbol.asyncDispose]()
})

/** The answers of each line, in order. After a sign-out the copied token works at the other server until it expires. */
const expected: Record<ExperimentId, string[]> = {
  stolen: ['works', 'refused', 'works', 'works'],
  signOut: ['refused', 'refused', 'refused', 'works'],
  form: ['no', 'no'],
  script: ['no', 'yes', 'yes'],
  time: ['works', 'refused', 'refused'],
  outage: ['refused', 'works', 'works'],
  balancer: ['no', 'yes', 'yes'],
}

/** What the browser reports of requests that are refused on purpose. */
const complaints: Partial<Record<ExperimentId, RegExp[]>> = {
  form: [/^401 POST .*\/read-all/],
  time: [/^401 /],
  outage: [/^503 /],
  balancer: [/^401 /],
}

for (const id of experimentIds)
  test(`experiment ${id}: the measured answers stand beside the predictions, and the messages are those of the wire`, async () => {
    await using walk = await WalkPage.open(pages, '/demonstration#experiments', { beside })
    walk.opened.expects(...(complaints[id] ?? []))
    const result = await walk.experiment(id)
    await walk.opened.hasFocus('What happened')
    const answers = await result.locator('.verdicts b').allTextContents()
    assert.deepEqual(answers, expected[id])
    const verdicts = await result.locator('.verdicts span').allTextContents()
    const isFirst = (answer: string) => answer === 'works' || answer === 'yes'
    assert.deepEqual(
      verdicts.map((verdict) => verdict === 'as you predicted'),
      answers.map(isFirst),
    )
    // The requests of the thief are sent by the server itself.
    if (id !== 'stolen' && id !== 'signOut')
      for (const lane of ['session', 'token'] as const)
        for (const [at, message] of (await walk.displayed(lane)).entries())
          assert.ok(proxy.saw(at % 2 === 0 ? 'to server' : 'to client', message), message.head.join('\n'))
    await walk.opened.isAccessible(`experiment-${id}`)
  })

test('sign-out: the page shows the list of revocations, and for how long the other server accepts the copy', async () => {
  await using walk = await WalkPage.open(pages, '/demonstration', { beside })
  const result = await walk.experiment('signOut', 'last')
  const text = (await result.textContent()) ?? ''
  assert.match(text, /Revoked sign-ins in the list: \d+\. The last entry ends at /)
  assert.match(text, /The copied token works at the other server for (89\d|900) more seconds/)
  assert.match((await walk.lane('token').locator('svg').textContent()) ?? '', /revoked: 1/)
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
  assert.equal(await page.locator('.verdicts').count(), 0)
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

test('the result fills with measured values, and its address shows them to another reader', async () => {
  await using walk = await WalkPage.open(pages, '/demonstration#result', { beside })
  const { page } = walk
  const row = (name: string, of = page) => of.getByRole('row').filter({ hasText: name }).locator('td').allTextContents()
  assert.deepEqual(await row('Look-ups'), ['–', '–'])
  await page.getByRole('button', { name: 'Measure' }).click()
  await page.getByRole('button', { name: 'Copy the link' }).waitFor({ timeout: 60_000 })
  assert.deepEqual(await row('Look-ups'), ['100', '0'])
  assert.match((await row('After a sign-out')).join(), /^0,0 at this server, (89\d|900) at the other one$/)
  await walk.opened.isAccessible('demonstration-result')
  await using other = await pages.open(walk.opened.path, { beside })
  await other.page.getByText('These values came with the link.').waitFor()
  assert.deepEqual(await row('Bytes', other.page), await row('Bytes'))
})

test('keys: a second key overlaps, a dropped one ends its tokens, and alg: none is refused', async () => {
  await using walk = await WalkPage.open(pages, '/demonstration#result', { beside })
  walk.opened.expects(/^401 /)
  const { page } = walk
  await page.getByText('And if a key is stolen?').click()
  await page.getByRole('button', { name: 'Show me' }).click()
  const lines = page.locator('.fold ol .hint')
  await lines.nth(5).waitFor({ timeout: 60_000 })
  const statuses = (await lines.allTextContents()).map((text) =>
    text
      .match(/\b\d{3}\b/g)
      ?.slice(0, 2)
      .join(' '),
  )
  assert.deepEqual(statuses, ['200 200', '200 200', '200 200', '401 200', '401 401', '401 401'])
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
