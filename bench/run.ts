// `npm run bench`: runs the scenarios, prints their results and writes RESULTS.md.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { refuseOption } from '../tools/run.ts'
import { describeMachine, type Fact } from './report/machine.ts'
import { plotOf } from './report/plot.ts'
import { takeTurn } from './report/rounds.ts'
import type { Scenario } from './report/scenario.ts'
import { asPage, asText, besideBefore, type Result, type Row, summary } from './report/table.ts'
import { bulkActs, postgresBulkActs } from './scenarios/bulk-acts.ts'
import { depth } from './scenarios/depth.ts'
import { dueMails } from './scenarios/due-mails.ts'
import { durableWrites } from './scenarios/durable-writes.ts'
import { emptying, postgresEmptying } from './scenarios/emptying.ts'
import { largeDatabase } from './scenarios/large-database.ts'
import { limits } from './scenarios/limits.ts'
import { list, postgresList } from './scenarios/list.ts'
import { longWork } from './scenarios/long-work.ts'
import { mailTimers } from './scenarios/mail-timers.ts'
import { metrics, operatorPage } from './scenarios/numbers.ts'
import { postgresDeliveries } from './scenarios/postgres-deliveries.ts'
import { scaleOut } from './scenarios/scale-out.ts'
import { signIns } from './scenarios/sign-ins.ts'
import { start } from './scenarios/start.ts'
import { streamLatency } from './scenarios/stream-latency.ts'
import { streams } from './scenarios/streams.ts'
import { bundle, type Checkout, thisCheckout } from './setup/checkout.ts'

const scenarios: readonly Scenario[] = [
  limits,
  list,
  depth,
  durableWrites,
  mailTimers,
  dueMails,
  largeDatabase,
  emptying,
  bulkActs,
  longWork,
  start,
  signIns,
  streams,
  streamLatency,
  metrics,
  operatorPage,
  postgresList,
  postgresDeliveries,
  postgresEmptying,
  postgresBulkActs,
  scaleOut,
]
const usual = { rounds: 3, seconds: 2 }
/** On the disk that the service would use. Ignored by git. */
const data = fileURLToPath(new URL('../data/', import.meta.url))
const page = new URL('./RESULTS.md', import.meta.url)
const plot = new URL('./results.svg', import.meta.url)

const help = `npm run bench [-- [scenario ...] [--before DIR] [--rounds N] [--seconds S] [--small]]

Measures the service and prints each result. A run of all scenarios at their usual length also writes bench/RESULTS.md;
one of "limits" also writes its plot, bench/results.svg.
Traffic goes to 127.0.0.1 only. Files go to data/ and are removed.

${scenarios.map(({ name, question }) => `  ${name.padEnd(25)}${question}`).join('\n')}

  --before DIR   a second checkout of Carillon, with its packages installed: both are measured in turns (A B, B A), and the
                 result has both and their ratio
  --rounds N     rounds, in each of which every contender is measured once; ${usual.rounds}
  --seconds S    seconds per contender and round; ${usual.seconds}, or longer if a scenario needs it
  --small        a tenth of the users, and no sample twice: shows only that a scenario works
`

const options = {
  before: { type: 'string' },
  rounds: { type: 'string' },
  seconds: { type: 'string' },
  small: { type: 'boolean', default: false },
} as const
const isKnown = (one: string) =>
  Object.keys(options).some((name) => one.split('=')[0] === `--${name}`)
refuseOption(
  process.argv.slice(2).find((one) => one.startsWith('-') && !isKnown(one)),
  help,
)
const { values, positionals } = parseArgs({ allowPositionals: true, options })
const rounds = Number(values.rounds ?? usual.rounds)
const seconds = values.seconds === undefined ? undefined : Number(values.seconds)
const before = values.before === undefined ? undefined : resolve(values.before)
const checkouts: Checkout[] = [thisCheckout]
if (before !== undefined) checkouts.push({ name: 'before', root: before })

const problem = problemOf()
if (problem !== undefined) process.stderr.write(`${problem}\n\n${help}`)
else await runAll()
process.exit(problem === undefined ? 0 : 2)

function problemOf(): string | undefined {
  const unknown = positionals.find((name) => !scenarios.some((scenario) => scenario.name === name))
  if (unknown !== undefined) return `${unknown} is not a scenario`
  if (!(rounds >= 1 && (seconds ?? 1) > 0))
    return '--rounds must be at least 1, and --seconds above 0'
  if (before !== undefined && !existsSync(join(before, 'server/bin/launch.js')))
    return `${before} is not a checkout of Carillon: it has no server/bin/launch.js`
  return undefined
}

async function runAll(): Promise<void> {
  const chosen =
    positionals.length === 0
      ? scenarios
      : scenarios.filter(({ name }) => positionals.includes(name))
  mkdirSync(data, { recursive: true, mode: 0o700 })
  const machine = [...describeMachine(data), ...checkouts.map(commitOf)]
  for (const [what, value] of machine) console.log(`${what}: ${value}`)
  for (const checkout of checkouts) await bundle(checkout)
  const results: Result[] = []
  for (const scenario of chosen) {
    console.log(`\n${scenario.name}`)
    const result = await measure(scenario)
    console.log(asText(result))
    results.push(result)
  }
  console.log(`\n${summary(results)}`)
  const isUsual = values.rounds === undefined && seconds === undefined && !values.small
  const plotted = results.find(({ scenario }) => scenario === limits.name)
  if (isUsual && plotted !== undefined) {
    writeFileSync(plot, plotOf(plotted.rows, checkouts.map(commitOf)))
    console.log('Written to bench/results.svg')
  }
  if (!isUsual || positionals.length > 0)
    return console.log('RESULTS.md is not written: it holds all scenarios at their usual length.')
  writeFileSync(page, asPage(results, machine))
  console.log('Written to bench/RESULTS.md')
}

function commitOf({ name, root }: Checkout): Fact {
  const { stdout } = spawnSync('git', ['-C', root, 'log', '-1', '--format=%h of %cs'], {
    encoding: 'utf8',
  })
  return [name, stdout?.trim() || 'no commit']
}

async function measure(scenario: Scenario): Promise<Result> {
  const startedAt = performance.now()
  const [rows = [], earlier] = await Promise.all(
    checkouts.map((checkout) => runOne(scenario, checkout)),
  )
  const took = (performance.now() - startedAt) / 1000
  return {
    scenario: scenario.name,
    rows: earlier === undefined ? rows : besideBefore(rows, earlier),
    seconds: took,
  }
}

async function runOne(
  { name, run, seconds: itsUsual = usual.seconds }: Scenario,
  checkout: Checkout,
): Promise<Row[]> {
  const dir = mkdtempSync(join(data, `bench-${name}-${checkout.name}-`))
  const remove = () => rmSync(dir, { recursive: true, force: true })
  process.once('exit', remove)
  let endTurn = await takeTurn()
  await using end = new AsyncDisposableStack()
  end.defer(() => endTurn())
  end.defer(remove)
  end.defer(() => void process.off('exit', remove))
  return await run({
    checkout,
    place: checkout === thisCheckout ? 0 : 1,
    dir,
    rounds,
    seconds: seconds ?? itsUsual,
    scaled: (count) => (values.small ? count / 10 : count),
    takesAgain: !values.small,
    progress: (text) =>
      process.stderr.write(`  ${before === undefined ? '' : `${checkout.name}: `}${text}\n`),
    async turn() {
      const next = takeTurn()
      endTurn()
      endTurn = await next
    },
    onEnd: (stop) => end.defer(stop),
  })
}
