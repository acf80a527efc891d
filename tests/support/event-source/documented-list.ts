// For tests: the code of docs/inbox.md that keeps a list.
import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { runInNewContext } from 'node:vm'
import { readPages } from '../http/pages.ts'

export type KeptList = { items: { id: string; seq: number }[]; unread: number; total: number; version: number }
/** The functions return false if the list has to be requested again. */
export type DocumentedCode = {
  applyEvent(list: KeptList, type: string, data: object): boolean
  applyChanges(list: KeptList, data: object): boolean
}

const root = fileURLToPath(new URL('../../..', import.meta.url))
const page = readPages(root).find(({ file }) => file === 'docs/inbox.md') ?? assert.fail('docs/inbox.md is missing')
/** How the block begins. */
export const begin = 'const length = 20\n'
const source =
  page.blocks.find(({ text }) => text.startsWith(begin))?.text ?? assert.fail('docs/inbox.md has no such code')

/** For a list of this length. */
export function codeFor(length: number): DocumentedCode {
  const code = source.replace(begin, `const length = ${length}\n`).replaceAll('export function', 'function')
  return runInNewContext(`${code}; ({ applyEvent, applyChanges })`)
}
