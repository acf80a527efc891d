// Runs the code of docs/inbox/keep-a-list.js.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { runInNewContext } from 'node:vm'

export type KeptList = {
  items: { id: string; seq: number }[]
  unread: number
  total: number
  version: number
}
/** The functions return false if the list has to be requested again. */
export type DocumentedCode = {
  applyEvent(list: KeptList, type: string, data: object): boolean
  applyChanges(list: KeptList, data: object): boolean
}

const begin = 'const length = 20\n'
const source = readFileSync(new URL('../../../docs/inbox/keep-a-list.js', import.meta.url), 'utf8')
assert.ok(source.includes(begin))

export function codeFor(length: number): DocumentedCode {
  const code = source
    .replace(begin, `const length = ${length}\n`)
    .replaceAll('export function', 'function')
  return runInNewContext(`${code}; ({ applyEvent, applyChanges })`)
}
