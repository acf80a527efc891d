import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Outcome, Part } from './run-tests.ts'

const start = `import { test } from 'node:test'\n`

test('passes if every test passed, and reports how many', () => {
  const { passed, report } = runOn(`${start} test('one', () => {}); test('two', () => {})`)
  assert.equal(passed, true)
  assert.equal(report, '2 passed, 0 failed')
})

for (const [name, text] of [
  ['a test that fails', `${start} test('x', () => { throw new Error('broken') })`],
  ['a skipped test', `${start} test('x', { skip: true }, () => {})`],
  ['a test left to do', `${start} test('x', { todo: true }, () => {})`],
  [
    'a test that never ends',
    `${start} test('x', () => new Promise(() => setInterval(() => {}, 1000)))`,
  ],
  [
    'an error after a test has ended, while others run',
    `${start} test('x', () => { setTimeout(() => { throw new Error('late') }) })
     test('y', () => new Promise((done) => setTimeout(done, 50)))`,
  ],
  ['a file that ends during a test', `${start} test('x', () => { process.exit(0) })`],
  ['a file without a test', ''],
  ['a file that cannot be loaded', `import './absent.ts'`],
] as const) {
  test(`reports ${name}, next to a test that passes`, () => {
    const { passed, report } = runOn(`${start} test('good', () => {})`, text)
    assert.equal(passed, false)
    assert.match(report, /✖ .+\n {2}second\.test\.ts:\d/)
    assert.match(report.split('\n').at(-1) ?? '', /^[1-3] passed, 1 failed$/)
  })
}

test('reports both errors of a test that failed before the end of what it used failed', () => {
  const use = `await using used = { async [Symbol.asyncDispose]() { throw new Error('not ended') } }`
  const { report } = runOn(
    `${start} test('x', async () => { ${use}; throw new Error('not right') })`,
  )
  assert.match(
    report,
    /Error: not right.+Then, as what the test used was ended:\s+Error: not ended/s,
  )
})

const busy = 'setTimeout(() => { const end = Date.now() + 3_000; while (Date.now() < end); }, 100)'
const many = `${start} for (let n = 0; n < 1_000; n++) test(String(n), () => {})`

test('counts every test of a file that ends while the runner is busy', () => {
  assert.equal(runBeside({ code: busy }, many).report, '1000 passed, 0 failed')
})

test('reports a file of which the end is lost', () => {
  const stopReporting = 'setTimeout(() => { process.send = () => true; done() }, 50)'
  const { passed, report } = runOn(
    `${start} test('x', () => {}); test('y', (t, done) => { ${stopReporting} })`,
  )
  assert.equal(passed, false)
  assert.match(report, /✖ a file that did not report its end\n {2}first\.test\.ts/)
})

test('fails if there is no test to run', () => {
  assert.deepEqual(runOn(), { passed: false, report: '0 passed, 0 failed', notes: [] })
})

test('ends a file that still has a timer after its tests', () => {
  const { report } = runOn(`${start} test('one', () => { setInterval(() => {}, 1000) })`)
  assert.equal(report, '1 passed, 0 failed')
})

test('runs files again with the environment variables of the second part, and names it', () => {
  const again = { files: ['first.test.ts'], env: { PART: 'second' }, mark: ' (second part)' }
  const { report } = runBeside(
    { again },
    `${start} test('x', () => { if (process.env.PART) throw new Error(process.env.PART) })`,
  )
  assert.match(report, /✖ x \(second part\)\n {2}first\.test\.ts:\d.+Error: second/s)
  assert.match(report, /1 passed, 1 failed$/)
})

/** The process has no environment variable that marks it as a test. */
function runOn(...texts: string[]): Outcome {
  return runBeside({}, ...texts)
}

/** `code` runs first in the process of the runner. */
function runBeside(
  { code = '', again }: { code?: string; again?: Part },
  ...texts: string[]
): Outcome {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-run-tests-'))
  try {
    for (const [i, text] of texts.entries())
      writeFileSync(join(folder, `${['first', 'second'][i]}.test.ts`), text)
    const program = new URL('./run-tests.ts', import.meta.url).href
    writeFileSync(
      join(folder, 'run.ts'),
      `import { globSync, writeFileSync } from 'node:fs'
       import { runTests } from '${program}'
       ${code}
       const again = ${JSON.stringify(again)}
       const plan = { files: globSync('*.test.ts'), again, perTestMs: 4000, allMs: 60000 }
       const outcome = await runTests(plan)
       writeFileSync('outcome.json', JSON.stringify(outcome))`,
    )
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const { stdout, stderr } = spawnSync(process.execPath, ['run.ts'], {
      cwd: folder,
      env,
      encoding: 'utf8',
    })
    assert.ok(existsSync(join(folder, 'outcome.json')), stdout + stderr)
    return JSON.parse(readFileSync(join(folder, 'outcome.json'), 'utf8'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
