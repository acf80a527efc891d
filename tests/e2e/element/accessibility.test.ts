// The elements in every state of the gallery pass axe-core, and have the accessibility trees of
// aria-snapshots.txt.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { states } from '../../../element/gallery/states.ts'
import { Gallery, openBell } from '../../support/gallery.ts'
import { rulesFor, violationsIn } from '../../support/pages/axe.ts'

const gallery = await Gallery.start()
after(() => gallery[Symbol.asyncDispose]())

const colorSchemes = ['light', 'dark'] as const

/** `ARIA_SNAPSHOTS=1` writes the file again. */
const treesFile = new URL('aria-snapshots.txt', import.meta.url)

test('axe finds no violation in the list of any state, in both themes and in forced colours', async () => {
  const page = await gallery.open({ theme: 'auto', height: 1200 })
  for (const colorScheme of colorSchemes) {
    await page.emulateMedia({ colorScheme })
    assert.deepEqual(await violationsIn(page, rulesFor[colorScheme]), [], colorScheme)
  }
  await page.emulateMedia({ colorScheme: 'light', forcedColors: 'active' })
  // The browser paints other colours than the computed ones, which axe reads.
  assert.deepEqual(
    await violationsIn(page, { rules: { 'color-contrast': { enabled: false } } }),
    [],
  )
  await page.close()
})

const otherLanguages = ['ar', 'de', 'fr']

test('axe finds no violation in the list at 320 px in the other languages, one of which is written from right to left', async () => {
  for (const language of otherLanguages) {
    const page = await gallery.open({ state: 'many', language, width: 320 })
    assert.deepEqual(await violationsIn(page, rulesFor.light), [], language)
    await page.close()
  }
})

/** The panel displays the list of the same element in each state, so one state is checked every day. */
for (const { name, title } of states.filter(
  ({ inPage }) => inPage || process.env.SOAK !== undefined,
))
  test(`axe finds no violation in the state "${title}", in the list and in the panel of the bell, in both themes`, async () => {
    const page = await gallery.open({ state: name, theme: 'auto' })
    await openBell(page)
    for (const colorScheme of colorSchemes) {
      await page.emulateMedia({ colorScheme })
      assert.deepEqual(await violationsIn(page, rulesFor[colorScheme]), [], colorScheme)
    }
    await page.close()
  })

test('the accessibility tree of each state, and of a list in each language, is the recorded one', async () => {
  const all = await gallery.open({})
  const lists = states.filter(({ inPage }) => !inPage)
  const trees: string[] = []
  for (const state of states) {
    const list = all.locator('section > carillon-inbox').nth(lists.indexOf(state))
    const tree = state.inPage ? await treeOfBell(state.name) : await list.ariaSnapshot()
    trees.push(`=== ${state.name}\n${tree}\n`)
  }
  await all.close()
  for (const language of otherLanguages) {
    const page = await gallery.open({ state: 'many', language })
    trees.push(
      `=== ${language}\n${await page.locator('section > carillon-inbox').ariaSnapshot()}\n`,
    )
    await page.close()
  }
  const text = trees.join('\n')
  if (process.env.ARIA_SNAPSHOTS === '1') writeFileSync(treesFile, text)
  assert.equal(text, readFileSync(treesFile, 'utf8'))
})

async function treeOfBell(name: string): Promise<string> {
  const page = await gallery.open({ state: name })
  await openBell(page)
  const tree = await page.locator('carillon-bell').ariaSnapshot()
  await page.close()
  return tree
}
