// Asks for a password: process list and shell history would show an argument.
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { WrongUse } from './output.ts'

export async function confirm(question: string, { yes }: { yes?: boolean }): Promise<void> {
  if (yes) return
  if (!process.stdin.isTTY)
    throw new WrongUse('This cannot be undone. Add --yes if it should be done without a question')
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await lines.question(`${question} Type yes: `).catch(() => '')
  lines.close()
  if (answer.trim() !== 'yes') throw new WrongUse('Nothing was changed')
}

export async function passwordFromStdin(): Promise<string> {
  return (await text(process.stdin)).replace(/\r?\n$/, '')
}

export async function promptForPassword(question: string): Promise<string> {
  if (!process.stdin.isTTY)
    throw new WrongUse('There is no terminal to read the password from: use --password-stdin')
  const discard = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: discard, terminal: true })
  process.stderr.write(question)
  lines.on('SIGINT', () => process.stderr.write('\n', () => process.exit(130)))
  const password = await lines.question('').catch(() => undefined)
  lines.close()
  process.stderr.write('\n')
  if (password === undefined) throw new WrongUse('No password was given')
  return password
}
