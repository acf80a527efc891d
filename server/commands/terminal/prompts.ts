// Asks on the terminal: for a password, which is never an argument because the process list and the shell's history would show it, and
// before an act that cannot be undone.
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { WrongUse } from './output.ts'

/** Resolves if the answer is `yes`. Throws WrongUse for another answer, or if stdin is not a terminal. A program has to pass --yes. */
export async function confirm(question: string, { yes }: { yes?: boolean }): Promise<void> {
  if (yes) return
  if (!process.stdin.isTTY)
    throw new WrongUse('This cannot be undone. Add --yes if it should be done without a question')
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await lines.question(`${question} Type yes: `).catch(() => '')
  lines.close()
  if (answer.trim() !== 'yes') throw new WrongUse('Nothing was changed')
}

/** All of stdin without its last line break. */
export async function passwordFromStdin(): Promise<string> {
  return (await text(process.stdin)).replace(/\r?\n$/, '')
}

/** Does not display the typed characters. Throws WrongUse if stdin is not a terminal. */
export async function promptForPassword(question: string): Promise<string> {
  if (!process.stdin.isTTY) throw new WrongUse('There is no terminal to read the password from: use --password-stdin')
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
