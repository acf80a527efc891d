// Asks the user of a terminal before an act that cannot be undone. A program has to pass --yes.
import { createInterface } from 'node:readline/promises'
import { WrongUse } from './output.ts'

/** Resolves if the answer is `yes`. Throws WrongUse for another answer, or if stdin is not a terminal. */
export async function confirm(question: string, { yes }: { yes?: boolean }): Promise<void> {
  if (yes) return
  if (!process.stdin.isTTY)
    throw new WrongUse('This cannot be undone. Add --yes if it should be done without a question')
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await lines.question(`${question} Type yes: `).catch(() => '')
  lines.close()
  if (answer.trim() !== 'yes') throw new WrongUse('Nothing was changed')
}
