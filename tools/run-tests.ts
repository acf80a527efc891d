// Runs test files: prints a line per file, and reports every failure in full. Stricter than `node --test` (which is fine for
// one file): a skipped or todo test, a file without a test and a run without tests fail as well.
import { fork } from 'node:child_process'
import { availableParallelism, tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import type { Message } from './test-process.ts'

/** The last line of `report` is `N passed, N failed`. `notes` are the figures that tests reported by `t.diagnostic`. */
export type Outcome = { passed: boolean; report: string; notes?: readonly string[] }

const testProcess = new URL('./test-process.ts', import.meta.url)
/** Files of one process share the modules that are loaded. What a file leaves behind, such as memory, ends with the process. */
const filesPerProcess = 24
/** Most tests wait most of the time, for a connection, a process or a timer. */
const processesPerCore = 3
const slowestShown = 10

/** The processes of these files get these environment variables. The report writes `mark` behind the files' names. */
export type Part = { files: readonly string[]; env: NodeJS.ProcessEnv; mark: string }
type Queue = { waiting: string[]; env: NodeJS.ProcessEnv; mark: string }
type Plan = { files: readonly string[]; again?: Part | undefined; perTestMs: number; allMs: number }

/**
 * Ends a test after `perTestMs`, the run after `allMs`, and a file after its last test even if it holds something open. `again` follows
 * `files` as soon as a process has no more of them, so that no core waits for the last ones.
 */
export async function runTests({ files, again, perTestMs, allMs }: Plan): Promise<Outcome> {
  const run = new Run(perTestMs, AbortSignal.timeout(allMs))
  const parts: Part[] = [{ files, env: {}, mark: '' }]
  if (again !== undefined) parts.push(again)
  const queues = parts.map(({ files: ofPart, ...part }) => ({ ...part, waiting: inOrder(ofPart) }))
  const count = parts.reduce((sum, part) => sum + part.files.length, 0)
  const processes = Math.min(availableParallelism() * processesPerCore, count)
  await Promise.all(Array.from({ length: processes }, () => run.files(queues)))
  return run.outcome()
}

/** Collects what all processes report. */
class Run {
  readonly #perTestMs: number
  readonly #end: AbortSignal
  readonly #faults: string[] = []
  readonly #printed: string[] = []
  readonly #notes: string[] = []
  readonly #times: { name: string; ms: number }[] = []
  #passed = 0

  constructor(perTestMs: number, end: AbortSignal) {
    this.#perTestMs = perTestMs
    this.#end = end
  }

  /** Takes one file after the other from the first queue, until it is empty, and then from the next one. */
  async files(queues: readonly Queue[]): Promise<void> {
    for (const queue of queues)
      while (queue.waiting.length > 0) {
        const lost = await this.#process(queue)
        if (lost !== undefined)
          this.#blame(
            `a file that did not report its end${queue.mark}`,
            lost,
            1,
            'Some of its tests may not have run.',
          )
      }
  }

  /** Runs files in one process. Returns the one in which it ended. */
  async #process({ waiting, env, mark }: Queue): Promise<string | undefined> {
    const compileCache = join(tmpdir(), `carillon-compile-cache-${process.getuid?.()}`)
    const child = fork(testProcess, [String(this.#perTestMs)], {
      env: {
        NODE_COMPILE_CACHE: compileCache,
        ...process.env,
        ...env,
        NODE_TEST_CONTEXT: undefined,
      },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    let started = 0
    let file: string | undefined
    const next = () => {
      file = started++ < filesPerProcess ? waiting.shift() : undefined
      child.send(file ?? '', () => {})
    }
    next()
    const end = () => child.kill('SIGKILL')
    // Longer than the limit of a test, which the process itself applies unless it hangs.
    const limit = setTimeout(end, this.#perTestMs * 2)
    this.#end.addEventListener('abort', end)
    if (this.#end.aborted) end()
    let words = ''
    const keep = (text: Buffer | string) => {
      words += text
    }
    child.stdout?.on('data', keep)
    child.stderr?.on('data', keep)
    const faultsBefore = this.#faults.length
    child.on('message', (message: Message) => {
      if (message.kind === 'fault')
        this.#blame(message.name + mark, message.file, message.line, message.reason)
      // For example a random seed.
      if (message.kind === 'note') keep(`${message.text}\n`)
      if (message.kind === 'note' && message.isInfo)
        this.#notes.push(`${display(message.file)}${mark}: ${message.text}`)
      if (message.kind !== 'end') return
      this.#passed += message.passed
      const name = display(message.file) + mark
      this.#times.push({ name, ms: message.ms })
      console.log(`  ${name} (${message.ms.toFixed(0)} ms)`)
      limit.refresh()
      next()
    })
    await new Promise((closed) => child.once('close', closed))
    clearTimeout(limit)
    this.#end.removeEventListener('abort', end)
    if (words !== '' && (this.#faults.length > faultsBefore || file !== undefined))
      this.#printed.push(`The process of these tests printed:\n${words}`)
    return file
  }

  #blame(name: string, file: string, line: number, reason: string): void {
    console.log(`✖ ${name} (${display(file)}:${line})`)
    this.#faults.push(`✖ ${name}\n  ${display(file)}:${line}\n  ${reason.replaceAll('\n', '\n  ')}`)
  }

  outcome(): Outcome {
    const slowest = this.#times.sort((one, other) => other.ms - one.ms).slice(0, slowestShown)
    const shown = slowest.map(
      ({ name, ms }) => `  ${(ms / 1000).toFixed(1).padStart(6)} s  ${name}`,
    )
    const report = [...this.#faults, ...this.#printed]
    if (this.#times.length > slowestShown) report.push(`The slowest files:\n${shown.join('\n')}`)
    report.push(`${this.#passed} passed, ${this.#faults.length} failed`)
    return {
      passed: this.#faults.length === 0 && this.#passed > 0,
      report: report.join('\n\n'),
      notes: this.#notes,
    }
  }
}

const longestFile = join('server', 'store', 'postgres', 'store.test.ts')

/**
 * The longest file and those of tests/e2e begin, because they take long, and those of tests/api end, because none takes long: so no core waits
 * at the end.
 */
function inOrder(files: readonly string[]): string[] {
  const order = [join('tests', 'e2e'), '', 'server', join('tests', 'api')]
  const turnOf = (file: string) => {
    if (display(file) === longestFile) return -1
    return order.findLastIndex((folder) => display(file).startsWith(folder))
  }
  const all = files.map((name) => resolve(name)).sort()
  return all.sort((one, other) => turnOf(one) - turnOf(other))
}

const display = (file: string) => relative('.', file)
