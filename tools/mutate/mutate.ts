// `npm run mutate`: disables each security check of the table (mutations.ts), one at a time, in a copy of the tree, and runs the tests
// that must then fail. Reports the survivors; the exit status is 0 if there are none. Arguments choose mutations by a part of their
// names. A mutation whose text is not in its file exactly once is an error, so that the table follows the code.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Mutation } from './mutation.ts'
import { mutations } from './mutations.ts'

const testTimeoutMs = 300_000

/** 'not-run': the tests fail without the mutation, or do not end. */
type Outcome = 'caught' | 'survived' | 'not-run'
const marks: Record<Outcome, string> = { caught: '✔', survived: '✖ survived:', 'not-run': '? not run:' }

/** Throws if the text is not in the file exactly once. */
export function mutated(source: string, { name, file, from, to }: Mutation): string {
  const parts = source.split(from)
  if (parts.length !== 2)
    throw new Error(`"${name}": the text is ${parts.length - 1} times in ${file}, not once:\n${from}`)
  return parts.join(to)
}

function run(patterns: readonly string[]): number {
  const isChosen = ({ name }: Mutation) => patterns.length === 0 || patterns.some((pattern) => name.includes(pattern))
  const chosen = mutations.filter(isChosen)
  // All at once, before the first test: a table that does not fit the code is of no use.
  for (const mutation of chosen) mutated(readFileSync(mutation.file, 'utf8'), mutation)
  const copy = copyOfTree()
  try {
    const passing = new Map<string, boolean>()
    const outcomes = chosen.map((mutation) => outcomeOf(copy, mutation, passing))
    const count = (wanted: Outcome) => outcomes.filter((outcome) => outcome === wanted).length
    console.log(
      `${chosen.length} mutations: ${count('caught')} caught, ${count('survived')} survived, ${count('not-run')} not run`,
    )
    return chosen.length > 0 && count('caught') === chosen.length ? 0 : 1
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

/** `passing`: whether the tests pass without a mutation. A test that fails anyway catches nothing. */
function outcomeOf(copy: string, mutation: Mutation, passing: Map<string, boolean>): Outcome {
  for (const file of mutation.tests) if (!passing.has(file)) passing.set(file, exitStatus(copy, [file]) === 0)
  const outcome = mutation.tests.every((file) => passing.get(file)) ? outcomeWith(copy, mutation) : 'not-run'
  console.log(`${marks[outcome]} ${mutation.name} (${mutation.tests.join(', ')})`)
  return outcome
}

function outcomeWith(copy: string, mutation: Mutation): Outcome {
  const path = join(copy, mutation.file)
  const source = readFileSync(path, 'utf8')
  writeFileSync(path, mutated(source, mutation))
  const status = exitStatus(copy, mutation.tests)
  writeFileSync(path, source)
  if (status === null) return 'not-run'
  return status === 0 ? 'survived' : 'caught'
}

/** Null if the tests do not end in time. */
function exitStatus(copy: string, tests: readonly string[]): number | null {
  const args = ['--test', '--test-reporter=dot', ...tests]
  return spawnSync(process.execPath, args, { cwd: copy, stdio: 'ignore', timeout: testTimeoutMs }).status
}

/** What git knows, without ignored files; the packages are those of this tree. */
function copyOfTree(): string {
  const copy = mkdtempSync(join(tmpdir(), 'carillon-mutate-'))
  const { stdout } = spawnSync('git', ['ls-files', '-co', '--exclude-standard'], {
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  })
  for (const file of stdout.split('\n').filter((name) => name !== ''))
    cpSync(file, join(copy, file), {
      recursive: true,
      force: true,
      mode: 0,
      errorOnExist: false,
      preserveTimestamps: false,
    })
  symlinkSync(join(process.cwd(), 'node_modules'), join(copy, 'node_modules'))
  cpSync('server/public', join(copy, 'server/public'), { recursive: true })
  return copy
}

if (import.meta.main) {
  process.chdir(dirname(dirname(import.meta.dirname)))
  process.exitCode = run(process.argv.slice(2))
}
