// The steps of `npm test`, for developers and CI, and of `npm run soak`. Each step prints its name, its time and its report. The
// first one that fails ends the run.

import { spawnSync } from 'node:child_process'
import { globSync, writeFileSync } from 'node:fs'
import { cpus, release, totalmem, type } from 'node:os'
import { PostgresServer, sharedPort } from '../tests/support/postgres.ts'
import { type Outcome, runTests } from './run-tests.ts'

type Step = { name: string; run: () => Outcome | Promise<Outcome> }

const minute = 60_000
const everyTest = '**/*.test.ts'
const httpSuite = 'tests/api/**/*.test.ts'
const outsideOfPackages = { exclude: (name: string) => name === 'node_modules' }

/** Time limits for tests that hang. A busy machine takes ten times as long as an idle one. */
const limits = { perTestMs: 20 * minute, allMs: 120 * minute }

const lists: Record<string, Step[]> = {
  test: [
    { name: 'the scripts that the service serves', run: () => command('element/build.js') },
    { name: 'the bundle of the service', run: () => command('tools/bundle.js') },
    { name: 'types', run: () => command('node_modules/typescript/bin/tsc') },
    { name: 'lint', run: () => command('node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings') },
    { name: 'tests', run: () => runTests({ files: globSync(everyTest, outsideOfPackages), ...limits }) },
    {
      name: 'the HTTP suite again, on PostgreSQL and through the client',
      run: () => onPostgresThroughClient(() => runTests({ files: globSync(httpSuite), ...limits })),
    },
  ],
  soak: [
    { name: 'the scripts that the service serves', run: () => command('element/build.js') },
    { name: 'the bundle of the service', run: () => command('tools/bundle.js') },
    { name: 'soak', run: soak },
    { name: 'mutations', run: () => command('tools/mutate/mutate.ts') },
  ],
}

// All test files share one PostgreSQL server.
const postgres = await PostgresServer.start()
process.env[sharedPort] = String(postgres.port)
const list = process.argv[2] ?? 'test'
process.exitCode = (await allPass(lists[list] ?? [])) ? 0 : 1
await postgres.remove()

async function allPass(steps: Step[]): Promise<boolean> {
  for (const { name, run } of steps) {
    const startedAt = performance.now()
    const { passed, report } = await run()
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
    console.log(`${passed ? '✔' : '✖'} ${name} (${seconds} s)`)
    if (report) console.log(report)
    if (!passed) return false
  }
  return steps.length > 0
}

/** On PostgreSQL, with requests sent by the typed client if it has a method for them (tests/support/http/through-client.ts). */
async function onPostgresThroughClient(run: () => Promise<Outcome>): Promise<Outcome> {
  process.env.TEST_ENGINE = 'postgres'
  process.env.TEST_CLIENT = '1'
  const outcome = await run()
  delete process.env.TEST_ENGINE
  delete process.env.TEST_CLIENT
  return outcome
}

/** The same tests with their full counts (SOAK=1). The result is written to docs/soak.md. */
async function soak(): Promise<Outcome> {
  process.env.SOAK = '1'
  const startedAt = Date.now()
  const soakLimits = { perTestMs: 60 * minute, allMs: 360 * minute }
  const outcome = await runTests({ files: globSync(everyTest, outsideOfPackages), ...soakLimits })
  const again = await onPostgresThroughClient(() => runTests({ files: globSync(httpSuite), ...soakLimits }))
  const [cpu] = cpus()
  const minutes = ((Date.now() - startedAt) / minute).toFixed(1)
  const page = [
    '# The last soak',
    '',
    '`npm run soak` runs every test with its full counts and writes this page.',
    '',
    `- ${new Date(startedAt).toISOString().slice(0, 10)}, ${minutes} minutes, Node ${process.versions.node}, SQLite ${process.versions.sqlite}`,
    `- ${cpu?.model.trim()}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, ${type()} ${release()}`,
    `- ${outcome.report.split('\n').at(-1)}; the HTTP suite again, on PostgreSQL and through the client: ${again.report.split('\n').at(-1)}`,
    '',
    '```text',
    ...(outcome.notes ?? []),
    ...(again.notes ?? []).map((note) => `${note} (PostgreSQL)`),
    '```',
    '',
  ]
  writeFileSync('docs/soak.md', page.join('\n'))
  return { passed: outcome.passed && again.passed, report: `${outcome.report}\n\n${again.report}` }
}

/** Runs a program of node_modules under this Node. Reports its output only if it fails. */
function command(script: string, ...args: string[]): Outcome {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' })
  const passed = status === 0
  return { passed, report: passed ? '' : `${stdout}${stderr}`.trimEnd() }
}
