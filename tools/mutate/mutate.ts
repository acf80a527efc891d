// `npm run mutate`: disables each security check of mutations.tsv, one at a time, in a copy of the tree, and runs the tests that must then
// fail. Two rows run at the same time, each in a copy of its own.
import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { refuseOption, run } from '../run.ts'

const root = dirname(dirname(import.meta.dirname))
const help = `npm run mutate [-- NAME ...] [--part N/PARTS]

Disables each security check of tools/mutate/mutations.tsv, one at a time, and runs the tests that must then fail. Prints the
survivors; the exit status is 0 if there are none.

  NAME             a part of the names of the rows to run, such as 'passkey:'; all rows if there is none
  --part N/PARTS   one part of these rows, such as 3/24
`
const testTimeoutMs = 300_000
const copies = 2

/** `secondLine`: why no test can fail, because another check refuses the same; such a row does not run. */
export type Mutation = {
  name: string
  file: string
  from: string
  to: string
  tests: readonly string[]
  secondLine: string
}

/** 'not-run': the tests fail without the mutation, or do not end. */
type Outcome = 'caught' | 'survived' | 'not-run'
const marks: Record<Outcome, string> = {
  caught: '✔',
  survived: '✖ survived:',
  'not-run': '? not run:',
}

export function readMutations(): Mutation[] {
  const [, ...lines] = readFileSync(join(import.meta.dirname, 'mutations.tsv'), 'utf8')
    .trimEnd()
    .split('\n')
  return lines.map((line) => {
    const [name = '', file = '', from = '', to = '', tests = '', secondLine = ''] = line.split('\t')
    return { name, file, from, to, tests: tests.split(' '), secondLine }
  })
}

/** Throws if the text is not in the file exactly once, so that the table follows the code. Line breaks do not count. */
export function mutated(source: string, { name, file, from, to }: Mutation): string {
  const parts = source.split(inAnyLines(from))
  if (parts.length !== 2)
    throw new Error(
      `"${name}": the text is ${parts.length - 1} times in ${file}, not once:\n${from}`,
    )
  return parts.join(to)
}

/** A formatter may break a line at any token, and then puts a comma before a closing bracket. */
function inAnyLines(text: string): RegExp {
  const tokens = text.match(/[\w$]+|\S/g) ?? []
  const escaped = tokens.map((token) => token.replace(/\W/g, '\\$&'))
  return new RegExp(escaped.join('\\s*').replaceAll(/(?<!,)\\s\*(?=\\[)}\]])/g, ',?\\s*'))
}

type Choice = { patterns: readonly string[]; part: string }

async function runMutations({ patterns, part }: Choice): Promise<number> {
  const [number = 1, parts = 1] = part.split('/').map(Number)
  const isChosen = ({ name }: Mutation) =>
    patterns.length === 0 || patterns.some((pattern) => name.includes(pattern))
  const all = readMutations().filter((mutation) => isChosen(mutation) && mutation.secondLine === '')
  const chosen = all.filter((_, index) => index % parts === number - 1)
  const waiting = chosen.values()
  const alone = new Map<string, Promise<number | null>>()
  const outcomes: Outcome[] = []
  const work = async () => {
    const copy = copyOfTree()
    try {
      for (const mutation of waiting) outcomes.push(await outcomeOf(copy, mutation, alone))
    } finally {
      rmSync(copy, { recursive: true, force: true })
    }
  }
  await Promise.all(Array.from({ length: copies }, work))
  const count = (wanted: Outcome) => outcomes.filter((outcome) => outcome === wanted).length
  console.log(
    `${chosen.length} mutations: ${count('caught')} caught, ${count('survived')} survived, ${count('not-run')} not run`,
  )
  return chosen.length > 0 && count('caught') === chosen.length ? 0 : 1
}

/** `alone`: the exit status of each test without a mutation. A test that fails anyway catches nothing. */
async function outcomeOf(
  copy: string,
  mutation: Mutation,
  alone: Map<string, Promise<number | null>>,
) {
  for (const file of mutation.tests) if (!alone.has(file)) alone.set(file, exitStatus(copy, [file]))
  const statuses = await Promise.all(mutation.tests.map((file) => alone.get(file)))
  const outcome = statuses.every((status) => status === 0)
    ? await outcomeWith(copy, mutation)
    : 'not-run'
  console.log(`${marks[outcome]} ${mutation.name} (${mutation.tests.join(', ')})`)
  return outcome
}

async function outcomeWith(copy: string, mutation: Mutation): Promise<Outcome> {
  const path = join(copy, mutation.file)
  const source = readFileSync(path, 'utf8')
  writeFileSync(path, mutated(source, mutation))
  const status = await exitStatus(copy, mutation.tests)
  writeFileSync(path, source)
  if (status === null) return 'not-run'
  return status === 0 ? 'survived' : 'caught'
}

/** Null if the tests do not end in time. */
function exitStatus(copy: string, tests: readonly string[]): Promise<number | null> {
  const args = ['--test', '--test-force-exit', '--test-reporter=dot', ...tests]
  const child = spawn(process.execPath, args, {
    cwd: copy,
    stdio: 'ignore',
    timeout: testTimeoutMs,
  })
  return new Promise((resolve) => child.once('exit', resolve))
}

/** The files that git knows, without ignored ones; the packages are those of this tree. */
function copyOfTree(): string {
  const copy = mkdtempSync(join(tmpdir(), 'carillon-mutate-'))
  const files = run('git', ['ls-files', '-co', '--exclude-standard']).trimEnd().split('\n')
  for (const file of files) cpSync(file, join(copy, file))
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  cpSync('server/public', join(copy, 'server/public'), { recursive: true })
  return copy
}

if (import.meta.main) {
  const given = process.argv.slice(2)
  const at = given.indexOf('--part')
  const part = at < 0 ? '1/1' : given.splice(at, 2)[1]
  const isPart = part !== undefined && /^[1-9]\d*\/[1-9]\d*$/.test(part)
  refuseOption(isPart ? given.find((pattern) => pattern.startsWith('-')) : `--part ${part}`, help)
  process.chdir(root)
  process.exitCode = await runMutations({ patterns: given, part: part ?? '' })
}
