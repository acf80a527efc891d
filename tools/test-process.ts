// A process of run-tests.ts: runs each test file that its parent sends, as if it were alone, until the name is empty, and sends to its parent
// what they report. Files of one process share the modules that are loaded, which saves most of the processor time of a short file.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { inspect } from 'node:util'

/** `end` is the last message of a file. */
export type Message =
  | { kind: 'fault'; name: string; file: string; line: number; reason: string }
  | { kind: 'note'; file: string; text: string; isInfo: boolean }
  | { kind: 'end'; file: string; passed: number; ms: number }

/** Node ends a run if nothing is open any more, which a test may leave open. A module that Node loads after the test file ends it then. */
const endOf = (file: number) => `import { after } from 'node:test'
process.emit('loaded ${file}')
after(() => process.emit('end of ${file}'))`

const [timeout] = process.argv.slice(2)
const ends = mkdtempSync(join(tmpdir(), 'carillon-tests-'))
process.on('exit', () => rmSync(ends, { recursive: true }))
let filesRun = 0
// A listener keeps the process alive, so a file that waits for nothing would not end.
const next = () =>
  process.once('message', async (file: string) => {
    if (file === '') process.exit()
    await runFile(file, Number(timeout))
    if (!process.connected) process.exit()
    next()
  })
next()

async function runFile(file: string, perTestMs: number): Promise<void> {
  const startedAt = performance.now()
  let passed = 0
  let faults = 0
  let isOver = false
  const late: string[] = []
  const blame = (
    name: string,
    place: { file?: string | undefined; line?: number | undefined },
    reason: string,
  ) => {
    faults += 1
    void send({ kind: 'fault', name, file: place.file ?? file, line: place.line ?? 1, reason })
  }
  const number = ++filesRun
  const end = join(ends, `${number}.mjs`)
  writeFileSync(end, endOf(number))
  const endRun = async () => {
    // An error that a test leaves behind fails the file.
    await turn()
    // Not during the next file.
    if (!isOver) process.emit('beforeExit', 0)
  }
  process.once(`end of ${number}`, endRun)
  // Or Node ends the run while the file waits, before its first test, for something that does not keep the process alive.
  const held = setInterval(() => {}, 60_000)
  process.once(`loaded ${number}`, () => clearInterval(held))
  const tests = run({ files: [file, end], isolation: 'none', timeout: perTestMs })
  tests.on('test:diagnostic', ({ message, level, file: place }) => {
    // An error after the end of a test has no place; nor do Node's counts at the end.
    if (place === undefined) late.push(message)
    else void send({ kind: 'note', file, text: message, isInfo: level === 'info' })
  })
  tests.on('test:pass', (test) => {
    if (test.skip !== undefined || test.todo !== undefined)
      blame(test.name, test, 'Did not run. No test may be skipped.')
    else if (test.name === file)
      blame('a file without a test', test, 'Write one, or remove the file.')
    else if (test.name === end) return
    else if (test.details.type !== 'suite') passed += 1
  })
  tests.on('test:fail', (test) => {
    const { error } = test.details
    const isReportedBySubtests = 'failureType' in error && error.failureType === 'subtestsFailed'
    if (!isReportedBySubtests) blame(test.name, test, explain(error.cause ?? error))
    // An `after` of the file has failed, so Node calls no further one.
    if (test.nesting === 0 && 'failureType' in error && error.failureType === 'hookFailed')
      process.emit(`end of ${number}`)
  })
  tests.on('test:summary', ({ success, file: place }) => {
    if (place === undefined && !success && faults === 0)
      blame('a file that failed', {}, late.join('\n'))
  })
  for await (const _ of tests);
  clearInterval(held)
  isOver = true
  process.off(`end of ${number}`, endRun)
  await send({ kind: 'end', file, passed, ms: performance.now() - startedAt })
}

/** A test that failed, and whose `using` then failed as well, is a SuppressedError: `inspect` leaves out both reasons. */
function explain(error: unknown): string {
  if (!(error instanceof Error && 'suppressed' in error && 'error' in error)) return inspect(error)
  return `${explain(error.suppressed)}\nThen, as what the test used was ended:\n${explain(error.error)}`
}

function send(message: Message): Promise<void> {
  return new Promise((sent) => process.send?.(message, () => sent()))
}
