// Does every command of docs/operations/questions.md exist, with its subcommand and its options?
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { Folder } from '../../tests/support/processes/carillon-process.ts'
import { CommandLine } from '../../tests/support/processes/command-line.ts'

const commandLine = new CommandLine()
after(() => commandLine[Symbol.asyncDispose]())

const page = readFileSync('docs/operations/questions.md', 'utf8')
const commands = [...page.matchAll(/`carillon ([a-z][^`]*)`/g)].map(([, text = '']) =>
  text.split(' '),
)

/** A subcommand has help of its own, if the command has one of that name. */
async function helpOf(folder: Folder, [name = '', subcommand = '']: string[]): Promise<string> {
  const args = ['user', 'key'].includes(name) ? [name, subcommand] : [name]
  const { status, stdout } = await commandLine.run(folder, [...args, '--help'])
  assert.equal(status, 0, args.join(' '))
  assert.match(stdout, new RegExp(`^Usage: carillon ${args.join(' ')} `))
  return stdout
}

test('every command of the operators’ questions exists with its options, and twenty questions have an answer', async () => {
  using folder = new Folder()
  assert.ok(commands.length >= 15)
  for (const words of commands) {
    const help = await helpOf(folder, words)
    for (const option of words.filter((word) => word.startsWith('--')))
      assert.ok(help.includes(` ${option} `), words.join(' '))
  }
  assert.ok((page.match(/^\| .*\? \|/gm)?.length ?? 0) >= 20)
})
