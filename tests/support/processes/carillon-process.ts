// For tests: Carillon as it is run: a real process, started through the launcher, on a folder of its own, with nothing in
// its environment that the test did not put there. `await using` ends it, whatever becomes of the test.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const launcher = fileURLToPath(new URL('../../../server/bin/launch.js', import.meta.url))
/** Against what hangs; a busy machine takes its time. */
const startsWithinMs = 120_000
const endsWithinMs = 120_000

export type Environment = Readonly<Record<string, string>>
export type Ended = { status: number | null; signal: NodeJS.Signals | null }
export type LogLine = { level: number; msg: string; url?: string; [field: string]: unknown }
export type Options = {
  /** Settings beyond the database in the folder and any free port. */
  env?: Environment
  /** Options of Node, such as a module to load first. */
  nodeOptions?: readonly string[]
  /** What stands before the command, such as a program that takes rights away. */
  under?: readonly string[]
  args?: readonly string[]
}

/** A folder that is removed when the block ends which says `using`. */
export class Folder implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'carillon-e2e-'))

  /** The path of something in it. */
  file(name: string): string {
    return join(this.path, name)
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}

/** The first sign-in, which is beside the database when the log says that the service stands. */
export function firstSignInOf(folder: Folder): { username: string; password: string; key: string } {
  const text = firstSignInText(folder)
  const field = (name: string) => new RegExp(`^${name}: (.+)$`, 'm').exec(text)?.[1] ?? ''
  return { username: field('username'), password: field('password'), key: field('key') }
}

/** The file with the first sign-in, whole. */
export function firstSignInText(folder: Folder): string {
  return readFileSync(folder.file('first-sign-in.txt'), 'utf8')
}

/** Whether the first sign-in was left beside the database. */
export function hasFirstSignIn(folder: Folder): boolean {
  return existsSync(folder.file('first-sign-in.txt'))
}

export class CarillonProcess implements AsyncDisposable {
  readonly child: ChildProcess
  /** What it wrote so far. */
  stdout = ''
  stderr = ''
  /** Resolves when it is gone and all that it wrote was read. */
  readonly ended: Promise<Ended>

  /** Starts it; it need not stand yet, nor ever. */
  constructor(folder: Folder, { env = {}, nodeOptions = [], under = [], args = ['serve'] }: Options = {}) {
    const command = [...under, process.execPath, ...nodeOptions, launcher, ...args]
    const [program = '', ...rest] = command
    this.child = spawn(program, rest, {
      cwd: folder.path,
      env: { PATH: process.env.PATH ?? '', ...settingsFor(folder), CARILLON_PORT: '0', ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text
    })
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text
    })
    this.child.stdin?.on('error', () => {}) // it may end without reading
    const { promise, resolve, reject } = Promise.withResolvers<Ended>()
    this.child.on('error', reject)
    this.child.on('close', (status, signal) => resolve({ status, signal }))
    this.ended = promise
  }

  /** Starts it and waits until it stands. Throws with all that it wrote where it does not. */
  static async standing(folder: Folder, options: Options = {}): Promise<CarillonProcess> {
    const running = new CarillonProcess(folder, options)
    await running.stands()
    return running
  }

  async stands(): Promise<void> {
    const giveUpAt = performance.now() + startsWithinMs
    const gone = this.ended.then(() => true)
    while (this.url === '') {
      const isOver = (await Promise.race([gone, sleep(5, false)])) || performance.now() > giveUpAt
      if (isOver && this.url === '') throw new Error(`It does not stand.\n${this.stdout}${this.stderr}`)
    }
  }

  /** Where it answers; empty while it does not stand. */
  get url(): string {
    return this.lines.find(({ msg }) => msg === 'Carillon is listening')?.url ?? ''
  }

  /** The lines of its log. */
  get lines(): LogLine[] {
    const whole = this.stdout.slice(0, this.stdout.lastIndexOf('\n') + 1)
    return whole.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as LogLine] : []))
  }

  /** Sends a signal and waits until it is gone. */
  async end(signal: NodeJS.Signals): Promise<Ended & { afterMs: number }> {
    const sentAt = performance.now()
    this.child.kill(signal)
    return { ...(await this.isGone()), afterMs: performance.now() - sentAt }
  }

  /** Waits until it is gone. Throws where it stays. */
  async isGone(): Promise<Ended> {
    const staying = new AbortController()
    const stays = sleep(endsWithinMs, undefined, { signal: staying.signal }).catch(() => undefined)
    const ended = await Promise.race([this.ended, stays])
    staying.abort()
    if (ended === undefined) throw new Error(`It does not end.\n${this.stdout}${this.stderr}`)
    return ended
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill('SIGKILL')
    await this.ended
  }
}

/** Runs one command to its end. */
export async function carillon(
  folder: Folder,
  args: readonly string[],
  { stdin = '', ...options }: Omit<Options, 'args'> & { stdin?: string } = {},
): Promise<Ended & { stdout: string; stderr: string }> {
  await using running = new CarillonProcess(folder, { ...options, args })
  running.child.stdin?.end(stdin)
  const { status, signal } = await running.isGone()
  return { status, signal, stdout: running.stdout, stderr: running.stderr }
}

function settingsFor(folder: Folder): Environment {
  return { CARILLON_DATABASE_URL: `sqlite:${folder.file('carillon.db')}` }
}
