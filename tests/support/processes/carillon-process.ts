// A real Carillon process, started by the launcher, in its own folder, with only the environment
// variables that the test gives.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const currentLauncher = fileURLToPath(new URL('../../../server/bin/launch.js', import.meta.url))
/** Limits the wait for a process that hangs; long, since the machine may be busy. */
const startsWithinMs = 120_000
const endsWithinMs = 120_000

export type Environment = Readonly<Record<string, string>>
export type Ended = { status: number | null; signal: NodeJS.Signals | null }
export type LogLine = { level: number; msg: string; url?: string; [field: string]: unknown }
export type Options = {
  /** A database in the folder and a free port are set already. */
  env?: Environment
  /** Node may load a module first by one of these. */
  nodeOptions?: readonly string[]
  /** Runs the command, as a program that drops privileges does. */
  under?: readonly string[]
  args?: readonly string[]
  /** A launcher of another version, if not of this one. */
  launcher?: string
}

/** The end of its `using` block removes the folder. */
export class Folder implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'carillon-e2e-'))

  file(name: string): string {
    return join(this.path, name)
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}

/** The service writes it before the log says that it is listening. */
export function firstSignInOf(folder: Folder): { username: string; password: string; key: string } {
  const text = firstSignInText(folder)
  const field = (name: string) => new RegExp(`^${name}: (.+)$`, 'm').exec(text)?.[1] ?? ''
  return { username: field('username'), password: field('password'), key: field('key') }
}

export function firstSignInText(folder: Folder): string {
  return readFileSync(firstSignInFile(folder), 'utf8')
}

export function hasFirstSignIn(folder: Folder): boolean {
  return existsSync(firstSignInFile(folder))
}

/** It lies beside the SQLite database, or on PostgreSQL in `data`. */
function firstSignInFile(folder: Folder): string {
  const inData = folder.file('data/first-sign-in.txt')
  return existsSync(inData) ? inData : folder.file('first-sign-in.txt')
}

export class CarillonProcess implements AsyncDisposable {
  readonly child: ChildProcess
  stdout = ''
  stderr = ''
  /** The process has ended by then, and all its output was read. */
  readonly ended: Promise<Ended>

  constructor(folder: Folder, options: Options = {}) {
    const {
      env = {},
      nodeOptions = [],
      under = [],
      args = ['serve'],
      launcher = currentLauncher,
    } = options
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

  /** Throws with the output of the process if it does not listen. */
  static async ready(folder: Folder, options: Options = {}): Promise<CarillonProcess> {
    const running = new CarillonProcess(folder, options)
    await running.isReady()
    return running
  }

  async isReady(): Promise<void> {
    const giveUpAt = performance.now() + startsWithinMs
    const gone = this.ended.then(() => true)
    while (this.url === '') {
      const isOver = (await Promise.race([gone, sleep(5, false)])) || performance.now() > giveUpAt
      if (isOver && this.url === '')
        throw new Error(`It does not listen.\n${this.stdout}${this.stderr}`)
    }
  }

  get url(): string {
    return this.lines.find(({ msg }) => msg === 'Carillon is listening')?.url ?? ''
  }

  get lines(): LogLine[] {
    const whole = this.stdout.slice(0, this.stdout.lastIndexOf('\n') + 1)
    return whole
      .split('\n')
      .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as LogLine] : []))
  }

  async end(signal: NodeJS.Signals): Promise<Ended & { afterMs: number }> {
    const sentAt = performance.now()
    this.child.kill(signal)
    return { ...(await this.isGone()), afterMs: performance.now() - sentAt }
  }

  async isGone(): Promise<Ended> {
    const waiting = new AbortController()
    const timeout = sleep(endsWithinMs, undefined, { signal: waiting.signal }).catch(
      () => undefined,
    )
    const ended = await Promise.race([this.ended, timeout])
    waiting.abort()
    if (ended === undefined) throw new Error(`It does not end.\n${this.stdout}${this.stderr}`)
    return ended
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill('SIGKILL')
    await this.ended
  }
}

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

/** Returns what the command prints with `--json`. Throws if it fails. */
export async function carillonJson(
  folder: Folder,
  args: readonly string[],
  options: Parameters<typeof carillon>[2] = {},
) {
  const { status, stdout, stderr } = await carillon(folder, [...args, '--json'], options)
  if (status !== 0) throw new Error(`${args.join(' ')}: ${stderr}`)
  return JSON.parse(stdout)
}

/** Every process has a database in the folder. */
export function settingsFor(folder: Folder): Environment {
  return { CARILLON_DATABASE_URL: `sqlite:${folder.file('carillon.db')}` }
}
