// Are the words of the documents spelled right? By cspell, with the words of spelling.json beside the usual ones.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

const documents = [
  '*.md',
  'docs/**/*.md',
  '{client,element,bench,website}/*.md',
  'examples/*/README.md',
]

test('every word of the documents is in a dictionary or in the list of our words', () => {
  const given = ['lint', '--no-progress', '--config', 'tools/checks/spelling.json', ...documents]
  // No dependency: only the soak needs it (docs/decisions/0002-dependencies.md).
  const cspell = ['exec', '--yes', '--package=cspell@9.8.0', '--', 'cspell', ...given]
  const { status, stdout, stderr } = spawnSync('npm', cspell, { encoding: 'utf8' })
  assert.equal(status, 0, `${stdout}${stderr}`)
})
