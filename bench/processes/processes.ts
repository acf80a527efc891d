// Starts a process on its core, sends it requests over IPC and stops it. Server and load run in separate processes, so that
// neither slows the other.
import { type ChildProcess, spawn } from 'node:child_process'
import { coreArguments, type Role } from '../report/machine.ts'
import type { Bench } from '../report/scenario.ts'

const live = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of live) child.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

type Start = {
  command: readonly string[]
  role: Role
  cwd?: string
  env?: Readonly<Record<string, string>>
  /** File descriptor for standard output and error. If it is left out, only the last lines of standard error are kept. */
  output?: number
  /** Whether it responds to requests over IPC (respond.ts). */
  responds?: boolean
}

/** Responds to requests over IPC one after another. Stops with the scenario. */
export class BenchProcess {
  readonly #child: ChildProcess
  /** Rejects when the process ends, with its last lines of standard error. May stay unhandled. */
  readonly death: Promise<never>
  readonly #pending: PromiseWithResolvers<unknown>[] = []

  constructor(
    bench: Pick<Bench, 'onEnd'>,
    { command, role, cwd, env, output, responds = true }: Start,
  ) {
    const [program, ...args] = [...coreArguments(role), ...command] as [string, ...string[]]
    this.#child = spawn(program, args, {
      ...(cwd !== undefined && { cwd }),
      env: { ...environment(), ...env },
      stdio: [
        'ignore',
        output ?? 'ignore',
        output ?? 'pipe',
        ...(responds ? (['ipc'] as const) : []),
      ],
      serialization: 'advanced',
    })
    live.add(this.#child)
    bench.onEnd(() => this.stop())
    let complaint = ''
    this.#child.stderr?.on('data', (text: Buffer) => {
      complaint = (complaint + text).slice(-4_000)
    })
    this.#child.on('message', (response) => this.#pending.shift()?.resolve(response))
    this.death = new Promise((_, reject) => {
      this.#child.on('exit', (status, signal) => {
        live.delete(this.#child)
        reject(
          new Error(
            `${command.join(' ')} ended with ${signal ?? `exit status ${status}`}\n${complaint}`,
          ),
        )
      })
    })
    this.death.catch(() => {})
  }

  /** A script of the bench. */
  static of(bench: Bench, script: string, role: Role): BenchProcess {
    return new BenchProcess(bench, { command: [process.execPath, script], role })
  }

  get pid(): number {
    return this.#child.pid as number
  }

  /** Throws if the process ends first, as it does if it fails. */
  request<Response>(question: object | 'usage'): Promise<Response> {
    const pending = Promise.withResolvers<unknown>()
    this.#pending.push(pending)
    this.#child.send(question)
    return Promise.race([pending.promise as Promise<Response>, this.death])
  }

  async stop(): Promise<void> {
    this.#child.kill()
    await this.death.catch(() => {})
  }
}

/** Without the CARILLON_ and NODE_ variables of this shell: the service has its defaults, except for what a scenario sets. */
export function environment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(CARILLON|NODE)_/.test(name)),
  )
}
