// Builds everything that a release has into dist/, installs and starts it, and names what a release refuses. release.yml publishes it, in
// jobs that run nothing of the checkout (docs/release.md).
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pack } from '../pack.ts'
import { refuseOption, run } from '../run.ts'
import { sectionOf } from './changelog.ts'
import { checksumsOf, refuseChanged } from './checksums.ts'
import { buildDeb } from './deb.ts'
import { fillOwner, isOwner } from './owner.ts'
import { refusals } from './refusals.ts'
import { buildWheel } from './wheel.ts'

const checkout = fileURLToPath(new URL('../..', import.meta.url))
process.chdir(checkout)
const dist = 'dist'
const help = `npm run release [-- --dry-run | --owner NAME]

Builds and tries a release (docs/release.md).

  --dry-run      builds it also if a release refuses something
  --owner NAME   builds nothing: writes the name of the owner of the repository into all files, and the badges into README.md
`
const [option, owner = ''] = process.argv.slice(2)
if (option === '--owner') {
  if (!isOwner(owner))
    throw new Error(`--owner needs the name of a user or an organisation of GitHub: ${owner}`)
  console.log(fillOwner(checkout, owner).join('\n'))
  process.exit()
}
const isDryRun = option === '--dry-run'
if (!isDryRun) refuseOption(option, help)
const { version } = JSON.parse(readFileSync('package.json', 'utf8'))

const refused = refusals(checkout, process.env.GITHUB_ACTIONS === 'true')
for (const refusal of refused) console.log(`a release refuses: ${refusal}`)
if (refused.length > 0 && !isDryRun) process.exit(1)

rmSync(dist, { recursive: true, force: true })
const packages = await step('packages', () => pack(dist))
await step('installed and started', () =>
  run('node', ['--test', 'tests/e2e/packages/packages.test.ts'], { ...process.env, SOAK: '1' }),
)
await step('Debian', () => tryDeb(buildDeb(dist, version)))
await step('Python', () => buildWheel(dist, version))
// The next two steps run packages of npm that no lock file holds: everything is built before them, and must be the same after them.
const built = checksumsOf(dist)
await step('publint and are-the-types-wrong', () => packages.forEach(lint))
await step('bill of materials', writeSbom)
await step('notes and checksums', writeNotes)
console.log(
  isDryRun
    ? 'A dry run: this is no release.'
    : 'The next jobs of the workflow publish what dist/ has.',
)

async function step<Result>(name: string, work: () => Result | Promise<Result>): Promise<Result> {
  const startedAt = performance.now()
  const result = await work()
  console.log(`${name}: ${Math.round((performance.now() - startedAt) / 1000)} s`)
  return result
}

function lint(file: string): void {
  runPackage('publint@0.3.25', 'publint', file, '--strict')
  const isTyped = /carillon-(client|inbox)-/.test(file)
  if (isTyped) runPackage('@arethetypeswrong/cli@0.18.5', 'attw', file, '--profile', 'esm-only')
}

/** A tool of releases, not of the everyday run, so it is no dependency (docs/decisions/0002-dependencies.md). */
function runPackage(name: string, ...command: string[]): void {
  run('npm', ['exec', '--yes', `--package=${name}`, '--', ...command])
}

/** In a root of its own: install, the command, upgrade, remove. */
function tryDeb(file: string): void {
  const root = mkdtempSync(join(tmpdir(), 'carillon-root-'))
  const dpkg = (...args: string[]) =>
    run('dpkg', [`--root=${root}`, '--force-not-root,script-chrootless,depends,bad-path', ...args])
  try {
    for (const folder of ['dpkg/updates', 'dpkg/info', 'carillon'])
      mkdirSync(join(root, 'var/lib', folder), { recursive: true })
    writeFileSync(join(root, 'var/lib/dpkg/status'), '')
    writeFileSync(join(root, 'var/lib/carillon/data'), 'kept')
    for (const action of ['--install', '--install']) dpkg(action, file)
    const program = join(root, 'usr/lib/carillon/node_modules')
    const env = { NODE_COMPILE_CACHE: join(root, 'cache') }
    run(
      join(program, `node-linux-${process.arch}/bin/node`),
      [join(program, 'carillon/bin/launch.js'), '-V'],
      env,
    )
    dpkg('--remove', 'carillon')
    const left = readFileSync(join(root, 'var/lib/carillon/data'), 'utf8')
    if (left !== 'kept' || globSync(join(root, 'usr/lib/carillon')).length > 0)
      throw new Error('the package leaves files')
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

function writeSbom(): void {
  const options = [
    '--workspace',
    'server',
    '--omit',
    'dev',
    '--output-reproducible',
    '--output-file',
  ]
  const file = join(dist, `carillon-${version}.cdx.json`)
  runPackage('@cyclonedx/cyclonedx-npm@6.0.1', 'cyclonedx-npm', ...options, file)
}

/** The notes are the section of the changelog. Throws if a file was changed since it was built. */
function writeNotes(): void {
  const checksums = checksumsOf(dist)
  refuseChanged(built, checksums)
  writeFileSync(
    join(dist, 'notes.md'),
    sectionOf(readFileSync('CHANGELOG.md', 'utf8'), version)?.text ?? '',
  )
  const sums = Object.entries(checksums).map(([file, sum]) => `${sum}  ${file}`)
  writeFileSync(join(dist, 'SHA256SUMS'), `${sums.join('\n')}\n`)
  for (const line of sums) console.log(line)
}
