// The most lines of product code that a folder may have, with its folders: .ts, .js, .sql, .css and .html without tests. A change that
// deletes lines lowers the budget; one that needs more lines first deletes others.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { isTest } from './product-files.ts'

const budgets: Readonly<Record<string, number>> = {
  client: 3170,
  element: 2830,
  pages: 5440,
  server: 35300,
}

const generated = ['node_modules', 'dist', 'public', 'bundle', '.compile-cache']

function linesIn(folder: string): number {
  const files = globSync(`${folder}/**/*.{ts,js,sql,css,html}`, { exclude: (name) => generated.includes(name) })
  return files.filter((file) => !isTest(file)).reduce((sum, file) => sum + linesOf(file), 0)
}

const linesOf = (file: string) => readFileSync(file, 'utf8').split('\n').length - 1

test('no folder has more lines of product code than its budget', () => {
  const over = Object.entries(budgets)
    .map(([folder, budget]) => ({ folder, budget, lines: linesIn(folder) }))
    .filter(({ lines, budget }) => lines === 0 || lines > budget)
  assert.deepEqual(over, [])
})
