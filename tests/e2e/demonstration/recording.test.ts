// A recorded run of the demonstration: one static file, which plays all steps and experiments and sends nothing.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { type ExperimentId, experimentIds } from '../../../demonstration/page/experiments.ts'
import { statusOf } from '../../../demonstration/page/hops.ts'
import { stepIds } from '../../../demonstration/page/walk.ts'
import { pageOf, recordIn } from '../../support/demonstration/record.ts'
import { BrowserPages } from '../../support/pages/browser-page.ts'
import { WalkPage } from '../../support/pages/walk-page.ts'

const pages = await BrowserPages.start()
const folder = mkdtempSync(join(tmpdir(), 'carillon-'))
const opened = await pages.open('/demonstration')
opened.expects(/^40[14] /, /^503 /)
const recording = await recordIn(opened)
const file = join(folder, 'demonstration.html')
writeFileSync(file, await pageOf(recording))
after(async () => {
  await opened[Symbol.asyncDispose]()
  await pages[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

async function openFile(hash = ''): Promise<WalkPage> {
  return new WalkPage(await pages.open(pathToFileURL(file).href + hash))
}

test('the file plays each step of the walk with the recorded statuses, and requests nothing', async () => {
  await using walk = await openFile()
  for (const id of stepIds) {
    await walk.next(id)
    const [, recorded] = recording.walk.find(([one]) => one === id) ?? assert.fail(id)
    for (const lane of ['session', 'token'] as const)
      assert.deepEqual(await walk.statuses(lane), recorded[lane].map(statusOf), `${id} ${lane}`)
  }
  assert.deepEqual(
    walk.opened.requests.map((request) => request.url()).filter((url) => !url.startsWith('data:')),
    [pathToFileURL(file).href],
  )
  await walk.opened.isAccessible('demonstration-recorded')
})

test('the file plays each experiment, with the verdict on each prediction', async () => {
  await using walk = await openFile()
  const measured: Partial<Record<ExperimentId, string[]>> = {}
  for (const id of experimentIds) {
    const experiment = await walk.experiment(id)
    measured[id] = await experiment.locator('.measured').allTextContents()
  }
  for (const id of experimentIds) {
    const { answers } = recording.outcomes[id] ?? assert.fail(id)
    const recorded = Object.values(answers)
    const expected = recorded.map((works) => (works ? 'works' : 'refused'))
    assert.deepEqual(measured[id]?.toSorted(), expected.toSorted(), id)
  }
})
