// Runs test files: prints a line per file, and reports every failure in full. Stricter than `node --test` (which is fine for
// one file): a skipped or todo test, a file without a test and a run without tests fail as well.

import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { relative, resolve } from 'node:path'
import { run } from 'node:test'
import { inspect } from 'node:util'

/**
 * The last line of `report` is `N passed, N failed`. `notes` are the figures that tests reported by `t.diagnostic`.
 */
export type Outcome = { passed: boolean; report: string; notes?: readonly string[] }

type Place = { file?: string | undefined; line?: number | undefined }

/**
 * In the process of a test file: while this process is busy, what a test reports waits in the pipe. Node would write the rest later, and
 * `forceExit` ends the process before it has.
 */
const writeAtOnce = 'data:text/javascript,process.stdout._handle?.setBlocking?.(true)'

/** Ends a test after `perTestMs`, the run after `allMs`, and a file after its last test even if it holds something open. */
export function runTests(plan: { pattern: string; perTestMs: number; allMs: number }): Promise<Outcome> {
  const faults: string[] = []
  const faulty = new Set<string>()
  const printed = new Map<string, string>()
  let passed = 0

  const blame = (name: string, { file = '', line = 1 }: Place, reason: string) => {
    faulty.add(file)
    faults.push(`✖ ${name}\n  ${display(file)}:${line}\n  ${reason.replaceAll('\n', '\n  ')}`)
  }
  const keep = ({ file, message }: { file: string; message: string }) => {
    printed.set(file, (printed.get(file) ?? '') + message)
  }

  const files = filesThatMatch(plan.pattern)
  const unreported = new Set(files)
  const tests = run({
    files,
    execArgv: ['--import', writeAtOnce],
    concurrency: availableParallelism(),
    timeout: plan.perTestMs,
    signal: AbortSignal.timeout(plan.allMs),
    forceExit: true,
  })
  tests.on('test:stdout', keep)
  tests.on('test:stderr', keep)
  // For example a random seed, or an error after the end of a test (for which Node fails the file).
  const notes: string[] = []
  tests.on('test:diagnostic', ({ file, message, level }) => {
    if (!file) return
    keep({ file, message: `${message}\n` })
    if (level === 'info') notes.push(`${display(file)}: ${message}`)
  })
  tests.on('test:pass', (test) => {
    if (test.skip !== undefined || test.todo !== undefined)
      blame(test.name, test, 'Did not run. No test may be skipped.')
    else if (test.name === test.file) blame('a file without a test', test, 'Write one, or remove the file.')
    else if (test.details.type !== 'suite') passed += 1
  })
  tests.on('test:fail', (test) => {
    const { error } = test.details
    const isReportedBySubtests = 'failureType' in error && error.failureType === 'subtestsFailed'
    if (!isReportedBySubtests) blame(test.name, test, explain(error.cause ?? error))
  })

  return new Promise((done) => {
    tests.on('test:summary', ({ file, duration_ms, success }) => {
      if (file !== undefined) {
        unreported.delete(file)
        return console.log(`  ${display(file)} (${duration_ms.toFixed(0)} ms)`)
      }
      for (const name of unreported)
        if (!faulty.has(name))
          blame('a file that did not report its end', { file: name }, 'Some of its tests may not have run.')
      const words = [...faulty]
        .filter((name) => printed.has(name))
        .map((name) => `${display(name)} printed:\n${printed.get(name)}`)
      const report = [...faults, ...words, `${passed} passed, ${faults.length} failed`].join('\n\n')
      done({ passed: success && faults.length === 0 && passed > 0, report, notes })
    })
  })
}

/** A test that failed, and whose `using` then failed as well, is a SuppressedError: `inspect` leaves out both reasons. */
function explain(error: unknown): string {
  if (!(error instanceof Error && 'suppressed' in error && 'error' in error)) return inspect(error)
  return `${explain(error.suppressed)}\nThen, as what the test used was ended:\n${explain(error.error)}`
}

function filesThatMatch(pattern: string): string[] {
  const found = globSync(pattern, { exclude: (name) => name === 'node_modules' })
  return found.map((file) => resolve(file)).sort()
}

function display(file: string): string {
  return relative('.', file)
}
