// Starts a process on its core, sends it requests over IPC and stops it. Server and load run in separate processes, so that
// neither slows the other.
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { coreArguments, type Role } from '../report/machine.ts'

const live = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of live) child.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

/** Kills the process when the bench ends. */
export function endWithBench(child: ChildProcess): void {
  live.add(child)
  child.once('exit', () => live.delete(child))
}

export type Start = {
  /** Arguments for Node: options, script and the script's arguments. */
  args: readonly string[]
  role: Role
  env?: Readonly<Record<string, string>>
  /** File descriptor for standard output and error. If it is left out, only the last lines of standard error are kept. */
  output?: number
}

/** A Node process that responds to requests over IPC, one at a time. */
export class BenchProcess {
  readonly #child: ChildProcess
  /** Rejects when the process ends, with its last lines of standard error. May stay unhandled. */
  readonly death: Promise<never>
  #pending: PromiseWithResolvers<unknown> | undefined
  #earlier: Promise<unknown> = Promise.resolve()

  constructor({ args, role, env = {}, output }: Start) {
    const [command, ...rest] = [...coreArguments(role), process.execPath, ...args] as [string, ...string[]]
    this.#child = spawn(command, rest, {
      env: { ...environment(), ...env },
      stdio: ['ignore', output ?? 'ignore', output ?? 'pipe', 'ipc'],
      serialization: 'advanced',
    })
    endWithBench(this.#child)
    let complaint = ''
    this.#child.stderr?.on('data', (text: Buffer) => {
      complaint = (complaint + text).slice(-4_000)
    })
    this.#child.on('message', (response) => this.#settle(response))
    this.death = new Promise((_, reject) => {
      this.#child.on('exit', (status, signal) => {
        reject(new Error(`${args.join(' ')} ended with ${signal ?? `exit status ${status}`}\n${complaint}`))
      })
    })
    this.death.catch(() => {})
  }

  /** A script of the bench, named from this folder. */
  static of(script: string, role: Role): BenchProcess {
    return new BenchProcess({ args: [fileURLToPath(new URL(script, import.meta.url))], role })
  }

  get pid(): number {
    return this.#child.pid as number
  }

  /** Throws if the process ends first, or if it reports a failure. */
  request<Response>(question: object | 'usage'): Promise<Response> {
    const response = this.#earlier.then(() => {
      this.#pending = Promise.withResolvers<unknown>()
      this.#child.send(question)
      return Promise.race([this.#pending.promise as Promise<Response>, this.death])
    })
    this.#earlier = response.catch(() => {})
    return response
  }

  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    this.#child.kill(signal)
    await this.death.catch(() => {})
  }

  #settle(response: unknown): void {
    const pending = this.#pending
    this.#pending = undefined
    if (typeof response === 'object' && response !== null && 'failure' in response)
      pending?.reject(new Error(String(response.failure)))
    else pending?.resolve(response)
  }
}

/** Without the CARILLON_ and NODE_ variables of this shell: the service has its defaults, except for what a scenario sets. */
export function environment(): NodeJS.ProcessEnv {
  const names = Object.keys(process.env).filter((name) => !name.startsWith('CARILLON_') && !name.startsWith('NODE_'))
  return Object.fromEntries(names.map((name) => [name, process.env[name]]))
}
