// The most lines of product code that a folder may have, with its folders: .ts, .js, .sql, .css and .html without tests. A change that
// deletes lines lowers the budget. A new feature may raise it by what it adds; every other change deletes as many lines as it adds.
import assert from 'node:assert/strict'
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { isTest } from './product-files.ts'

const budgets: Readonly<Record<string, number>> = {
  bench: 2160,
  client: 3230,
  element: 3250,
  demonstration: 3490,
  pages: 2630,
  tools: 1200,
  server: 29510,
  'server/audit': 540,
  'server/basics': 930,
  'server/bin': 170,
  'server/commands': 1940,
  'server/config': 1020,
  'server/delivery': 1080,
  'server/demonstration': 150,
  'server/doctor': 750,
  'server/factors': 1400,
  'server/guards': 150,
  'server/guessing': 470,
  'server/http': 1850,
  'server/inbox': 2670,
  'server/issuers': 430,
  'server/links': 630,
  'server/live': 820,
  'server/mail': 280,
  'server/pages': 2500,
  'server/passwords': 530,
  'server/preferences': 260,
  'server/producers': 200,
  'server/providers': 830,
  'server/sessions': 1060,
  'server/sign-in': 580,
  'server/start': 640,
  'server/store': 4430,
  'server/store/transfer': 780,
  'server/tokens': 1070,
  'server/users': 1650,
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
  assert.deepEqual(over, [], 'delete lines, or raise the budget for a new feature: CONTRIBUTING.md, "A change"')
})

test('each folder of server/ has a budget', () => {
  const folders = readdirSync('server', { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const names = folders.map(({ name }) => name).filter((name) => !generated.includes(name))
  assert.deepEqual(
    names.filter((name) => budgets[`server/${name}`] === undefined),
    [],
  )
})
