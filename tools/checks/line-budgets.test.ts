// The most lines of product code that a folder may have, with its folders: .ts, .js, .sql, .css and .html without tests. A change that
// deletes lines lowers the budget; one that needs more lines first deletes others.
import assert from 'node:assert/strict'
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { isTest } from './product-files.ts'

const budgets: Readonly<Record<string, number>> = {
  bench: 2450,
  client: 3310,
  element: 3320,
  demonstration: 3500,
  pages: 2650,
  tools: 1240,
  server: 30540,
  'server/audit': 550,
  'server/basics': 940,
  'server/bin': 180,
  'server/commands': 1990,
  'server/config': 1130,
  'server/delivery': 1090,
  'server/demonstration': 150,
  'server/doctor': 760,
  'server/factors': 1480,
  'server/guards': 160,
  'server/guessing': 510,
  'server/http': 1900,
  'server/inbox': 2820,
  'server/issuers': 440,
  'server/links': 660,
  'server/live': 820,
  'server/mail': 290,
  'server/pages': 2540,
  'server/passwords': 560,
  'server/preferences': 270,
  'server/producers': 200,
  'server/providers': 850,
  'server/sessions': 1110,
  'server/sign-in': 600,
  'server/start': 660,
  'server/store': 4500,
  'server/store/transfer': 800,
  'server/tokens': 1120,
  'server/users': 1730,
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
