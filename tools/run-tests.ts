// Runs test files: prints a line per file, and reports every failure in full. Stricter than `node --test` (which is fine for
// one file): a skipped or todo test, a file without a test and a run without tests fail as well.

import { fork } from 'node:child_process'
import { availableParallelism, tmpdir } from 'node:os'
import { join, relative, resolve, sep } from 'node:path'
import type { Message } from './test-process.ts'

/**
 * The last line of `report` is `N passed, N failed`. `notes` are the figures that tests reported by `t.diagnostic`.
 */
export type Outcome = { passed: boolean; report: string; notes?: readonly string[] }

const testProcess = new URL('./test-process.ts', import.meta.url)
const filesPerProcess = 8
/** Most tests wait most of the time, for a connection, a process or a timer. */
const processesPerCore = 2
const slowestShown = 10

type Plan = { files: readonly string[]; perTestMs: number; allMs: number }

/** Ends a test after `perTestMs`, the run after `allMs`, and a file after its last test even if it holds something open. */
export async function runTests({ files, perTestMs, allMs }: Plan): Promise<Outcome> {
  const run = new Run(perTestMs, AbortSignal.timeout(allMs))
  const waiting = batchesOf(files)
  const processes = Array.from({ length: availableParallelism() * processesPerCore }, async () => {
    for (let batch = waiting.shift(); batch; batch = waiting.shift()) await run.files(batch)
  })
  await Promise.all(processes)
  return run.outcome()
}

/** Collects what all processes report. */
class Run {
  readonly #perTestMs: number
  readonly #end: AbortSignal
  readonly #faults: string[] = []
  readonly #printed: string[] = []
  readonly #notes: string[] = []
  readonly #times: { file: string; ms: number }[] = []
  #passed = 0

  constructor(perTestMs: number, end: AbortSignal) {
    this.#perTestMs = perTestMs
    this.#end = end
  }

  /** Runs these files one after the other in one process, and those after a file that ends the process in a further one. */
  async files(batch: readonly string[]): Promise<void> {
    const left = [...batch]
    while (left.length > 0) {
      await this.#process(left)
      const [lost] = left
      if (lost === undefined) return
      this.#blame('a file that did not report its end', lost, 1, 'Some of its tests may not have run.')
      left.shift()
    }
  }

  /** Removes from `left` each file that has reported its end. */
  async #process(left: string[]): Promise<void> {
    const compileCache = join(tmpdir(), `carillon-compile-cache-${process.getuid?.()}`)
    const child = fork(testProcess, [String(this.#perTestMs), ...left], {
      env: { NODE_COMPILE_CACHE: compileCache, ...process.env, NODE_TEST_CONTEXT: undefined },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    const end = () => child.kill('SIGKILL')
    // Longer than the limit of a test, which the process itself applies unless it hangs.
    let limit = setTimeout(end, this.#perTestMs * 2)
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
      const file = left[0] ?? ''
      if (message.kind === 'fault') this.#blame(message.name, message.file, message.line, message.reason)
      // For example a random seed.
      if (message.kind === 'note') keep(`${message.text}\n`)
      if (message.kind === 'note' && message.isInfo) this.#notes.push(`${display(file)}: ${message.text}`)
      if (message.kind !== 'end') return
      this.#ended(left.shift() ?? '', message)
      clearTimeout(limit)
      limit = setTimeout(end, this.#perTestMs * 2)
    })
    await new Promise((closed) => child.once('close', closed))
    clearTimeout(limit)
    this.#end.removeEventListener('abort', end)
    if (words !== '' && (this.#faults.length > faultsBefore || left.length > 0))
      this.#printed.push(`The process of these tests printed:\n${words}`)
  }

  #ended(file: string, { passed, ms }: { passed: number; ms: number }): void {
    this.#passed += passed
    this.#times.push({ file, ms })
    console.log(`  ${display(file)} (${ms.toFixed(0)} ms)`)
  }

  #blame(name: string, file: string, line: number, reason: string): void {
    console.log(`✖ ${name} (${display(file)}:${line})`)
    this.#faults.push(`✖ ${name}\n  ${display(file)}:${line}\n  ${reason.replaceAll('\n', '\n  ')}`)
  }

  outcome(): Outcome {
    const slowest = this.#times.sort((one, other) => other.ms - one.ms).slice(0, slowestShown)
    const shown = slowest.map(({ file, ms }) => `  ${(ms / 1000).toFixed(1).padStart(6)} s  ${display(file)}`)
    const report = [...this.#faults, ...this.#printed]
    if (this.#times.length > slowestShown) report.push(`The slowest files:\n${shown.join('\n')}`)
    report.push(`${this.#passed} passed, ${this.#faults.length} failed`)
    const passed = this.#faults.length === 0 && this.#passed > 0
    return { passed, report: report.join('\n\n'), notes: this.#notes }
  }
}

/**
 * Files of one folder, or of neighbouring ones, share a process below tests/api and server: each starts a service or a store of its own. The
 * others run alone. Those of tests/e2e begin, because they take the longest, and the shared processes of tests/api end, because none takes
 * long: so no core waits at the end.
 */
function batchesOf(files: readonly string[]): string[][] {
  const batches: string[][] = []
  for (const file of files.map((name) => resolve(name)).sort()) {
    const last = batches.at(-1)
    const isShared = /^(?:tests.api|server)\b/.test(display(file)) && roomOf(last?.[0] ?? '') === roomOf(file)
    if (last && last.length < filesPerProcess && isShared) last.push(file)
    else batches.push([file])
  }
  const order = [join('tests', 'e2e'), '', 'server', join('tests', 'api')]
  const turnOf = ([file = '']: string[]) => order.findLastIndex((folder) => display(file).startsWith(folder))
  return batches.sort((one, other) => turnOf(one) - turnOf(other))
}

/** The first two folders of its path. */
function roomOf(file: string): string {
  return display(file).split(sep).slice(0, -1).slice(0, 2).join(sep)
}

function display(file: string): string {
  return relative('.', file)
}
