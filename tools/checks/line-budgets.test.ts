// The most lines of product code that a folder may have, with its folders: .ts, .js, .sql, .css and .html without tests. A change that
// deletes lines lowers the budget; one that needs more lines first deletes others.
import assert from 'node:assert/strict'
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { isTest } from './product-files.ts'

const budgets: Readonly<Record<string, number>> = {
  bench: 2450,
  client: 3400,
  element: 3440,
  demonstration: 3600,
  pages: 2860,
  tools: 1220,
  server: 31700,
  'server/audit': 580,
  'server/basics': 930,
  'server/bin': 190,
  'server/commands': 2070,
  'server/config': 1220,
  'server/delivery': 1100,
  'server/demonstration': 150,
  'server/doctor': 780,
  'server/factors': 1570,
  'server/guards': 160,
  'server/guessing': 550,
  'server/http': 2080,
  'server/inbox': 2840,
  'server/issuers': 450,
  'server/links': 690,
  'server/live': 810,
  'server/mail': 320,
  'server/pages': 2640,
  'server/passwords': 580,
  'server/preferences': 270,
  'server/producers': 200,
  'server/providers': 900,
  'server/sessions': 1210,
  'server/sign-in': 640,
  'server/start': 760,
  'server/store': 4500,
  'server/store/transfer': 750,
  'server/tokens': 1190,
  'server/users': 1810,
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
