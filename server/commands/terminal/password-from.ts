// A password for a command: from stdin, or asked for on a terminal. Never an argument: the process list and the shell's
// history would keep it.
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { WrongUse } from './output.ts'

/** All of stdin, without its last line break. */
export async function passwordFromStdin(): Promise<string> {
  return (await text(process.stdin)).replace(/\r?\n$/, '')
}

/** Asks without showing what is typed. Throws WrongUse where there is nobody to be asked. */
export async function askForPassword(question: string): Promise<string> {
  if (!process.stdin.isTTY) throw new WrongUse('There is no terminal to ask for the password on: use --password-stdin')
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true })
  lines.on('SIGINT', () => {
    process.stderr.write('\n')
    process.exit(130)
  })
  process.stderr.write(question)
  const password = await lines.question('').catch(() => {
    process.stderr.write('\n')
    throw new WrongUse('No password was given')
  })
  lines.close()
  process.stderr.write('\n')
  return password
}
