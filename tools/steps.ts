// The steps of `npm test`, for developers and CI, and of `npm run soak`. Each step prints its name, its time and its report. Steps
// of one stage run at the same time; if one fails, the run ends with its stage.
import { execFile } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, release, tmpdir, totalmem, type } from 'node:os'
import { join, matchesGlob } from 'node:path'
import { notesFile, unseenResponses } from '../tests/support/http/described-responses.ts'
import { PostgresServer, sharedData, sharedPort } from '../tests/support/postgres.ts'
import { startsBrowser } from './browser-tests.ts'
import { refuseOption } from './run.ts'
import { type Outcome, runTests } from './run-tests.ts'

type Step = { name: string; run: () => Outcome | Promise<Outcome> }
/** Steps that run at the same time. */
type Stage = readonly Step[]

const minute = 60_000
/** Kill loops, long random runs and second proofs: only `npm run soak` runs them. */
const isSoak = (file: string) => file.endsWith('.soak.test.ts')
/** Files of the HTTP suite about what can differ by engine. */
const enginesSuite = 'tests/api/**/*.engines.test.ts'

/** Time limits for tests that hang. A busy machine takes ten times as long as an idle one. */
const limits = { perTestMs: 20 * minute, allMs: 120 * minute }

/** A linter can report thousands of faults. */
const maxBuffer = 64 * 1024 * 1024

const help = `npm test [-- --without-browser]
npm run soak [-- --part N/PARTS]

\`npm test\` runs everything that a change has to pass; \`npm run soak\` every test with its full counts, which takes hours.

  --without-browser   of test: leaves out the files that start Chromium, whose package is for Linux on x64 only
  --part N/PARTS      of soak: one part of the files, such as 3/24. The result replaces its section of docs/soak.md
`
const builds: Stage = [
  { name: 'the scripts that the service serves', run: () => command('element/build.js') },
  { name: 'the bundle of the service', run: () => command('tools/bundle.js') },
]
const checks: Stage = [
  { name: 'types', run: () => command('node_modules/typescript/bin/tsc') },
  {
    name: 'lint',
    run: () => command('node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings'),
  },
]
const lists: Record<string, readonly Stage[]> = {
  test: [
    [...builds, ...checks],
    [
      {
        name: 'tests; what can differ by engine of the HTTP suite again, on PostgreSQL and through the client',
        run: everyday,
      },
    ],
    [{ name: 'a test got each response that openapi.json lists (I9)', run: everyResponseSeen }],
  ],
  soak: [builds, [{ name: 'soak', run: soak }]],
}
/** On PostgreSQL, with requests sent by the typed client if it has a method for them (tests/support/http/through-client.ts). */
const postgresThroughClient = { TEST_ENGINE: 'postgres', TEST_CLIENT: '1' }

const [list = 'test', ...options] = process.argv.slice(2)
const optionOf: Readonly<Record<string, string>> = { test: '--without-browser', soak: '--part' }
const unknown = options.find((option) => option.startsWith('-') && option !== optionOf[list])
refuseOption(unknown, help)

// All test files share one PostgreSQL server. Files that stop or change a server start one on a copy of its first data.
const postgres = await PostgresServer.start()
await postgres.stop()
postgres.snapshot()
await postgres.begin()
process.env[sharedData] = postgres.snapshotData
process.env[sharedPort] = String(postgres.port)
const responses = mkdtempSync(join(tmpdir(), 'carillon-notes-'))
process.env[notesFile] = join(responses, 'seen')
process.exitCode = (await allPass(lists[list] ?? [])) ? 0 : 1
await postgres.remove()
rmSync(responses, { recursive: true })

function allTests(): string[] {
  return globSync('**/*.test.ts', { exclude: (name) => name === 'node_modules' }).sort()
}

function everydayTests(): string[] {
  const files = allTests().filter((file) => !isSoak(file))
  return options.includes('--without-browser')
    ? files.filter((file) => !startsBrowser(file))
    : files
}

function everyResponseSeen(): Outcome {
  const unseen = unseenResponses()
  return { passed: unseen.length === 0, report: unseen.join('\n') }
}

async function allPass(stages: readonly Stage[]): Promise<boolean> {
  for (const stage of stages) {
    const results = await Promise.all(stage.map(passes))
    if (results.includes(false)) return false
  }
  return stages.length > 0
}

async function passes({ name, run }: Step): Promise<boolean> {
  const startedAt = performance.now()
  const { passed, report } = await run()
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  console.log(`${passed ? '✔' : '✖'} ${name} (${seconds} s)`)
  if (report) console.log(report)
  return passed
}

/** Only the responses of the first part count as seen: those of SQLite without the client. */
function everyday(): Promise<Outcome> {
  const again = {
    files: globSync(enginesSuite),
    env: { ...postgresThroughClient, [notesFile]: undefined },
    mark: ' (PostgreSQL, client)',
  }
  return runTests({ files: everydayTests(), again, ...limits })
}

/**
 * Every test with its full counts (SOAK=1). `--part 3/8` runs the third of eight parts of the files. The result of the part replaces its
 * section of docs/soak.md.
 */
async function soak(): Promise<Outcome> {
  const part = options.includes('--part') ? (options[options.indexOf('--part') + 1] ?? '') : '1/1'
  const [number, parts] = part.split('/').map(Number)
  if (!number || !parts || number > parts)
    return { passed: false, report: `--part ${part}: write it as 3/8` }
  process.env.SOAK = '1'
  const startedAt = Date.now()
  const soakLimits = { perTestMs: 180 * minute, allMs: 360 * minute }
  const files = allTests().filter((_, index) => index % parts === number - 1)
  console.log(`${files.length} files:\n${files.map((file) => `  ${file}`).join('\n')}`)
  const outcome = await runTests({ files, ...soakLimits })
  const http = files.filter((file) => matchesGlob(file, 'tests/api/**/*.test.ts'))
  Object.assign(process.env, postgresThroughClient)
  const again = await runTests({ files: http, ...soakLimits })
  const hasPassed = outcome.passed && (again.passed || http.length === 0)
  const last = ({ report }: Outcome) => report.split('\n').at(-1)
  const notes = [
    ...(outcome.notes ?? []),
    ...(again.notes ?? []).map((note) => `${note} (PostgreSQL)`),
  ]
  keep(`## Part ${number}/${parts}

- ${new Date(startedAt).toISOString().slice(0, 10)}, ${((Date.now() - startedAt) / minute).toFixed(1)} minutes, Node ${process.versions.node}, SQLite ${process.versions.sqlite}
- ${cpus()[0]?.model.trim()}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, ${type()} ${release()}
- ${last(outcome)}; the HTTP suite again, on PostgreSQL and through the client: ${last(again)}

\`\`\`text
${notes.map((note) => `${note}\n`).join('')}\`\`\`
`)
  const advice = hasPassed ? '' : `\n\nThis part again: npm run soak -- --part ${number}/${parts}`
  return { passed: hasPassed, report: `${outcome.report}\n\n${again.report}${advice}` }
}

/** Puts the section in the place of the one with the same heading, or at the end. */
function keep(section: string): void {
  const [heading] = section.split('\n')
  const sections = readFileSync('docs/soak.md', 'utf8').split(/^(?=## )/m)
  const others = sections.filter((one) => one.split('\n')[0] !== heading)
  writeFileSync('docs/soak.md', `${others.join('').trimEnd()}\n\n${section}`)
}

/** Runs a program of node_modules under this Node. Reports its output only if it fails. */
function command(script: string, ...args: string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...args], { maxBuffer }, (error, stdout, stderr) => {
      const passed = error === null
      resolve({ passed, report: passed ? '' : `${stdout}${stderr}`.trimEnd() })
    })
  })
}
