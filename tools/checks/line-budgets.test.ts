// The most lines of product code that a folder may have, with its folders: .ts, .js, .sql, .css and .html without tests. A change that
// deletes lines lowers the budget; one that needs more lines first deletes others.
import assert from 'node:assert/strict'
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { isTest } from './product-files.ts'

const budgets: Readonly<Record<string, number>> = {
  bench: 2200,
  client: 3460,
  element: 3600,
  demonstration: 3645,
  pages: 2930,
  tools: 1250,
  server: 31780,
  'server/audit': 600,
  'server/basics': 800,
  'server/bin': 200,
  'server/commands': 2200,
  'server/config': 1250,
  'server/delivery': 950,
  'server/demonstration': 150,
  'server/doctor': 1100,
  'server/factors': 1750,
  'server/guards': 200,
  'server/guessing': 600,
  'server/http': 2200,
  'server/inbox': 1800,
  'server/issuers': 450,
  'server/links': 750,
  'server/live': 850,
  'server/mail': 350,
  'server/pages': 2650,
  'server/passwords': 650,
  'server/preferences': 300,
  'server/producers': 250,
  'server/providers': 1000,
  'server/sealing': 200,
  'server/sessions': 1350,
  'server/sign-in': 650,
  'server/start': 850,
  'server/store': 4900,
  'server/store/transfer': 800,
  'server/tokens': 1250,
  'server/users': 1800,
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

test('each folder of server/ has a budget', () => {
  const folders = readdirSync('server', { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const names = folders.map(({ name }) => name).filter((name) => !generated.includes(name))
  assert.deepEqual(
    names.filter((name) => budgets[`server/${name}`] === undefined),
    [],
  )
})
