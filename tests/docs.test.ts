// Runs every command of the documentation unchanged, in a real bash against a real service, and
// compares each response with the one on the page. Those of docs/operations run with SOAK=1.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, dirname, join, posix } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { settings } from '../server/config/settings.ts'
import {
  anchorsOf,
  type Example,
  examplesOf,
  isForNpm,
  linksOf,
  type Page,
  readPages,
  routesIn,
  settingsIn,
} from './support/http/pages.ts'
import { compareText, PrintedResponses } from './support/http/printed-response.ts'
import { newDatabase } from './support/postgres.ts'
import { CarillonProcess, Folder, firstSignInText } from './support/processes/carillon-process.ts'
import { soakTest } from './support/soak.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const usualAddress = 'http://127.0.0.1:7464'
const usualDatabase = 'postgres://carillon@db.example/carillon?sslmode=verify-full'
const pages = readPages(root)
const readme = pageOf('README.md')
/** The commands of these pages and of those in the folder beside each are run in the order of its links, in one shell. */
const sessions = [pageOf('docs/inbox.md'), pageOf('docs/sign-in.md')].map((page) => [
  page,
  ...pagesBeside(page),
])
const withCommands = pages.filter(
  ({ file }) => file === 'README.md' || /^docs\/(?!decisions\/)/.test(file),
)
const alone = withCommands.filter((page) => !sessions.flat().includes(page))
/** Shell commands. Each curl writes the status of its response to stderr. */
const substitute = `'${process.execPath}' '${fileURLToPath(new URL('./support/http/curl.ts', import.meta.url))}'`
const installed = spawnSync('sh', ['-c', 'command -v curl'], { encoding: 'utf8' }).stdout.trim()
const curl = installed === '' ? substitute : `'${installed}' -w '%{stderr}%{http_code}\\n'`

for (const session of [...alone.map((page) => [page]), ...sessions])
  if (session.flatMap(examplesOf).some((example) => !isForNpm(example)))
    runsAsPrinted(session, curl)
// A machine without curl runs all pages by the substitute.
if (curl !== substitute && process.env.SOAK !== undefined)
  runsAsPrinted([pageOf('docs/first-steps.md')], substitute)

/** The pages of the folder of this name, in the order of the page's links. */
function pagesBeside(page: Page): Page[] {
  const links = linksOf(page).map((link) => posix.join(posix.dirname(page.file), link))
  const files = new Set(
    links.filter((file) => file.startsWith(page.file.replace('.md', '/')) && file.endsWith('.md')),
  )
  return [...files].map(pageOf)
}

/** Each page of an operator's work starts a service of its own. */
function isForOperators([page]: Page[]): boolean {
  return /^docs\/(operations\/|upgrade)/.test(page?.file ?? '')
}

function runsAsPrinted(session: Page[], by: string): void {
  const testOf = isForOperators(session) ? soakTest : test
  testOf(
    `${session[0]?.file}: every command works and prints what the page shows, by ${by === substitute ? 'our substitute for curl' : 'curl'}`,
    async (t) => {
      const service = await startOnEmptyFolder()
      t.after(service.stop)
      const database = await newDatabase({ isBare: true })
      t.after(database.drop)
      const examples = session.flatMap((page) => {
        const blocks = page.blocks.map(atAddress(service.address)).map(onDatabase(database.url))
        return examplesOf({ ...page, blocks }).map((example) => ({ ...example, file: page.file }))
      })
      const responses = new PrintedResponses()
      for (const { example, outcome } of run(examples, service, by))
        await t.test(`${example.file}, line ${example.line}`, () =>
          agrees(example, outcome, responses),
        )
    },
  )
}

function agrees(
  example: Example,
  { complaint, printed, statuses }: Outcome,
  responses: PrintedResponses,
): void {
  assert.equal(complaint, undefined, `the command failed or was not reached: ${complaint}`)
  assert.deepEqual(
    statuses,
    example.statuses,
    `the statuses of its requests; it printed ${printed}`,
  )
  if (example.json !== undefined)
    responses.compareJson(JSON.parse(example.json), JSON.parse(printed))
  if (example.text !== undefined) compareText(example.text, printed)
}

/** The pages also name the service by `localhost`, for passkeys. */
function atAddress(address: string) {
  const byName = (url: string) => url.replace('127.0.0.1', 'localhost')
  return (block: Page['blocks'][number]) => ({
    ...block,
    text: block.text
      .replaceAll(usualAddress, address)
      .replaceAll(byName(usualAddress), byName(address)),
  })
}

function onDatabase(url: string) {
  return (block: Page['blocks'][number]) => ({
    ...block,
    text: block.text.replaceAll(usualDatabase, url),
  })
}

type Outcome = { complaint: string | undefined; printed: string; statuses: number[] }
type Service = { folder: string; address: string; firstSignIn: string; stop(): Promise<void> }

/** One bash runs all commands, and ends at the first failure. `read` gets its input from stdin. */
function run<E extends Example>(
  examples: readonly E[],
  { folder, address, firstSignIn }: Service,
  by: string,
) {
  const fileOf = (i: number, what: string) => join(folder, 'outcome', `${i}.${what}`)
  mkdirSync(join(folder, 'outcome'))
  const script = examples.map((example, i) => {
    if (isForNpm(example)) return ''
    const [statuses, printed, done] = ['statuses', 'printed', 'done'].map(
      (what) => `'${fileOf(i, what)}'`,
    )
    return `export STATUSES=${statuses}\n{\n${example.commands}\n} > ${printed}\n: > ${done}`
  })
  const path = [programs(folder, by), dirname(process.execPath), process.env.PATH].join(delimiter)
  const secrets = ['password', 'key'].map(
    (name) => new RegExp(`^${name}: (.+)$`, 'm').exec(firstSignIn)?.[1],
  )
  const { stderr } = spawnSync('bash', ['-c', `set -euo pipefail\n${script.join('\n')}`], {
    cwd: folder,
    env: { ...environment(), PATH: path, CARILLON_URL: address },
    input: `${secrets.join('\n')}\n`,
    timeout: 300_000,
    encoding: 'utf8',
  })
  return examples.map((example, i): { example: E; outcome: Outcome } => {
    // `npm start` has run already; its output is in a file.
    if (isForNpm(example))
      return { example, outcome: { complaint: undefined, printed: firstSignIn, statuses: [] } }
    const complaint = existsSync(fileOf(i, 'done')) ? undefined : stderr
    const statuses = textOf(fileOf(i, 'statuses')).split('\n').filter(Boolean).map(Number)
    return { example, outcome: { complaint, printed: textOf(fileOf(i, 'printed')), statuses } }
  })
}

/** Programs in the PATH of the commands: this checkout as `npx carillon` and `carillon`, and a curl that records each status. */
function programs(folder: string, by: string): string {
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  const carillon = `exec '${process.execPath}' '${join(root, 'server', 'bin', 'launch.js')}' "$@"`
  const scripts = {
    carillon,
    curl: `exec ${by} "$@" 2>> "$STATUSES"`,
    npx: `[ "$1" = carillon ] && shift && ${carillon}`,
  }
  for (const [name, script] of Object.entries(scripts))
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return bin
}

function textOf(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}

/** Without the settings of the developer who runs the tests. */
function environment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('CARILLON_')),
  )
}

async function startOnEmptyFolder(): Promise<Service> {
  const folder = new Folder()
  // A service without settings has this database.
  const env = { CARILLON_DATABASE_URL: 'sqlite:data/carillon.db' }
  const running = await CarillonProcess.ready(folder, { env })
  const stop = async () => {
    await running.end('SIGTERM')
    folder[Symbol.dispose]()
  }
  const firstSignIn = firstSignInText(folder)
  return { folder: folder.path, address: running.url, firstSignIn, stop }
}

test('a page leads to every page of the folder beside it', () => {
  const beside = pages.flatMap((page) => {
    const linked = pagesBeside(page)
    return pages
      .filter(({ file }) => file.startsWith(page.file.replace('.md', '/')))
      .map((inFolder) => ({ file: inFolder.file, isLinked: linked.includes(inFolder) }))
  })
  assert.ok(beside.length >= 30)
  assert.deepEqual(
    beside.filter(({ isLinked }) => !isLinked),
    [],
  )
})

test('every response on a page follows its commands', () => {
  const stray = withCommands.flatMap(({ file, blocks }) =>
    blocks
      .filter(({ language }, i) => language === 'json' && blocks[i - 1]?.language !== 'sh')
      .map(({ line }) => `${file}:${line}`),
  )
  assert.deepEqual(stray, [])
})

test('every link leads to an existing file and heading', () => {
  const broken = pages.flatMap((page) =>
    linksOf(page).flatMap((link) => {
      const [path = '', anchor] = link.split('#')
      const file = path === '' ? page.file : posix.join(posix.dirname(page.file), path)
      if (!existsSync(join(root, file)))
        return [`${page.file} links to ${link}, which does not exist`]
      if (anchor === undefined || anchorsOf(pageOf(file)).includes(anchor)) return []
      return [`${page.file} links to ${link}, and ${file} has no such heading`]
    }),
  )
  assert.deepEqual(broken, [])
})

test('a page leads to each proxy configuration', () => {
  const folder = join(root, 'docs/proxies')
  const leading = ['docs/forward-authentication.md', 'docs/scale.md', 'docs/integrate.md']
  const links = leading.flatMap((place) => linksOf(pageOf(place)))
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    statSync(join(folder, file)).isFile(),
  )
  assert.ok(files.length >= 8)
  for (const file of files) assert.ok(links.includes(`proxies/${file}`), file)
})

test('README.md, docs/integrate.md, docs/express.md and docs/inbox/ show code as the examples have it, indentation aside', () => {
  const languages = ['css', 'html', 'js', 'jsx', 'py', 'svelte', 'vue']
  const codes = [
    readme,
    pageOf('docs/integrate.md'),
    pageOf('docs/express.md'),
    pageOf('docs/inbox/users.md'),
  ]
    .flatMap(({ blocks }) => blocks)
    .filter(({ language }) => [...languages, 'python'].includes(language))
  assert.equal(codes.length, 25)
  const files = globSync(`examples/**/*.{${languages}}`, {
    cwd: root,
    exclude: (name) => name === 'node_modules',
  })
  const flush = (code: string) => code.replaceAll(/^ +/gm, '')
  const sources = files.map((file) => flush(readFileSync(join(root, file), 'utf8')))
  for (const { text, line } of codes)
    assert.ok(
      sources.some((source) => source.includes(flush(text))),
      `line ${line}`,
    )
})

test('every setting that a page names exists', () => {
  const known = new Set<string>(settings.flatMap(({ name }) => [name, `${name}_FILE`]))
  const unknown = pages.flatMap((page) =>
    settingsIn(page)
      .filter((name) => !known.has(name))
      .map((name) => `${page.file} names ${name}`),
  )
  assert.deepEqual(unknown, [])
})

test('every route that a page names exists, and the pages of the documentation name every route', async (t) => {
  const { address, stop } = await startOnEmptyFolder()
  t.after(stop)
  const { paths } = (await (await fetch(`${address}/openapi.json`)).json()) as {
    paths: Record<string, object>
  }
  const served = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map(
      (method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
    ),
  )
  assert.ok(served.includes('POST /login'), 'openapi.json lists no routes')
  const invented = pages.flatMap((page) =>
    routesIn(page)
      .filter((route) => !served.includes(route))
      .map((route) => `${page.file} names ${route}`),
  )
  assert.deepEqual(invented, [])
  const naming = pages.filter(({ file }) =>
    /^docs\/(inbox|sign-in|pages|operations|operator)(\.md$|\/)/.test(file),
  )
  const named = naming.flatMap(routesIn)
  assert.deepEqual(
    served.filter((route) => !named.includes(route)),
    [],
    'routes that no page shows',
  )
})

function pageOf(file: string): Page {
  return pages.find((page) => page.file === file) ?? assert.fail(`there is no page ${file}`)
}
