// Asks axe-core about a page, targets of 24 px included.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type * as Axe from 'axe-core'
import type { Page } from 'playwright-core'

declare global {
  var axe: typeof Axe
}

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const all: Axe.RunOptions = { rules: { 'target-size': { enabled: true } } }
/**
 * The other color scheme of a page differs only in its colors, so it needs no rule but contrast,
 * except with SOAK=1.
 */
export const rulesFor: Record<'light' | 'dark', Axe.RunOptions> = {
  light: all,
  dark: process.env.SOAK === undefined ? { runOnly: ['color-contrast'] } : all,
}

export async function violationsIn(page: Page, options = all): Promise<string[]> {
  // The debugger evaluates it, so the policy of the page does not stop it.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(source)
  const { checked, violations } = await page.evaluate(async (given) => {
    // No page has style sheets of another origin, which axe would load, and only the number of
    // passes is used.
    const found = await axe.run({ ...given, preload: false, resultTypes: ['violations'] })
    return { checked: found.passes.length, violations: found.violations }
  }, options)
  assert.ok(checked > (options.runOnly ? 0 : 10), 'axe checked hardly anything')
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${help}: ${target} ${failureSummary}`),
  )
}
