// The published package works in the installed versions of Node, has types, and is as small as its
// README says.
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import {
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { startTestService, type TestService } from '../tests/support/service.ts'
import { build } from './build.js'

const run = promisify(execFile)
const root = fileURLToPath(new URL('..', import.meta.url))
const app = mkdtempSync(join(tmpdir(), 'carillon-client-'))
const installed = join(app, 'node_modules', 'carillon-client')
let service: TestService
before(async () => {
  build(installed)
  service = await startTestService()
})
after(async () => {
  await service.stop()
  rmSync(app, { recursive: true, force: true })
})

/** The Node that runs this test, and those in the PATH. */
function nodes(): string[] {
  const ours = (process.env.PATH ?? '').split(':').map((folder) => join(folder, 'node'))
  const versions = new Map<string, string>()
  for (const node of [process.execPath, ...ours.filter((path) => existsSync(path))]) {
    const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim()
    if (!versions.has(version)) versions.set(version, node)
  }
  return [...versions.values()]
}

const script = `
  import { createCarillon, createProducer, isCarillonError } from 'carillon-client'
  const [baseUrl, key, username, password] = process.argv.slice(2)
  const carillon = createCarillon({
    baseUrl,
    auth: async () => (await carillon.login({ username, password, variant: 'stateless' })).token,
  })
  const producer = createProducer({ baseUrl, key })
  for await (const event of carillon.inbox.subscribe()) {
    if (event.type === 'hello') await producer.send({ recipients: [{ username }], title: 'From ' + process.version })
    if (event.type !== 'created') continue
    console.log(event.notification.title)
    break
  }
  await carillon.inbox.get('nothing').catch((error) => console.log(isCarillonError(error, 'NOT_FOUND')))
`

test('the published package works from node_modules in every installed version of Node', async () => {
  const { key } = await service.producerKey()
  writeFileSync(join(app, 'app.mjs'), script)
  for (const node of nodes()) {
    const { username, password } = await service.user()
    const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim()
    const options = { cwd: app, timeout: 300_000 }
    const { stdout } = await run(node, ['app.mjs', service.url, key, username, password], options)
    assert.equal(stdout, `From ${version}\ntrue\n`, `by ${node}`)
  }
})

function compile(file: string) {
  const options =
    '--noEmit --strict --module nodenext --target es2022 --ignoreConfig --types'.split(' ')
  const args = [join(root, 'node_modules/typescript/bin/tsc'), ...options, '', file]
  return spawnSync(process.execPath, args, { cwd: app, encoding: 'utf8' })
}

test('the published package has types with docstrings', () => {
  writeFileSync(
    join(app, 'right.ts'),
    `import { createCarillon, isCarillonError, type StreamEvent } from 'carillon-client'
const { inbox } = createCarillon({ baseUrl: 'https://bell.example', auth: () => 'token' })
for await (const event of inbox.subscribe()) if (event.type === 'read-all') event.throughSeq satisfies number
const next: string | null = (await inbox.list({ limit: 5 })).next
export const isNotFound = (error: unknown) => isCarillonError(error, 'NOT_FOUND') && (error.code satisfies 'NOT_FOUND')
export type Title = Extract<StreamEvent, { type: 'created' }>['notification']['title']
export const title: Title = next ?? ''
`,
  )
  writeFileSync(
    join(app, 'wrong.ts'),
    `import { createCarillon } from 'carillon-client'
await createCarillon({}).inbox.list({ limit: 'five' })
`,
  )
  writeFileSync(join(app, 'package.json'), '{ "type": "module" }')
  const right = compile('right.ts')
  assert.equal(right.status, 0, right.stdout)
  assert.match(compile('wrong.ts').stdout, /'string' is not assignable to type 'number'/)
  assert.match(
    readFileSync(join(installed, 'inbox.d.ts'), 'utf8'),
    /each once and in order[\s\S]*@example/,
  )
})

const bell = `import { CarillonProvider, type CarillonProviderProps, useInbox } from 'carillon-client/react'
import { createElement } from 'react'
import { renderToString } from 'react-dom/server'

function Bell() {
  const { unread, items, markUnread, more } = useInbox({ status: 'unread', category: ['orders'] })
  const acts: (() => Promise<void>)[] = [() => markUnread(items[0]?.id ?? ''), more]
  return createElement('output', null, unread + acts.length)
}
const props: CarillonProviderProps = { children: createElement(Bell) }
console.log(renderToString(createElement(CarillonProvider, props)))
`

test('with React installed, the hook of the published package has types and renders on a server', () => {
  const linked = ['react', 'react-dom', '@types'].map((name) => [
    join(root, 'node_modules', name),
    join(app, 'node_modules', name),
  ])
  for (const [from = '', to = ''] of linked) symlinkSync(from, to)
  try {
    writeFileSync(join(app, 'bell.ts'), bell)
    assert.equal(compile('bell.ts').stdout, '')
    const { stdout, stderr } = spawnSync(process.execPath, ['bell.ts'], {
      cwd: app,
      encoding: 'utf8',
    })
    assert.deepEqual([stdout, stderr], ['<output>2</output>\n', ''])
    writeFileSync(join(app, 'bell.ts'), bell.replace("'unread', ", "'unseen', "))
    assert.match(compile('bell.ts').stdout, /'"unseen"' is not assignable/)
  } finally {
    for (const [, to = ''] of linked) rmSync(to)
  }
})

test('the published package has a manifest, README and licence, and no comment, test or TypeScript source', () => {
  const files = globSync('**', { cwd: installed }).sort()
  for (const file of [
    'LICENSE',
    'README.md',
    'carillon-client.d.ts',
    'carillon-client.js',
    'package.json',
  ])
    assert.ok(files.includes(file), `${file} is missing`)
  assert.deepEqual(
    files.filter((file) => /test|\.ts$/.test(file) && !file.endsWith('.d.ts')),
    [],
  )
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
  assert.deepEqual(manifest.exports, {
    '.': { types: './carillon-client.d.ts', default: './carillon-client.js' },
    './react': { types: './react/carillon-react.d.ts', default: './react/carillon-react.js' },
    './carillon-push.js': './push/carillon-push.js',
  })
  // A worker of a site imports it, which takes no module.
  assert.doesNotMatch(
    readFileSync(join(installed, 'push', 'carillon-push.js'), 'utf8'),
    /\b(import|export)\b/,
  )
  assert.deepEqual(
    [manifest.peerDependencies, manifest.peerDependenciesMeta],
    [{ react: '>=18' }, { react: { optional: true } }],
  )
  assert.deepEqual(
    [manifest.dependencies, manifest.devDependencies, manifest.scripts],
    Array(3).fill(undefined),
  )
  assert.doesNotMatch(code(), /^\s*(\/\/|\/\*)/m)
})

function code(): string {
  return globSync('**/*.js', { cwd: installed })
    .map((file) => readFileSync(join(installed, file), 'utf8'))
    .join('')
}

test('bundled, minified and compressed, the client of a page has at most 12 KB', async (t) => {
  const entry = join(app, 'page.mjs')
  writeFileSync(entry, "export { createCarillon, isCarillonError } from 'carillon-client'\n")
  const bundle = await rolldown({ input: entry })
  const { output } = await bundle.generate({ format: 'esm', minify: true })
  // Only the code that tabs share a stream with is loaded on demand.
  assert.deepEqual(output[0].imports, [])
  const bytes = gzipSync(output[0].code, { level: 9 }).length
  t.diagnostic(
    `${bytes} bytes; ${gzipSync(code(), { level: 9 }).length} before bundling, with the producer`,
  )
  assert.ok(bytes <= 12_000, `${bytes} bytes`)
})
