// A second process on the same database runs other-process-main.ts.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { CarillonError, type ErrorCode } from '../../../basics/errors.ts'
import type { Store } from '../../store.ts'
import { nameOf } from '../../store.ts'
import { stubStore } from '../../testing/operations.ts'
import type { Order, Report } from './other-process-main.ts'

const main = fileURLToPath(new URL('./other-process-main.ts', import.meta.url))

type Options = {
  /** Such as a module to load first. */
  nodeOptions?: string[]
  /** In units of `ulimit -f` (512 or 1,024 bytes); stands for a full disk. */
  fileSizeLimit?: number
}

export class OtherProcess implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #pending = new Map<
    number,
    { resolve: (value: unknown) => void; reject: (error: Error) => void }
  >()
  #count = 0

  private constructor(child: ChildProcess) {
    this.#child = child
    child.on('message', ([number, report]: [number, Report]) => this.#settle(number, report))
    child.on('exit', (code, signal) => {
      for (const { reject } of this.#pending.values())
        reject(new Error(`the other process ended: ${signal ?? code}`))
    })
  }

  static async start({ nodeOptions = [], fileSizeLimit }: Options = {}): Promise<OtherProcess> {
    const command = [process.execPath, ...nodeOptions, main]
    const limited = ['sh', '-c', `ulimit -f ${fileSizeLimit} && exec "$@"`, 'sh', ...command]
    const [file = '', ...args] = fileSizeLimit === undefined ? command : limited
    const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const
    const child = spawn(file, args, { stdio: [...stdio], serialization: 'advanced' })
    const [first] = await once(child, 'message')
    assert.equal(first, 'ready')
    return new OtherProcess(child)
  }

  /** Returns the migrations that it applied. */
  open(path: string): Promise<string[]> {
    return this.#send({ act: 'open', path }) as Promise<string[]>
  }

  /** Each operation's name and input go over the channel. */
  get store(): Store {
    const call = (
      method: 'read' | 'write',
      operation: Parameters<typeof nameOf>[0],
      args: unknown[],
    ) => this.#send({ act: 'call', method, operation: nameOf(operation), args })
    return {
      ...stubStore(),
      read: (operation, ...args) => call('read', operation, args) as Promise<never>,
      write: (operation, input) => call('write', operation, [input]) as Promise<never>,
      close: () => this.#send({ act: 'close' }) as Promise<void>,
    }
  }

  /** Keeps the connection open with its locks, as another program would. */
  async run(path: string, sql: string): Promise<void> {
    await this.#send({ act: 'run', path, sql })
  }

  /** If `nodeOptions` loads writer-tap.ts. */
  queryWriter(sql: string): Promise<unknown> {
    return this.#send({ act: 'query writer', sql })
  }

  async openDatabaseUnprivileged(path: string): Promise<void> {
    await this.#send({ act: 'open database unprivileged', path })
  }

  /** Returns the failures that it reported. */
  openAndClose(path: string, rounds: number): Promise<string[]> {
    return this.#send({ act: 'open and close', path, rounds }) as Promise<string[]>
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
  }

  #send(order: Order): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const number = ++this.#count
    this.#pending.set(number, { resolve, reject })
    this.#child.send([number, order], (error) => error && reject(error))
    return promise
  }

  #settle(number: number, report: Report): void {
    const pending = this.#pending.get(number)
    this.#pending.delete(number)
    if (report.ok) pending?.resolve(report.value)
    else pending?.reject(asError(report))
  }
}

function asError({ code, message }: { code: string; message: string }): Error {
  return code === 'not a CarillonError'
    ? new Error(message)
    : new CarillonError(code as ErrorCode, message)
}
