// Limits the product code of a top folder. A token is a name, a number, a quoted text, or one other
// character, so that packing lines gains nothing; comments, blank lines and tests count nothing.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { isTest } from './product-files.ts'

const budgets: Readonly<Record<string, number>> = {
  client: 29_000,
  demonstration: 39_500,
  element: 36_580,
  pages: 40_500,
  server: 368_220,
}

const generated = ['node_modules', 'dist', 'public', 'bundle', '.compile-cache', 'data']

function tokensIn(folder: string): number {
  const files = globSync(`${folder}/**/*.{ts,js,sql,css,html}`, {
    exclude: (name) => generated.includes(name),
  })
  return files
    .filter((file) => !isTest(file))
    .reduce((sum, file) => sum + tokensOf(readFileSync(file, 'utf8')), 0)
}

function tokensOf(text: string): number {
  const withoutBlocks = text.replace(/^[ \t]*\/\*[\s\S]*?\*\//gm, '')
  const code = withoutBlocks.replace(/(^|\s)(\/\/|-- ).*$/gm, '$1')
  return code.match(/[A-Za-z_$#][\w$]*|\d[\w.]*|'[^'\n]*'|[^\s\w]/g)?.length ?? 0
}

test('no top folder has more tokens of product code than its budget', () => {
  const over = Object.entries(budgets)
    .map(([folder, budget]) => ({ folder, budget, tokens: tokensIn(folder) }))
    .filter(({ tokens, budget }) => tokens === 0 || tokens > budget)
  assert.deepEqual(
    over,
    [],
    'simplify, or raise the budget for a new feature: CONTRIBUTING.md, "A change"',
  )
})
