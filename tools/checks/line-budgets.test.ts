// The most lines of product code that a folder may have, with its folders: .ts, .js, .sql, .css and .html without tests. A change that
// deletes lines lowers the budget; one that needs more lines first deletes others.
import assert from 'node:assert/strict'
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { isTest } from './product-files.ts'

const budgets: Readonly<Record<string, number>> = {
  client: 3200,
  element: 5700,
  pages: 5900,
  server: 36700,
  'server/bin': 200,
  'server/commands': 2100,
  'server/config': 1300,
  'server/demonstration': 800,
  'server/doctor': 1200,
  'server/files': 100,
  'server/http': 7150,
  'server/inbox': 1200,
  'server/log': 100,
  'server/outbound': 200,
  'server/pages': 400,
  'server/sign-in': 6800,
  'server/start': 650,
  'server/store': 9900,
  'server/store/transfer': 800,
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

test('each folder of the service has a budget', () => {
  const folders = readdirSync('server', { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const names = folders.map(({ name }) => name).filter((name) => !generated.includes(name))
  const missing = names.map((name) => `server/${name}`).filter((name) => linesIn(name) > 0 && !(name in budgets))
  assert.deepEqual(missing, [])
})
