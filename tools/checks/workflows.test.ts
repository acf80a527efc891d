// Holds the rules for what others can start or replace: workflows, images, Python packages, and the forms of the repository. zizmor and
// actionlint check more, in ci.yml.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { isMarked } from '../release/pins.ts'

type Step = { uses?: string; run?: string; with?: Record<string, unknown> }
type Job = {
  'runs-on': string
  'timeout-minutes'?: number
  permissions?: Record<string, string>
  steps: Step[]
  strategy?: { matrix: { system?: string[]; include?: { system: string }[] } }
}
type Workflow = {
  file: string
  text: string
  on: Record<string, unknown>
  permissions: Record<string, string>
  jobs: Record<string, Job>
}

const workflows = globSync('.github/workflows/*').sort().map(readWorkflow)
const jobs = workflows.flatMap(({ file, jobs: all }) =>
  Object.entries(all).map(([name, job]) => ({ ...job, place: `${file}, job ${name}` })),
)
const steps = jobs.flatMap(({ place, steps: all }) => all.map((step) => ({ ...step, place })))

function readWorkflow(path: string): Workflow {
  const text = readFileSync(path, 'utf8')
  return { ...parse(text), file: basename(path), text }
}

/** The lines that a rule finds, but for those that are marked for the release to refuse. */
function breaches(file: string, breaks: (line: string) => boolean): string[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.flatMap((line, i) =>
    breaks(line) && !isMarked(lines, i) ? [`${file}:${i + 1}: ${line.trim()}`] : [],
  )
}

test('each action is pinned by the hash of a commit, with its version beside it', () => {
  const pinned =
    /^\s*- uses: [\w.-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$|^\s*uses: [\w.-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/
  const files = globSync('.github/workflows/*')
  assert.deepEqual(
    files.flatMap((file) => breaches(file, (line) => line.includes('uses:') && !pinned.test(line))),
    [],
  )
  const uses = steps.filter((step) => step.uses !== undefined)
  assert.equal(
    uses.length,
    files.flatMap((file) => breaches(file, (line) => pinned.test(line))).length,
  )
})

test('each action has one version, so that the same hash is everywhere', () => {
  const hashes = Map.groupBy(
    steps.flatMap(({ uses }) => uses ?? []),
    (name) => name.split('@')[0]?.split('/').slice(0, 2).join('/'),
  )
  const several = [...hashes].filter(
    ([, names]) => new Set(names.map((name) => name.split('@')[1])).size > 1,
  )
  assert.deepEqual(several, [])
})

test('a workflow has no rights, and each job those that it names', () => {
  for (const { file, permissions } of workflows) assert.deepEqual(permissions, {}, file)
  for (const { place, permissions } of jobs) assert.ok(permissions !== undefined, place)
})

test('a job that runs code of the checkout or of its packages may read the source, and nothing else', () => {
  const runsCode =
    /(?<![\w-])(npm (?!publish )|npx |node |bash |docker (build|run|exec) |go (install|run) )/
  const running = jobs.filter(({ steps: all }) =>
    all.some(({ run }) => run !== undefined && runsCode.test(run)),
  )
  for (const { place, permissions } of running)
    assert.deepEqual(permissions, { contents: 'read' }, place)
  assert.deepEqual(
    running.map(({ place }) => place.replace('.yml, job', '')),
    [
      'ci everything',
      'ci without-browser',
      'ci nodes',
      'ci workflows',
      'nightly soak',
      'release packages',
      'release image',
      'website build',
    ],
  )
})

test('a job that publishes installs nothing but packages of Python by their hashes', () => {
  const mayPublish = (job: Job) => Object.values(job.permissions ?? {}).includes('write')
  const commands = jobs
    .filter(mayPublish)
    .flatMap(({ steps: all }) => all.flatMap(({ run = '' }) => run.split('\n')))
  assert.deepEqual(
    commands.filter((line) => /\b(install|ci)\b/.test(line)).map((line) => line.trim()),
    [
      '"$RUNNER_TEMP/pypi/bin/pip" install --require-hashes --only-binary :all: --requirement tools/python/pypi.txt',
    ],
  )
})

test('each night and before a release, npm checks the lock file for known vulnerabilities', () => {
  const audits = steps.filter(({ run }) => run?.startsWith('npm audit --omit=dev'))
  assert.deepEqual(
    audits.map(({ place }) => place),
    ['nightly.yml, job soak', 'release.yml, job packages'],
  )
})

test('no checkout leaves its token in the folder', () => {
  const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'))
  assert.ok(checkouts.length > 0)
  for (const { place, with: options } of checkouts)
    assert.equal(options?.['persist-credentials'], false, place)
})

test('no command has an expression, whose text the shell would run, and none uses a stored secret', () => {
  for (const { place, run } of steps) assert.ok(!run?.includes('$' + '{{'), place)
  for (const { file, text } of workflows) assert.doesNotMatch(text, /\bsecrets\b/, file)
})

test('no pull request of others runs with rights, and no cache of theirs reaches a later run', () => {
  for (const { file, on } of workflows)
    assert.ok(
      !('pull_request_target' in on) && !('workflow_run' in on) && !('issue_comment' in on),
      file,
    )
  const nodes = steps.filter(({ uses }) => uses?.startsWith('actions/setup-node@'))
  assert.ok(nodes.length > 0)
  for (const { place, with: options } of nodes)
    assert.equal(options?.['package-manager-cache'], false, place)
})

test('each job names a version of its system, and ends', () => {
  for (const { place, strategy, ...job } of jobs) {
    const { system = [], include = [] } = strategy?.matrix ?? {}
    for (const name of [job['runs-on'], ...system, ...include.map((one) => one.system)])
      assert.match(
        name,
        /^(ubuntu-24\.04(-arm)?|macos-15|windows-2025|\$\{\{ matrix\.system \}\})$/,
        place,
      )
    assert.ok((job['timeout-minutes'] ?? 1000) <= 350, place)
  }
})

test('each image is pinned by its digest', () => {
  const files = globSync(['packaging/{Dockerfile,compose.yaml}', '.devcontainer/Dockerfile'])
  assert.equal(files.length, 3)
  const names = /^(FROM|\s*image:) /
  assert.deepEqual(
    files.flatMap((file) =>
      breaches(file, (line) => names.test(line) && !/@sha256:[0-9a-f]{64}\b/.test(line)),
    ),
    [],
  )
  for (const file of files) assert.doesNotMatch(readFileSync(file, 'utf8'), /^# syntax=/, file)
  for (const { place, ...job } of jobs)
    assert.ok(!('container' in job) && !('services' in job), place)
  assert.deepEqual(
    steps.filter(({ uses }) => uses?.startsWith('docker:')),
    [],
  )
})

test('each package of Python is installed by its hash', () => {
  const lists = globSync('tools/python/*.txt')
  assert.equal(lists.length, globSync('tools/python/*.in').length)
  for (const file of lists) {
    const entries = readFileSync(file, 'utf8')
      .replaceAll(/^ *#.*\n/gm, '')
      .replaceAll('\\\n', '')
      .trim()
      .split('\n')
    for (const entry of entries)
      assert.match(entry, /^[\w.-]+==\S+ .*--hash=sha256:[0-9a-f]{64}/, file)
  }
  const files = [
    ...globSync('.github/workflows/*'),
    ...globSync('tools/**/*.ts', { exclude: (name) => name === 'node_modules' }),
  ]
  const installs = files
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) =>
      breaches(file, (line) => /\bpip['")]* *,? *\[?'?install\b|\bpip3? install\b/.test(line)),
    )
  const listed = ['--require-hashes', '...pinned']
  assert.equal(installs.length, 3)
  assert.deepEqual(
    installs.filter((line) => !listed.some((part) => line.includes(part))),
    [],
  )
})

test('dependabot looks after each lock file, the actions, the images and the packages of Python', () => {
  const { updates } = parse(readFileSync('.github/dependabot.yml', 'utf8')) as {
    updates: { 'package-ecosystem': string; directory?: string; directories?: string[] }[]
  }
  const foldersOf = (system: string) =>
    updates
      .filter((update) => update['package-ecosystem'] === system)
      .flatMap(({ directory, directories = [] }) =>
        directory === undefined ? directories : [directory],
      )
  const locks = globSync('**/package-lock.json', {
    exclude: (name) => name === 'node_modules' || name === 'examples',
  })
  const places = locks.map((file) => `/${dirname(file).replace(/^\.$/, '')}`)
  assert.deepEqual(
    places.filter((place) => !foldersOf('npm').includes(place)),
    [],
  )
  assert.deepEqual(foldersOf('github-actions'), ['/'])
  assert.deepEqual(foldersOf('docker'), ['/packaging', '/.devcontainer'])
  assert.deepEqual(foldersOf('docker-compose'), ['/packaging'])
  assert.deepEqual(foldersOf('pip'), ['/tools/python'])
})

test('a vulnerability goes to the private form, and a bug comes with the findings of the doctor', () => {
  const { blank_issues_enabled: isBlank, contact_links: links } = parse(
    readFileSync('.github/ISSUE_TEMPLATE/config.yml', 'utf8'),
  )
  assert.equal(isBlank, false)
  assert.match(links[0].url, /^https:\/\/github\.com\/[\w-]+\/carillon\/security\/advisories\/new$/)
  type Form = {
    name: string
    description: string
    body: { id?: string; attributes: { label?: string; render?: string } }[]
  }
  const [bug, idea, question] = ['bug', 'idea', 'question'].map(
    (name): Form => parse(readFileSync(`.github/ISSUE_TEMPLATE/${name}.yml`, 'utf8')),
  )
  const doctor = bug?.body.find(({ id }) => id === 'doctor')
  assert.deepEqual(
    [doctor?.attributes.label, doctor?.attributes.render],
    ['carillon doctor --json', 'json'],
  )
  for (const form of [bug, idea, question])
    assert.ok(form?.name && form.description && form.body.length > 1)
})
