// For tests: a real process of its own with the same database, told what to do over a channel. What it runs is
// other-process-main.ts.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { CarillonError, type ErrorCode } from '../../../errors.ts'
import type { Store } from '../../store.ts'
import type { Order, Report } from './other-process-main.ts'

const main = fileURLToPath(new URL('./other-process-main.ts', import.meta.url))

type Options = {
  /** Node's own options, such as a module to load first. */
  nodeOptions?: string[]
  /** The most that any file of its may hold, in units of `ulimit -f` (512 or 1,024 bytes): its disk is full then. */
  fileSizeLimit?: number
}

/** Ends with the block that says `await using`. */
export class OtherProcess implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #asked = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>()
  #count = 0

  private constructor(child: ChildProcess) {
    this.#child = child
    child.on('message', ([number, report]: [number, Report]) => this.#answer(number, report))
    child.on('exit', (code, signal) => {
      for (const { reject } of this.#asked.values()) reject(new Error(`the other process ended: ${signal ?? code}`))
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

  /** Opens the store at `path` and answers the migrations that it applied. */
  open(path: string): Promise<string[]> {
    return this.#ask({ act: 'open', path }) as Promise<string[]>
  }

  /** The other process's store, as far as calls and answers go. */
  get store(): Store {
    const call = (method: keyof Store, args: unknown[]) => this.#ask({ act: 'call', method, args })
    return new Proxy({} as Store, {
      // Not a promise: `await` asks everything for `then`.
      get: (_, method) => (method === 'then' ? undefined : (...args: unknown[]) => call(method as keyof Store, args)),
    })
  }

  /** Runs SQL on a connection past every store, as another program would, and keeps it open with its locks. */
  async run(path: string, sql: string): Promise<void> {
    await this.#ask({ act: 'run', path, sql })
  }

  /** Asks the writer thread's own connection, where writer-tap.ts is loaded with `nodeOptions`. */
  askWriter(sql: string): Promise<unknown> {
    return this.#ask({ act: 'ask writer', sql })
  }

  async openDatabaseAsNobody(path: string): Promise<void> {
    await this.#ask({ act: 'open database as nobody', path })
  }

  /** Opens a store and closes it, so many times; answers why the store said that it had failed. */
  openAndClose(path: string, rounds: number): Promise<string[]> {
    return this.#ask({ act: 'open and close', path, rounds }) as Promise<string[]>
  }

  /** Ends it as `kill -9` does. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
  }

  #ask(order: Order): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const number = ++this.#count
    this.#asked.set(number, { resolve, reject })
    this.#child.send([number, order], (error) => error && reject(error))
    return promise
  }

  #answer(number: number, report: Report): void {
    const asked = this.#asked.get(number)
    this.#asked.delete(number)
    if (report.ok) asked?.resolve(report.value)
    else asked?.reject(asError(report))
  }
}

function asError({ code, message }: { code: string; message: string }): Error {
  return code === 'not a CarillonError' ? new Error(message) : new CarillonError(code as ErrorCode, message)
}
