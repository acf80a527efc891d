// Runs commands one after the other in one process, because the start of a process takes most of
// the processor time of a command. What a process does on its own (signals, the launcher, a
// terminal) needs `carillon`.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { type Ended, type Environment, type Folder, settingsFor } from './carillon-process.ts'

export type Order = { cwd: string; env: Environment; args: readonly string[]; stdin: string }
export type Run = Pick<Ended, 'status'> & { stdout: string; stderr: string }

export class CommandLine implements AsyncDisposable {
  readonly #child: ChildProcess
  #last: Promise<unknown> = Promise.resolve()

  constructor() {
    this.#child = fork(new URL('./run-commands.ts', import.meta.url), {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
  }

  /** Waits for the commands that were called before. */
  run(
    folder: Folder,
    args: readonly string[],
    { env = {}, stdin = '' }: { env?: Environment; stdin?: string } = {},
  ): Promise<Run> {
    const order: Order = { cwd: folder.path, env: { ...settingsFor(folder), ...env }, args, stdin }
    const run = this.#last.then(async () => {
      const over = new AbortController()
      const ended = once(this.#child, 'exit', { signal: over.signal }).then(() => {
        throw new Error(`The process ended by the command ${args.join(' ')}`)
      })
      const answer = once(this.#child, 'message', { signal: over.signal })
      this.#child.send(order)
      try {
        const [received] = await Promise.race([answer, ended])
        return received as Run
      } finally {
        over.abort()
        await Promise.allSettled([answer, ended])
      }
    })
    this.#last = run.catch(() => {})
    return run
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null) return
    this.#child.kill()
    await once(this.#child, 'exit')
  }
}
