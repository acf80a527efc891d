// Checks the boundaries of docs/architecture.md: which folder may import which, and the one folder of each dependency. It
// reads the source as text, so a type-only import counts like any other import. biome.json has the rules for cycles, for packages that are
// not declared, for the length of files and for the console.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { matchesGlob, posix } from 'node:path'
import { test } from 'node:test'
import { isTest } from './product-files.ts'

const entryPoints = ['server/{carillon,serve,compose}.ts']
const composition = [...entryPoints, 'server/start/**', 'server/commands/**']

/** The order of the rooms. A room imports itself and rooms of earlier steps, never one of its own step. */
const steps = [
  ['store', 'http'],
  ['audit', 'pages'],
  ['passwords', 'producers', 'guessing', 'tokens'],
  ['users', 'inbox'],
  ['issuers', 'sessions', 'delivery', 'live', 'preferences'],
  ['factors', 'guards'],
  ['providers', 'sign-in', 'links'],
]
const foldersOf = (names: readonly string[]) => names.map((name) => `server/${name}/**`)
const ordered = steps.flatMap((step, n) =>
  step.map((name) => ({ room: foldersOf([name]), knows: foldersOf(steps.slice(0, n).flat()) })),
)
/** What stands above the steps, and knows all of them. */
const above = ['mail']
const rooms = foldersOf([...steps.flat(), ...above])

/** Every room and what it may import besides itself and the leaves. The first matching row is a file's room. */
const arrows: { room: string[]; knows: string[] }[] = [
  { room: ['server/config/**'], knows: [] },
  // The data of a user lies in many rooms.
  { room: ['server/users/own-data/**'], knows: rooms },
  ...ordered,
  ...above.map((name) => ({ room: foldersOf([name]), knows: rooms })),
  {
    room: ['server/doctor/store/**'],
    knows: ['server/doctor/*.ts', 'server/store/**', 'server/tokens/signing-keys.store.ts'],
  },
  {
    room: ['server/doctor/**'],
    knows: [
      'server/start/sealing-secret.ts',
      'server/tokens/{key-material,signing-keys.store}.ts',
      'server/issuers/key-set.ts',
    ],
  },
  // The process that it starts. What that runs knows the service, and not the other way round.
  { room: ['server/demonstration/**'], knows: [...rooms, 'demonstration/server/{main,settings}.ts'] },
  { room: ['server/{writes,routes}.ts'], knows: [...rooms, 'server/demonstration/**'] },
  { room: ['server/{open-store,writer}.ts'], knows: ['server/writes.ts', 'server/store/**'] },
  {
    room: composition,
    knows: [
      ...rooms,
      'server/{config,demonstration,doctor,start}/**',
      'server/{carillon,serve,compose,open-store,routes}.ts',
      'server/store/*.ts',
      'server/store/transfer/**',
    ],
  },
  { room: ['server/basics/**'], knows: [] },
]

/** Files that any room may import. They import only each other. */
const leaves = [
  'server/basics/{bounded-cache,bounded-fetch,client,clock,control-characters,durable-file,errors,event-loop,ids}.ts',
  'server/basics/{ip-addresses,log,log-window,secrets,strict-json,version}.ts',
  'server/config/{values,database-url,issuers,providers}.ts',
]

/** The one room of each runtime dependency, and of built-in modules that only one layer may use. */
const roomsOfPackages: Record<string, string[]> = {
  '@node-rs/argon2': ['server/passwords/**'],
  '@node-rs/bcrypt': ['server/passwords/**'],
  '@simplewebauthn/server': ['server/factors/passkeys/**'],
  '@zxcvbn-ts/language-common': ['server/passwords/**'],
  'carillon-client': ['server/commands/**'],
  commander: ['server/carillon.ts', 'server/commands/**'],
  fastify: ['server/http/**'],
  'ipaddr.js': ['server/basics/ip-addresses.ts'],
  jose: ['server/{tokens,issuers,providers,basics}/**'],
  nodemailer: ['server/mail/**'],
  'openid-client': ['server/providers/**'],
  otpauth: ['server/factors/**'],
  pg: ['server/store/postgres/**', 'server/doctor/store/postgres.ts'],
  pino: ['server/basics/log.ts'],
  'pino-pretty': ['server/basics/log.ts'],
  uqr: ['server/factors/**'],
  'node:http': ['server/http/**', 'server/demonstration/**'],
  'node:sqlite': ['server/store/sqlite/**', 'server/doctor/store/sqlite.ts'],
}

type Source = { file: string; code: string; imports: string[] }
type Manifest = { dependencies?: Record<string, string>; devDependencies?: Record<string, string> }

const sources = globSync('**/*.ts', { exclude: (name) => name === 'node_modules' || name === 'dist' }).map(read)
const product = sources.filter(({ file }) => file.startsWith('server/') && !isTest(file))
const client = sources.filter(({ file }) => file.startsWith('client/') && !isTest(file))
/** Without what a page does not load: the gallery, and the typings for frameworks. */
const element = sources.filter(
  ({ file }) => isIn(file, ['element/**']) && !isTest(file) && !isIn(file, ['element/{gallery,types}/**']),
)
const runtimeDependencies = Object.keys(manifest('server/package.json').dependencies ?? {})

test('arrows go one way', () => {
  assert.ok(product.length > 0, 'No product code was found: this test looks in the wrong place.')
  holds(product, ({ file, imports }) => {
    const arrow = arrows.find(({ room }) => isIn(file, room))
    if (!arrow) return [`${file} is in no room. Move it into one, or give its folder a row in this test.`]
    const known = [...arrow.room, ...arrow.knows, ...leaves]
    const strays = inner(file, imports).filter((other) => isTest(other) || !isIn(other, known))
    return strays.map((other) => `${file} imports ${other}, which it may not import. Take it as an argument.`)
  })
})

test('the rooms stand in at most seven steps, and server/ has at most 28 folders', () => {
  assert.ok(steps.length <= 7)
  const folders = new Set(product.map(({ file }) => file.split('/')).flatMap(([, name, more]) => (more ? name : [])))
  assert.ok(folders.size <= 28, [...folders].join(' '))
})

test('a file name up to its first dot is in at most three folders, so that a subject is in one place', () => {
  // The texts of the pages have one folder for each language.
  const named = globSync('server/**/*.{ts,js,sql,css}', {
    exclude: (name) => ['bundle', 'public', 'texts'].includes(name),
  })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !isTest(path))
  const folders = Map.groupBy(named, (path) => posix.basename(path).replace(/\..*/, ''))
  holds([...folders], ([name, paths]) => {
    const places = new Set(paths.map((path) => posix.dirname(path)))
    return places.size > 3 ? [`${name} is in ${[...places].join(', ')}. Move what belongs together.`] : []
  })
})

/** Handlers and guards name their request and reply. */
const typesAnywhere = ['fastify', 'node:http']
const importsOnlyTypes = (code: string, name: string) =>
  typesAnywhere.includes(name) && !new RegExp(`^import (?!type )[^'";]*from '${name}'`, 'm').test(code)

test('only the service imports what the process of the demonstration imports, and its page imports only types of it', () => {
  const ofPage = sources.filter(({ file }) => isIn(file, ['demonstration/{page,texts}/**']) && !isTest(file))
  assert.ok(ofPage.length > 0, 'No page was found: this test looks in the wrong place.')
  holds(ofPage, ({ file, code }) =>
    [...code.matchAll(/^import (?!type )[^'"]*?from '((?:\.\.\/)+server\/[^']*)'/gm)]
      .map(([, name = '']) => name)
      .filter(
        (name) => !name.endsWith('server/pages/texts/texts.ts') && !name.endsWith('server/pages/texts/plurals.ts'),
      )
      .map((name) => `${file} imports ${name}. The page may import types of it.`),
  )
})

test('each runtime dependency has one room', () => {
  holds(product, ({ file, code, imports }) =>
    outer(imports)
      .filter((name) => roomsOfPackages[name] && !isIn(file, roomsOfPackages[name]) && !importsOnlyTypes(code, name))
      .map(
        (name) =>
          `${file} imports ${name}, whose room is ${roomsOfPackages[name]?.join(' and ')}. Call that room instead.`,
      ),
  )
})

test('each runtime dependency is used, in a room of the table', () => {
  holds(runtimeDependencies, (name) => {
    if (!roomsOfPackages[name]) return [`${name} has no room. Give it a row in this test.`]
    const used = product.some(({ file, code }) => isIn(file, roomsOfPackages[name] ?? []) && code.includes(`'${name}`))
    return used ? [] : [`${name} is in server/package.json, and its room does not use it. Remove it.`]
  })
})

test('each dependency is pinned and has its line of reason in docs/decisions/0002-dependencies.md', () => {
  const rows = readFileSync('docs/decisions/0002-dependencies.md', 'utf8').split('\n')
  const manifests = ['package.json', ...globSync('{server,client,element,tools/*,website}/package.json')].map(manifest)
  const declared = manifests.flatMap((one) => Object.entries({ ...one.dependencies, ...one.devDependencies }))
  holds(declared, ([name, version]) => {
    if (!/^\d+\.\d+\.\d+/.test(version)) return [`${name} is declared as ${version}. Pin one version.`]
    const [, , , , reason] = rows.find((row) => row.startsWith(`| ${name} | ${version} |`))?.split('|') ?? []
    if (reason?.trim()) return []
    return [
      `${name} ${version} has no true row in docs/decisions/0002-dependencies.md: | ${name} | ${version} | room | reason |`,
    ]
  })
})

test('the client imports only its own files, and React in its folder, so it has no dependency and runs without Node', () => {
  assert.ok(client.length > 0, 'No client was found: this test looks in the wrong place.')
  holds(client, ({ file, imports }) => {
    const packages = outer(imports).filter((name) => name !== 'react' || !isIn(file, ['client/react/**']))
    const strays = [...packages, ...inner(file, imports).filter((name) => !name.startsWith('client/'))]
    return strays.map((name) => `${file} imports ${name}. The client has to contain what it needs.`)
  })
})

test('only client/react imports its files, so an application without React needs none', () => {
  holds(client, ({ file, imports }) =>
    isIn(file, ['client/react/**'])
      ? []
      : inner(file, imports)
          .filter((name) => isIn(name, ['client/react/**']))
          .map((name) => `${file} imports ${name}, which imports React.`),
  )
})

test('the element imports only Lit, the client and its own files, and only the element and the pages import Lit', () => {
  assert.ok(element.length > 0, 'No element was found: this test looks in the wrong place.')
  holds(element, ({ file, imports }) => {
    const packages = outer(imports).filter((name) => !['lit', 'carillon-client'].includes(name))
    const strays = [...packages, ...inner(file, imports).filter((name) => !name.startsWith('element/'))]
    return strays.map((name) => `${file} imports ${name}. A page would have to load it.`)
  })
  holds(sources, ({ file, imports }) =>
    outer(imports).includes('lit') && !isIn(file, ['element/**', 'pages/**', 'demonstration/page/**'])
      ? [`${file} imports lit, whose rooms are element/, pages/ and demonstration/page/.`]
      : [],
  )
})

test('what the element loads on demand imports no value of Lit or of the client, which the entry point has', () => {
  const onDemand = element.filter(({ file }) => isIn(file, ['element/inbox/view/**']))
  assert.ok(onDemand.length > 0, 'No view was found: this test looks in the wrong place.')
  holds(onDemand, ({ file, code }) =>
    [...code.matchAll(/^import (?!type )[^'"]*?from '((?:lit|carillon-client|\.\.\/)[^']*)'/gm)]
      .map(([, name = '']) => name)
      .filter((name) => !/\/(times|inbox-styles)\.ts$/.test(name))
      .map((name) => `${file} imports ${name}. Take it as an argument: a bundler would move it into a third file.`),
  )
})

function holds<Item>(items: readonly Item[], breachesOf: (item: Item) => string[]): void {
  const breaches = items.flatMap(breachesOf)
  assert.ok(breaches.length === 0, `\n${breaches.join('\n')}`)
}

function read(path: string): Source {
  const file = path.replaceAll('\\', '/')
  const code = withoutComments(readFileSync(path, 'utf8'))
  const forms = [
    /^(?:import|export)\b[^'";]*?\bfrom '([^']+)'/gm,
    /^import '([^']+)'/gm,
    /(?<!["'`\w])import\('([^']+)'\)/g,
    /\bnew URL\('([^']+\.[cm]?[jt]s)', import\.meta\.url\)/g,
  ]
  const imports = forms.flatMap((form) => [...code.matchAll(form)].map(([, name = '']) => name))
  return { file, code, imports }
}

/** A comment that begins in the middle of a line stays only if it is a block comment. */
function withoutComments(text: string): string {
  return text.replace(/^\s*\/\*[\s\S]*?\*\//gm, '').replace(/(^|\s)\/\/.*$/gm, '$1')
}

function manifest(path: string): Manifest {
  return JSON.parse(readFileSync(path, 'utf8'))
}

/** The imported files of this repository. */
function inner(file: string, imports: string[]): string[] {
  return imports.filter(isRelative).map((name) => target(file, name))
}

/** The imported packages, without paths inside them, and the node: modules. */
function outer(imports: string[]): string[] {
  const names = imports.filter((name) => !isRelative(name))
  return names.map((name) => name.match(/^(?:@[^/]+\/)?[^/]+/)?.[0] ?? name)
}

function target(file: string, name: string): string {
  return posix.join(posix.dirname(file), name)
}

function isRelative(name: string): boolean {
  return /^[./]/.test(name)
}

function isIn(file: string, globs: string[]): boolean {
  return globs.some((glob) => matchesGlob(file, glob))
}
