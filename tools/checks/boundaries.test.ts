// Checks the boundaries of docs/architecture.md: the graph of the rooms, and the one folder of each
// dependency. It reads the source as text, so a type-only import counts too. biome.json has the
// rules for cycles, undeclared packages, the length of files and the console.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { matchesGlob, posix } from 'node:path'
import { test } from 'node:test'
import { isTest } from './product-files.ts'

/** Every room may import these; they import only each other. */
const basics = [
  'bounded-cache bounded-fetch clock control-characters counts durable-file errors event-loop ids',
  'ip-addresses log log-window rate-limits secrets strict-json traces version',
].flatMap((line) => line.split(' '))

/** These rooms may import less than all lower rooms: files by pattern. */
const narrow: Record<string, string[]> = {
  'server/doctor/store/**': [
    'server/doctor/*.ts',
    'server/metrics/nodes.store.ts',
    'server/store/**',
    'server/tokens/signing-keys.store.ts',
  ],
  'server/doctor/**': [
    'server/config/**',
    'server/issuers/key-set.ts',
    'server/store/database.ts',
    'server/tokens/{key-material,sealing-secret,signing-keys.store}.ts',
  ],
}

/** Its routes take the limit and the shape of the other routes of deliveries. */
const sharesShapes = ['server/delivery/by-key.routes.ts']

/**
 * The service starts this process. What that runs knows the service, and not the other way round.
 */
const outside = ['demonstration/server/{main,settings}.ts']

/**
 * Each runtime dependency has one room, and so have built-in modules that only one layer may use.
 */
const roomsOfPackages: Record<string, string[]> = {
  '@node-rs/argon2': ['server/passwords/**'],
  '@node-rs/bcrypt': ['server/passwords/**'],
  '@simplewebauthn/server': ['server/factors/passkeys/**'],
  '@zxcvbn-ts/language-common': ['server/passwords/**'],
  'carillon-client': ['server/commands/**'],
  commander: ['server/carillon.ts', 'server/commands/**'],
  fastify: ['server/http/**'],
  http_ece: ['server/reach/**'],
  'ipaddr.js': ['server/basics/ip-addresses.ts'],
  jose: ['server/{tokens,issuers,providers,basics,reach}/**'],
  nodemailer: ['server/reach/**'],
  'openid-client': ['server/providers/**'],
  otpauth: ['server/factors/**'],
  pg: ['server/store/postgres/**', 'server/doctor/store/postgres.ts'],
  pino: ['server/basics/log.ts'],
  'pino-pretty': ['server/basics/log.ts'],
  'prom-client': ['server/metrics/**'],
  'request-filtering-agent': ['server/webhooks/**'],
  'temporal-polyfill': ['server/inbox/mail-rules.ts'],
  uqr: ['server/factors/**'],
  'node:http': [
    'server/http/**',
    'server/demonstration/**',
    'server/metrics/**',
    'server/webhooks/**',
  ],
  'node:sqlite': ['server/store/sqlite/**', 'server/doctor/store/sqlite.ts'],
}

type Source = { file: string; code: string; imports: string[] }
type Manifest = { dependencies?: Record<string, string>; devDependencies?: Record<string, string> }

const sources = globSync('**/*.ts', {
  exclude: (name) => name === 'node_modules' || name === 'dist',
}).map(read)
const product = sources.filter(({ file }) => file.startsWith('server/') && !isTest(file))
const client = sources.filter(({ file }) => file.startsWith('client/') && !isTest(file))
/** A page loads without these: the gallery, and the typings for frameworks. */
const element = sources.filter(
  ({ file }) =>
    isIn(file, ['element/**']) && !isTest(file) && !isIn(file, ['element/{gallery,types}/**']),
)
const runtimeDependencies = Object.keys(manifest('server/package.json').dependencies ?? {})

/** Each folder of server/ is a room, and each file in server/ itself. */
const rooms = new Map(
  Map.groupBy(product, ({ file }) => roomOf(file))
    .entries()
    .map(([room, files]) => {
      const known = files.flatMap(({ file, imports }) =>
        inner(file, imports).filter((other) => !isIn(other, outside)),
      )
      return [room, new Set(known.map(roomOf).filter((other) => other !== room))]
    }),
)

function roomOf(file: string): string {
  return file.split('/')[1] ?? ''
}

function isFolder(room: string): boolean {
  return !room.endsWith('.ts')
}

function below(room: string, found = new Set<string>()): Set<string> {
  for (const other of rooms.get(room) ?? []) {
    if (found.has(other)) continue
    found.add(other)
    below(other, found)
  }
  return found
}

/**
 * A room is one above the highest room that it imports. A file in server/ itself is no room, and
 * adds no floor.
 */
function floorOf(room: string): number {
  const highest = Math.max(0, ...[...(rooms.get(room) ?? [])].map(floorOf))
  return isFolder(room) ? highest + 1 : highest
}

/** A line of the drawing is ` 3   audit/  pages/   what they are for`. */
function drawnFloors(): Map<string, number> {
  const lines = readFileSync('docs/architecture.md', 'utf8').matchAll(
    /^ ?(\d+) {3}((?:[a-z-]+\/(?: +|$))+)/gm,
  )
  return new Map(
    lines.flatMap(
      ([, floor, names = '']) =>
        names.match(/[a-z-]+/g)?.map((name) => [name, Number(floor)]) ?? [],
    ),
  )
}

test('a room imports lower rooms only, types included, as docs/architecture.md draws them', () => {
  assert.ok(product.length > 0, 'No product code was found: this test looks in the wrong place.')
  const circles = [...rooms.keys()].filter((room) => below(room).has(room))
  assert.deepEqual(
    circles,
    [],
    'These rooms import each other, directly or through others. Take what is higher as an argument.',
  )
  const floors = new Map([...rooms.keys()].filter(isFolder).map((room) => [room, floorOf(room)]))
  assert.deepEqual(
    drawnFloors(),
    floors,
    'the drawing in docs/architecture.md, on the left, is not the graph of the imports',
  )
})

test('the rooms stand on at most eleven floors, and server/ has at most 32 folders', () => {
  const folders = [...rooms.keys()].filter(isFolder)
  assert.ok(Math.max(...folders.map(floorOf)) <= 11)
  assert.ok(folders.length <= 32, folders.join(' '))
})

test('no product file imports a test, a file outside of server/, or what its narrow room may not know', () => {
  holds(product, ({ file, imports }) => {
    const strays = inner(file, imports).filter((other) => {
      if (isTest(other)) return true
      if (!other.startsWith('server/')) return !isIn(other, outside)
      const known = Object.entries(narrow).find(([room]) => isIn(file, [room]))
      return known !== undefined && roomOf(other) !== 'basics' && !isIn(other, known.flat())
    })
    return strays.map(
      (other) => `${file} imports ${other}, which it may not import. Take it as an argument.`,
    )
  })
})

test('only server/routes.ts imports files of routes, so that no rule lies in one', () => {
  holds(product, ({ file, imports }) =>
    inner(file, imports)
      .filter(
        (other) =>
          other.endsWith('.routes.ts') && file !== 'server/routes.ts' && !isIn(file, sharesShapes),
      )
      .map((other) => `${file} imports ${other}. Move what it needs into a file of its noun.`),
  )
})

test('a module of basics/ is named in this test', () => {
  const found = product
    .filter(({ file }) => roomOf(file) === 'basics')
    .map(({ file }) => posix.basename(file, '.ts'))
  assert.deepEqual(found.sort(), basics.sort())
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
    return places.size > 3
      ? [`${name} is in ${[...places].join(', ')}. Move what belongs together.`]
      : []
  })
})

/** Handlers and guards name their request and reply. */
const typesAnywhere = ['fastify', 'node:http']
const importsOnlyTypes = (code: string, name: string) =>
  typesAnywhere.includes(name) &&
  !new RegExp(`^import (?!type )[^'";]*from '${name}'`, 'm').test(code)

test('only the service imports what the process of the demonstration imports, and its page imports only types of it', () => {
  const ofPage = sources.filter(
    ({ file }) => isIn(file, ['demonstration/{page,texts}/**']) && !isTest(file),
  )
  assert.ok(ofPage.length > 0, 'No page was found: this test looks in the wrong place.')
  holds(ofPage, ({ file, code }) =>
    [...code.matchAll(/^import (?!type )[^'"]*?from '((?:\.\.\/)+server\/[^']*)'/gm)]
      .map(([, name = '']) => name)
      .filter(
        (name) =>
          !name.endsWith('server/pages/texts/texts.ts') &&
          !name.endsWith('server/pages/texts/plurals.ts'),
      )
      .map((name) => `${file} imports ${name}. The page may import types of it.`),
  )
})

test('each runtime dependency has one room', () => {
  holds(product, ({ file, code, imports }) =>
    outer(imports)
      .filter(
        (name) =>
          roomsOfPackages[name] &&
          !isIn(file, roomsOfPackages[name]) &&
          !importsOnlyTypes(code, name),
      )
      .map(
        (name) =>
          `${file} imports ${name}, whose room is ${roomsOfPackages[name]?.join(' and ')}. Call that room instead.`,
      ),
  )
})

test('each runtime dependency is used, in a room of the table', () => {
  holds(runtimeDependencies, (name) => {
    if (!roomsOfPackages[name]) return [`${name} has no room. Give it a row in this test.`]
    const used = product.some(
      ({ file, code }) => isIn(file, roomsOfPackages[name] ?? []) && code.includes(`'${name}`),
    )
    return used
      ? []
      : [`${name} is in server/package.json, and its room does not use it. Remove it.`]
  })
})

test('each dependency is pinned and has its line of reason in docs/decisions/0002-dependencies.md', () => {
  const rows = readFileSync('docs/decisions/0002-dependencies.md', 'utf8').split('\n')
  const manifests = [
    'package.json',
    ...globSync('{server,client,element,tools/*,website}/package.json'),
  ].map(manifest)
  const declared = manifests.flatMap((one) =>
    Object.entries({ ...one.dependencies, ...one.devDependencies }),
  )
  holds(declared, ([name, version]) => {
    if (!/^\d+\.\d+\.\d+/.test(version))
      return [`${name} is declared as ${version}. Pin one version.`]
    const [, , , , reason] =
      rows.find((row) => row.startsWith(`| ${name} | ${version} |`))?.split('|') ?? []
    if (reason?.trim()) return []
    return [
      `${name} ${version} has no true row in docs/decisions/0002-dependencies.md: | ${name} | ${version} | room | reason |`,
    ]
  })
})

test('the client imports only its own files, and React in its folder, so it has no dependency and runs without Node', () => {
  assert.ok(client.length > 0, 'No client was found: this test looks in the wrong place.')
  holds(client, ({ file, imports }) => {
    const packages = outer(imports).filter(
      (name) => name !== 'react' || !isIn(file, ['client/react/**']),
    )
    const strays = [
      ...packages,
      ...inner(file, imports).filter((name) => !name.startsWith('client/')),
    ]
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
    const strays = [
      ...packages,
      ...inner(file, imports).filter((name) => !name.startsWith('element/')),
    ]
    return strays.map((name) => `${file} imports ${name}. A page would have to load it.`)
  })
  holds(sources, ({ file, imports }) =>
    outer(imports).includes('uplot') && !isIn(file, ['pages/operator/**'])
      ? [`${file} imports uplot, whose room is pages/operator/.`]
      : [],
  )
  holds(sources, ({ file, imports }) =>
    outer(imports).includes('lit') &&
    !isIn(file, ['element/**', 'pages/**', 'demonstration/page/**'])
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
      .map(
        (name) =>
          `${file} imports ${name}. Take it as an argument: a bundler would move it into a third file.`,
      ),
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

function inner(file: string, imports: string[]): string[] {
  return imports.filter(isRelative).map((name) => target(file, name))
}

/** Returns packages without paths inside them, and the node: modules. */
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
