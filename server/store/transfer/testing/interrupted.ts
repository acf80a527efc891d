// A run may be done before the wanted moment: the command runs until one was interrupted.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { start } from './command.ts'

type Interrupted = { exitCode: number | null; signalCode: NodeJS.Signals | null; printed: string }

type Attempt = {
  args: readonly string[]
  env?: Record<string, string>
  signal: NodeJS.Signals
  isDue: () => Promise<boolean> | boolean
}

/** Undefined if the command was done before. */
export async function interrupted({
  args,
  env,
  signal,
  isDue,
}: Attempt): Promise<Interrupted | undefined> {
  const child = start(args, env)
  const closed = once(child, 'close')
  const printed = text(child.stderr as NodeJS.ReadableStream)
  while (child.exitCode === null && !(await isDue())) await sleep(1)
  child.kill(signal)
  await closed
  const { exitCode, signalCode } = child
  return exitCode === 0 ? undefined : { exitCode, signalCode, printed: await printed }
}

/** `attempt` begins with new places each time. */
export async function untilInterrupted<Result>(
  attempt: () => Promise<Result | undefined>,
): Promise<Result> {
  for (let tries = 0; tries < 5; tries++) {
    const result = await attempt()
    if (result !== undefined) return result
  }
  return assert.fail('each was done before it was interrupted')
}
