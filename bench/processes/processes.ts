// How does the bench start a process on a core of its own, ask it things and end it? Whatever is measured runs in a
// process that does nothing else, so that neither the server nor the load pays for the other.
import { type ChildProcess, spawn } from 'node:child_process'
import { coreArguments, type Role } from '../report/machine.ts'

const live = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of live) child.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

export type Start = {
  /** What Node is given: options, script and arguments. */
  args: readonly string[]
  role: Role
  env?: Readonly<Record<string, string>>
  /** A command and its arguments that run Node in their turn. */
  under?: readonly string[]
  /** Where standard output and error go: nowhere when it is left out, but for what the process died of. */
  output?: number
}

/** A Node process that answers questions over IPC, one at a time. */
export class Asked {
  readonly #child: ChildProcess
  /** Rejects, with what it last complained of, when the process ends; it may. */
  readonly death: Promise<never>
  #pending: PromiseWithResolvers<unknown> | undefined
  #earlier: Promise<unknown> = Promise.resolve()

  constructor({ args, role, env = {}, under = [], output }: Start) {
    const line = [...coreArguments(role), ...under, process.execPath, ...args]
    const [command, ...rest] = line as [string, ...string[]]
    this.#child = spawn(command, rest, {
      env: { ...environment(), ...env },
      stdio: ['ignore', output ?? 'ignore', output ?? 'pipe', 'ipc'],
      serialization: 'advanced',
    })
    live.add(this.#child)
    let complaint = ''
    this.#child.stderr?.on('data', (text: Buffer) => {
      complaint = (complaint + text).slice(-4_000)
    })
    this.#child.on('message', (answer) => this.#settle(answer))
    this.death = new Promise((_, reject) => {
      this.#child.on('exit', (status, signal) => {
        live.delete(this.#child)
        reject(new Error(`${args.join(' ')} ended with ${signal ?? `exit status ${status}`}\n${complaint}`))
      })
    })
    this.death.catch(() => {})
  }

  get pid(): number {
    return this.#child.pid as number
  }

  /** Throws where the process ended instead of answering, or answers that it failed. */
  ask<Answer>(question: object): Promise<Answer> {
    const answer = this.#earlier.then(() => this.#askNow<Answer>(question))
    this.#earlier = answer.catch(() => {})
    return answer
  }

  #askNow<Answer>(question: object): Promise<Answer> {
    const pending = Promise.withResolvers<unknown>()
    this.#pending = pending
    this.#child.send(question)
    return Promise.race([pending.promise as Promise<Answer>, this.death])
  }

  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    this.#child.kill(signal)
    await this.death.catch(() => {})
  }

  #settle(answer: unknown): void {
    const pending = this.#pending
    this.#pending = undefined
    if (typeof answer === 'object' && answer !== null && 'failure' in answer)
      pending?.reject(new Error(String(answer.failure)))
    else pending?.resolve(answer)
  }
}

/** Without this shell's own settings of Carillon: the service runs as shipped but for what a scenario says. */
function environment(): NodeJS.ProcessEnv {
  const names = Object.keys(process.env).filter((name) => !name.startsWith('CARILLON_') && !name.startsWith('NODE_'))
  return Object.fromEntries(names.map((name) => [name, process.env[name]]))
}
