// Does every command of docs/operations/questions.md exist, with its subcommand and its options?
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

const page = readFileSync('docs/operations/questions.md', 'utf8')
const commands = [...page.matchAll(/`carillon ([a-z][^`]*)`/g)].map(([, text = '']) =>
  text.split(' '),
)

/** A subcommand has help of its own, if the command has one of that name. */
function helpOf([name = '', subcommand = '']: string[]): string {
  const args = ['user', 'key'].includes(name) ? [name, subcommand] : [name]
  const { status, stdout } = spawnSync(
    process.execPath,
    ['server/carillon.ts', ...args, '--help'],
    {
      encoding: 'utf8',
    },
  )
  assert.equal(status, 0, args.join(' '))
  assert.match(stdout, new RegExp(`^Usage: carillon ${args.join(' ')} `))
  return stdout
}

test('every command of the operators’ questions exists with its options, and twenty questions have an answer', () => {
  assert.ok(commands.length >= 15)
  for (const words of commands) {
    const help = helpOf(words)
    for (const option of words.filter((word) => word.startsWith('--')))
      assert.ok(help.includes(` ${option} `), words.join(' '))
  }
  assert.ok((page.match(/^\| .*\? \|/gm)?.length ?? 0) >= 20)
})
