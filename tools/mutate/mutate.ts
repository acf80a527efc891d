// `npm run mutate`: disables each security check of the table in mutations.ts, one at a time, in a copy of the tree, and runs the tests
// that must then fail. Reports the survivors; the exit status is 0 if there are none. An argument chooses mutations by a part of their
// name. A mutation whose text is not in its file exactly once is an error, so that the table follows the code.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Mutation, mutations } from './mutations.ts'

const testTimeoutMs = 300_000

/** Throws if the text is not in the file exactly once. */
export function mutated(source: string, { name, file, from, to }: Mutation): string {
  const parts = source.split(from)
  if (parts.length !== 2)
    throw new Error(`"${name}": the text is ${parts.length - 1} times in ${file}, not once:\n${from}`)
  return parts.join(to)
}

function run(pattern: string): number {
  const chosen = mutations.filter(({ name }) => name.includes(pattern))
  // All at once, before the first test: a table that does not fit the code is of no use.
  for (const mutation of chosen) mutated(readFileSync(mutation.file, 'utf8'), mutation)
  const copy = copyOfTree()
  try {
    const failing = [...new Set(chosen.flatMap(({ tests }) => tests))].filter((file) => !passes(copy, [file]))
    if (failing.length > 0) throw new Error(`These tests fail without any mutation: ${failing.join(', ')}`)
    const survivors = chosen.filter((mutation) => survives(copy, mutation))
    console.log(`${chosen.length - survivors.length} of ${chosen.length} mutations were caught`)
    for (const { name, file, tests } of survivors) console.log(`✖ survived: ${name} (${file}; ${tests.join(', ')})`)
    return survivors.length === 0 && chosen.length > 0 ? 0 : 1
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

function survives(copy: string, mutation: Mutation): boolean {
  const path = join(copy, mutation.file)
  const source = readFileSync(path, 'utf8')
  writeFileSync(path, mutated(source, mutation))
  const survived = passes(copy, mutation.tests)
  writeFileSync(path, source)
  console.log(`${survived ? '✖' : '✔'} ${mutation.name}`)
  return survived
}

function passes(copy: string, tests: readonly string[]): boolean {
  const args = ['--test', '--test-reporter=dot', ...tests]
  return spawnSync(process.execPath, args, { cwd: copy, stdio: 'ignore', timeout: testTimeoutMs }).status === 0
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
  process.exitCode = run(process.argv[2] ?? '')
}
