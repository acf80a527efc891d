// `npm run bench`: runs the scenarios, prints their results and writes RESULTS.md.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { commands, describeMachine } from './report/machine.ts'
import type { Bench, Scenario } from './report/scenario.ts'
import { asPage, asText, type Result, summary } from './report/table.ts'
import { bell } from './scenarios/browser/bell.ts'
import { newUsers } from './scenarios/deliveries/new-users.ts'
import { depth } from './scenarios/depth.ts'
import { durableWrites } from './scenarios/durable-writes.ts'
import { foreignTokens } from './scenarios/foreign-tokens.ts'
import { list } from './scenarios/list.ts'
import { undo } from './scenarios/marks/undo.ts'
import { postgresChangeSignals } from './scenarios/postgres-change-signals.ts'
import { postgresDeliveries } from './scenarios/postgres-deliveries.ts'
import { postgresList } from './scenarios/postgres-list.ts'
import { readAll } from './scenarios/read-all.ts'
import { restricted } from './scenarios/restricted.ts'
import { signIns } from './scenarios/sign-ins.ts'
import { start } from './scenarios/start.ts'
import { streamFlow } from './scenarios/stream-flow.ts'
import { streamLatency } from './scenarios/stream-latency.ts'
import { streams } from './scenarios/streams.ts'
import { issuedTokens } from './scenarios/tokens/issued-tokens.ts'
import { refusedTokens } from './scenarios/tokens/refused-tokens.ts'

const scenarios: readonly Scenario[] = [
  list,
  restricted,
  foreignTokens,
  depth,
  readAll,
  undo,
  durableWrites,
  start,
  signIns,
  refusedTokens,
  issuedTokens,
  postgresList,
  postgresDeliveries,
  newUsers,
  postgresChangeSignals,
  streams,
  streamLatency,
  streamFlow,
  bell,
]
const usual = { rounds: 5, seconds: 2 }
/** On the disk that the service would use. Ignored by git. */
const data = fileURLToPath(new URL('../data/', import.meta.url))
const page = new URL('./RESULTS.md', import.meta.url)

const help = `npm run bench [-- [scenario ...] [--rounds N] [--seconds S]]

Measures the service and prints each result. A run of all scenarios at their usual length also writes bench/RESULTS.md.
Traffic goes to 127.0.0.1 only. Files go to data/ and are removed.

${scenarios.map(({ name, question }) => `  ${name.padEnd(25)}${question}`).join('\n')}

  --rounds N     rounds, in each of which every contender is measured once; ${usual.rounds}
  --seconds S    seconds per contender and round; ${usual.seconds}, or longer if a scenario needs it
`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { help: { type: 'boolean' }, rounds: { type: 'string' }, seconds: { type: 'string' } },
})
const unknown = positionals.find((name) => !scenarios.some((scenario) => scenario.name === name))
const rounds = Number(values.rounds ?? usual.rounds)
const seconds = values.seconds === undefined ? undefined : Number(values.seconds)

if (values.help) process.stdout.write(help)
else if (unknown !== undefined || !(rounds >= 1) || !(seconds === undefined || seconds > 0)) refuse()
else await runAll()
process.exit()

function refuse(): void {
  process.stderr.write(help)
  process.exitCode = 2
}

async function runAll(): Promise<void> {
  const chosen = scenarios.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
  mkdirSync(data, { recursive: true, mode: 0o700 })
  const machine = describeMachine(data)
  for (const [what, value] of machine) console.log(`${what}: ${value}`)
  const results: Result[] = []
  for (const scenario of chosen) results.push(await runOne(scenario))
  console.log(`\n${summary(results)}`)
  const isLong = chosen.every((scenario) => seconds === undefined || seconds >= (scenario.seconds ?? usual.seconds))
  const isWhole = chosen.length === scenarios.length && rounds >= usual.rounds && isLong
  if (!isWhole) return console.log('RESULTS.md is not written: it holds all scenarios at their usual length.')
  writeFileSync(page, asPage({ results, machine, commands: commands(), date: new Date() }))
  console.log('Written to bench/RESULTS.md')
}

async function runOne({ name, run, seconds: itsUsual = usual.seconds }: Scenario): Promise<Result> {
  console.log(`\n${name}`)
  const startedAt = performance.now()
  const dir = mkdtempSync(join(data, `bench-${name}-`))
  const remove = () => rmSync(dir, { recursive: true, force: true })
  process.once('exit', remove)
  const started: { stop(): Promise<void> }[] = []
  const bench: Bench = {
    dir,
    rounds,
    seconds: seconds ?? itsUsual,
    progress: (text) => process.stderr.write(`  ${text}\n`),
    using(one) {
      started.push(one)
      return one
    },
  }
  try {
    const report = await run(bench)
    console.log(asText(report))
    return { scenario: name, ...report, seconds: (performance.now() - startedAt) / 1000 }
  } finally {
    await Promise.all(started.map((one) => one.stop()))
    remove()
  }
}
