// The published package has types and a manifest. packages.test.ts runs it, and build.test.ts
// measures it.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { build } from './build.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const app = mkdtempSync(join(tmpdir(), 'carillon-client-'))
const installed = join(app, 'node_modules', 'carillon-client')
build(installed)
after(() => rmSync(app, { recursive: true, force: true }))

function compile(...files: string[]) {
  const options =
    '--noEmit --strict --module nodenext --target es2022 --ignoreConfig --types'.split(' ')
  const args = [join(root, 'node_modules/typescript/bin/tsc'), ...options, '', ...files]
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
  writeFileSync(join(app, 'package.json'), '{ "type": "module" }')
  const right = compile('right.ts')
  assert.equal(right.status, 0, right.stdout)
  assert.match(
    readFileSync(join(installed, 'inbox.d.ts'), 'utf8'),
    /each once and in order[\s\S]*@example/,
  )
})

const wrong = `import { createCarillon } from 'carillon-client'
await createCarillon({}).inbox.list({ limit: 'five' })
`

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
    writeFileSync(join(app, 'wrong.ts'), wrong)
    writeFileSync(join(app, 'bell.ts'), bell)
    assert.equal(compile('bell.ts').stdout, '')
    const { stdout, stderr } = spawnSync(process.execPath, ['bell.ts'], {
      cwd: app,
      encoding: 'utf8',
    })
    assert.deepEqual([stdout, stderr], ['<output>2</output>\n', ''])
    writeFileSync(join(app, 'bell.ts'), bell.replace("'unread', ", "'unseen', "))
    const refused = compile('wrong.ts', 'bell.ts').stdout
    assert.match(refused, /'string' is not assignable to type 'number'/)
    assert.match(refused, /'"unseen"' is not assignable/)
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
