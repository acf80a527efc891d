// The elements in every state of the gallery, as assistive technology meets them: the rules of axe-core, and the accessibility tree.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { after, test } from 'node:test'
import type * as Axe from 'axe-core'
import type { Page } from 'playwright-core'
import { states } from '../../../element/gallery/states.ts'
import { Gallery, openBell } from '../../support/gallery.ts'

declare global {
  var axe: typeof Axe
}

const gallery = await Gallery.start()
after(() => gallery[Symbol.asyncDispose]())
// As an init script: the policy of the page allows no other.
const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
await gallery.browser.context.addInitScript({ path: axePath })

/** A tree for each state. `ARIA_SNAPSHOTS=1` writes the file again. */
const treesFile = new URL('aria-snapshots.txt', import.meta.url)
const heading = (name: string) => `=== ${name}\n`

async function violationsIn(page: Page, rules: Axe.RuleObject = {}): Promise<string[]> {
  const { violations, passes } = await page.evaluate((changed) => axe.run({ rules: changed }), rules)
  assert.ok(passes.length > 10, 'axe checked hardly anything')
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${help}: ${target} ${failureSummary}`),
  )
}

for (const { name, title } of states)
  for (const theme of ['light', 'dark'] as const)
    test(`axe finds no violation in the state "${title}", in the list and in the panel of the bell, ${theme}`, async () => {
      const page = await gallery.open({ state: name, theme })
      await openBell(page)
      assert.deepEqual(await violationsIn(page), [])
      await page.close()
    })

test('axe finds no violation in forced colours', async () => {
  const page = await gallery.open({ isForced: true, height: 1200 })
  // Contrast: the browser paints other colours than the computed ones, which axe reads.
  assert.deepEqual(await violationsIn(page, { 'color-contrast': { enabled: false } }), [])
  await page.close()
})

test('the accessibility tree of each state is the recorded one', async () => {
  const trees: string[] = []
  for (const { name, inPage } of states) {
    const page = await gallery.open({ state: name })
    if (inPage) await openBell(page)
    const tree = await page.locator(inPage ? 'carillon-bell' : 'carillon-inbox').ariaSnapshot()
    trees.push(`${heading(name)}${tree}\n`)
    await page.close()
  }
  const text = trees.join('\n')
  if (process.env.ARIA_SNAPSHOTS === '1') writeFileSync(treesFile, text)
  assert.equal(text, readFileSync(treesFile, 'utf8'))
})
