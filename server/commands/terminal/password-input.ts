// Reads a password for a command from stdin or from a prompt on the terminal. Never from an argument, which the process list
// and the shell's history would show.
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { WrongUse } from './output.ts'

/** All of stdin without its last line break. */
export async function passwordFromStdin(): Promise<string> {
  return (await text(process.stdin)).replace(/\r?\n$/, '')
}

/** Does not display the typed characters. Throws WrongUse if stdin is not a terminal. */
export async function promptForPassword(question: string): Promise<string> {
  if (!process.stdin.isTTY) throw new WrongUse('There is no terminal to read the password from: use --password-stdin')
  const discard = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: discard, terminal: true })
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
