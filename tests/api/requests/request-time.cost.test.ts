// What does a request cost the event loop, whatever it is filled with (R10)?
import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { globSync, readFileSync } from 'node:fs'
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import { after, before, test } from 'node:test'
import { type DocumentedRoute, startEveryRoute } from '../../support/http/every-route.ts'
import { bestTimeOf, timeOf, turnsOf } from '../../support/processor-time.ts'
import { inTurns, soakTest } from '../../support/soak.ts'

const env = {
  CARILLON_TRUSTED_PROXIES: '127.0.0.1',
  CARILLON_ALLOWED_ORIGINS: 'https://shop.example',
}
const { app, routes } = await startEveryRoute({ env })
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
after(() => agent.destroy())

type Sent = {
  method?: string
  path?: string
  headers?: Readonly<Record<string, string>>
  body?: string
}

/** A stream ends when it has begun. */
function send({ method = 'GET', path = '/', headers = {}, body }: Sent): Promise<void> {
  const { host, hostname, port } = new URL(app.url)
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  return new Promise<void>((resolve) => {
    const fields = { host, ...length, ...headers }
    const sending = httpRequest(
      { agent, host: hostname, port, method, path, headers: fields },
      (response) => {
        response.on('end', resolve).on('error', () => {})
        if (response.headers['content-type'] === 'text/event-stream') sending.destroy()
        else response.resume()
      },
    )
    sending.on('error', () => {}).on('close', resolve)
    sending.end(body)
  })
}

/** Below this a ratio says nothing: the request alone costs a millisecond. */
const floorMs = 8
const budgetMs = 20

/** At full size a request takes at most three times the time of half the size. */
async function isLinear(name: string, at: (size: number) => Sent, faults: string[]): Promise<void> {
  if ((await timeOf(() => send(at(1)))) < floorMs) return
  const whole = await bestTimeOf(() => send(at(1)))
  if (whole < floorMs) return
  const half = await bestTimeOf(() => send(at(0.5)))
  if (whole > 3 * half)
    faults.push(`${name}: ${whole.toFixed(1)} ms, and ${half.toFixed(1)} ms at half the size`)
}

async function isCheap(name: string, sent: Sent, faults: string[]): Promise<void> {
  const bytes = Buffer.byteLength(sent.body ?? '')
  const maxMs = budgetMs * Math.max(1, bytes / (256 * 1024))
  if ((await timeOf(() => send(sent))) < maxMs) return
  const best = await bestTimeOf(() => send(sent))
  if (best >= maxMs) faults.push(`${name}: ${best.toFixed(1)} ms of ${maxMs.toFixed(0)}`)
}

/** All fields of a request together have at most 16 KiB. */
const fullSize = 14_800
const combining = Buffer.from('\u0301').toString('latin1')
const fillings = [' ', ',', ';', '"', combining, ':']
const moreFillings = [
  '\t',
  '=',
  '\\',
  '/',
  '%',
  '.',
  '-',
  '[',
  '(',
  'a',
  '0',
  ' ,',
  '; ',
  '="',
  ', "',
  ';=',
  '%2',
  '\\"',
]
/** The time to parse a name of them may grow with the square, and no cache has them all. */
const han = letters(0x4e00, 20_000)
const hangul = letters(0xac00, 11_000)

function letters(first: number, count: number): string {
  return Array.from({ length: count }, (_, n) =>
    String.fromCharCode(first + ((n * 7) % count)),
  ).join('')
}

/** The usual values begin like this. */
const beginnings: Readonly<Record<string, string>> = {
  authorization: 'Bearer x',
  cookie: 'carillon=x',
  forwarded: 'for="[',
  'x-forwarded-for': '[',
  'if-none-match': 'W/"x',
  'content-type': 'application/json;x',
  'accept-language': 'en',
  host: '[',
}

/** Bytes of a URL whose host has different letters, percent-encoded. */
function longHost(size: number): string {
  return `http://${encodeURIComponent(han.slice(0, (fullSize * size) / 9))}`
}

function filled(beginning: string, filling: string, size: number): string {
  return `${beginning}${filling.repeat((fullSize * size) / filling.length)}y`
}

/**
 * Those that the description or its text names, and those that are read while requests are served.
 */
const fields = new Set(['accept', 'range', 'if-match'])

const served = 'http.server.request.start'
const noted: ProxyHandler<object> = {
  get: note,
  has: (headers, name) => note(headers, name) !== undefined,
}

function note(headers: object, name: string | symbol): unknown {
  if (typeof name === 'string') {
    fields.add(name)
    const readers = readersOf.get(name) ?? new Set()
    if (current) readersOf.set(name, readers.add(current))
  }
  return Reflect.get(headers, name)
}

/** Also one whose name is made while the program runs. */
function noteFields(message: unknown): void {
  const { request } = message as { request: IncomingMessage }
  Object.defineProperty(request, 'headers', {
    value: new Proxy(request.headers, noted),
    writable: true,
  })
}

/** It ends a proof or the user. */
const isLast = ({ method, template }: DocumentedRoute) =>
  template === '/logout' ||
  (method === 'DELETE' && template.startsWith('/api/me')) ||
  template.endsWith('/password')

type Described = { tags: string[]; parameters?: { name: string; in: string }[] }
const tagOf = new Map<string, string>()
const queriesOf = new Map<string, string[]>()
const readersOf = new Map<string, Set<DocumentedRoute>>()
let current: DocumentedRoute | undefined

const nameOf = ({ method, template }: DocumentedRoute) => `${method} ${template}`

async function readDescription(): Promise<void> {
  const paths = (await app.get('/openapi.json')).json().paths as Record<
    string,
    Record<string, Described>
  >
  for (const [template, operations] of Object.entries(paths))
    for (const [
      method,
      {
        tags: [tag = ''],
        parameters = [],
      },
    ] of Object.entries(operations)) {
      const name = `${method.toUpperCase()} ${template}`
      const namesIn = (place: string) =>
        parameters.filter((one) => one.in === place).map((one) => one.name)
      tagOf.set(name, tag)
      queriesOf.set(name, namesIn('query'))
      for (const field of namesIn('header')) fields.add(field.toLowerCase())
    }
}

function readSources(): void {
  const named = /\bheaders(?:\.(\w+)(?!\()|\['([\w-]+)'\])/g
  for (const file of globSync([
    'server/{http,sign-in,delivery,live,demonstration}/**/*.ts',
    'demonstration/server/**/*.ts',
  ]))
    for (const [, name, quoted = name] of readFileSync(file, 'utf8').matchAll(named))
      if (quoted) fields.add(quoted)
}

before(async () => {
  await readDescription()
  readSources()
  subscribe(served, noteFields)
  for (const route of routes.filter((one) => !isLast(one))) {
    current = route
    const headers = {
      'content-type': 'application/json',
      'if-none-match': '"x"',
      origin: 'https://shop.example',
    }
    const body = jsonOf(route)
    for (const proof of [{}, route.proof])
      await send({ ...route, headers: { ...headers, ...proof }, ...(body && { body }) })
  }
  unsubscribe(served, noteFields)
})

/** By section of the description, proof, and whether it takes a body. */
function oneOfEachKind(): DocumentedRoute[] {
  const kindOf = (route: DocumentedRoute) =>
    `${tagOf.get(nameOf(route))} ${Object.keys(route.proof)} ${route.takesBody}`
  return [
    ...new Map(
      routes.filter((route) => !isLast(route)).map((route) => [kindOf(route), route]),
    ).values(),
  ]
}

const jsonOf = ({ example }: DocumentedRoute) => example && JSON.stringify(example)

function withField(route: DocumentedRoute, name: string, value: string): Sent {
  const body = jsonOf(route)
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  return { ...route, headers: { ...type, ...route.proof, [name]: value }, ...(body && { body }) }
}

type Target = { name: string; at: (size: number) => Sent }

/** `size` as in `isLinear`. */
function filledTargets(all: readonly string[]): Target[] {
  return routes.flatMap((route) => all.flatMap((filling) => filledTargetsOf(route, filling)))
}

function filledTargetsOf(route: DocumentedRoute, filling: string): Target[] {
  const encoded = encodeURIComponent(Buffer.from(filling, 'latin1').toString())
  const raw = /^[!-~]+$/.test(filling) ? filling.replaceAll(/[?#/%]/g, '-') : encoded
  // An encoded path has at most 3,200 characters (requests.ts).
  const maxPath = raw.includes('%') ? 3_000 : fullSize
  const text = (maxSize: number, size: number) => `x${raw.repeat((maxSize * size) / raw.length)}y`
  const name = `${nameOf(route)} with ${JSON.stringify(filling)}`
  const { proof: headers, method, path, template } = route
  const members = (queriesOf.get(nameOf(route)) ?? []).map((member) => ({
    name: `${name} as ${member}`,
    at: (size: number) => ({ method, headers, path: `${path}?${member}=${text(fullSize, size)}` }),
  }))
  const parts = [...template.matchAll(/\{\w+\}/g)].map(([part]) => ({
    name: `${name} in ${part}`,
    at: (size: number) => ({ method, headers, path: template.replace(part, text(maxPath, size)) }),
  }))
  return [...members, ...parts]
}

/** A field that few routes read is sent to each of them. */
function routesFor(name: string, kinds: readonly DocumentedRoute[]): Set<DocumentedRoute> {
  const readers = readersOf.get(name) ?? new Set()
  return new Set(readers.size < 6 ? [...kinds, ...readers] : kinds)
}

test('a header field that any code reads costs time in proportion to its size, on every kind of route (R10)', async (t) => {
  const known = [
    'accept-encoding',
    'accept-language',
    'cookie',
    'x-forwarded-for',
    'x-forwarded-uri',
    'user-agent',
  ]
  for (const name of known)
    assert.ok(fields.has(name), `the field ${name} was not found: ${[...fields].join(' ')}`)
  const kinds = oneOfEachKind()
  t.diagnostic(`${fields.size} fields, ${kinds.length} kinds of routes: ${[...fields].join(' ')}`)
  const faults: string[] = []
  let turn = 0
  for (const name of fields) {
    for (const route of routesFor(name, kinds))
      for (const filling of inTurns(fillings, { every: 3, turn: turn++ })) {
        const at = (size: number) =>
          withField(route, name, filled(beginnings[name] ?? 'x', filling, size))
        await isLinear(`${name} of ${JSON.stringify(filling)}: ${nameOf(route)}`, at, faults)
      }
  }
  assert.deepEqual(faults, [])
})

test('a header field that may be a URL costs time in proportion to its size, also with a host of different letters (R10)', async () => {
  const faults: string[] = []
  for (const name of ['origin', 'x-original-url'])
    for (const route of routesFor(name, oneOfEachKind()))
      await isLinear(
        `${name}: ${nameOf(route)}`,
        (size) => withField(route, name, longHost(size)),
        faults,
      )
  assert.deepEqual(faults, [])
})

test('a member of the query or a part of the path costs time in proportion to its size, on every route that has one (R10)', async (t) => {
  const faults: string[] = []
  let requests = 0
  for (const { name, at } of inTurns(filledTargets(fillings), { every: 5 })) {
    requests++
    await isLinear(name, at, faults)
  }
  t.diagnostic(`${requests} targets`)
  assert.ok(requests > 50)
  assert.deepEqual(faults, [])
})

soakTest(
  'no header field, query or path takes 20 ms of the event loop, on any kind of route and with any filling (R10)',
  async () => {
    const faults: string[] = []
    const all = [...fillings, ...moreFillings]
    const kinds = oneOfEachKind()
    for (const name of fields)
      for (const route of routesFor(name, kinds))
        for (const filling of all)
          for (const beginning of new Set(['x', beginnings[name] ?? '"'])) {
            const sent = withField(route, name, filled(beginning, filling, 1))
            await isCheap(`${name} of ${beginning}${filling}: ${nameOf(route)}`, sent, faults)
          }
    for (const name of fields)
      for (const route of routesFor(name, kinds))
        await isCheap(
          `${name} with a long host: ${nameOf(route)}`,
          withField(route, name, longHost(1)),
          faults,
        )
    const differing = [han, hangul].map((text) =>
      Buffer.from(text.slice(0, 500)).toString('latin1'),
    )
    for (const { name, at } of filledTargets([...all, ...differing]))
      await isCheap(name, at(1), faults)
    assert.deepEqual(faults, [])
  },
)

function routeOf(method: string, template: string): DocumentedRoute {
  const route = routes.find((one) => one.method === method && one.template === template)
  return route ?? assert.fail(`${method} ${template} is not described`)
}

/** Of 64 characters, each another one, or of up to 256 that become as many. */
const names: readonly ((n: number) => string)[] = [
  (n) => han.slice((n * 64) % 19_000).slice(0, 64),
  (n) => hangul.slice((n * 64) % 10_000).slice(0, 64),
  (n) =>
    hangul
      .slice((n * 64) % 10_000)
      .slice(0, 64)
      .normalize('NFD'),
  () => 'ᾀ\u0308'.repeat(125),
  () => 'o\u0323\u0302'.repeat(64),
  () => '\u0315\u0300\u05ae\u0301'.repeat(60),
  () => 'ａb'.repeat(125),
]

test('1,000 names of different letters or many marks are read in many turns (R10)', async () => {
  const faults: string[] = []
  const toNames = routeOf('POST', '/api/notifications')
  const ofNames = routeOf('PUT', '/api/users')
  const list = <Entry>(make: (n: number) => Entry) =>
    Array.from({ length: 1_000 }, (_, n) => make(n))
  for (const [n, nameAt] of names.entries()) {
    const recipients = list((at) => ({ username: nameAt(at) }))
    const users = list((at) => ({
      externalId: `e${at}`,
      username: nameAt(at),
      displayName: nameAt(at),
      unknown: 1,
    }))
    for (const [route, body] of [
      [toNames, { recipients, title: 'Hello' }],
      [ofNames, { users }],
    ] as const) {
      const headers = { 'content-type': 'application/json', ...route.proof }
      const { longest, all } = await turnsOf(
        () => send({ ...route, headers, body: JSON.stringify(body) }),
        budgetMs,
      )
      if (longest >= budgetMs && longest > all / 2)
        faults.push(
          `${nameOf(route)}, names ${n}: ${longest.toFixed(1)} ms of ${all.toFixed(1)} ms in one turn`,
        )
    }
  }
  assert.deepEqual(faults, [])
})

/** Nested, with many members, and with each text of the example filled. */
function* bodiesOf(
  { example = {} }: DocumentedRoute,
  bytes: number,
): Generator<{ name: string; body: string }> {
  const nested = { '[': ']', '{"a":': '}' }
  for (const [open, close] of Object.entries(nested)) {
    const levels = Math.floor(bytes / (open.length + 1))
    yield { name: `nested ${open}`, body: open.repeat(levels) + close.repeat(levels) }
    const shallow = `${open.repeat(30)}0${close.repeat(30)},`
    yield { name: `a list of nested ${open}`, body: `[${shallow.repeat(bytes / shallow.length)}0]` }
  }
  yield { name: 'many keys', body: `{${'"k":[],'.repeat(bytes / 7)}"":0}` }
  const bodyFillings = [
    ...fillings,
    ...moreFillings,
    '\u0301',
    '{',
    '**a ',
    '[a](',
    '`',
    '"',
    han,
    hangul,
    `http://${han}`,
  ]
  for (const member of Object.keys(example))
    for (const filling of bodyFillings) {
      const text = filling.repeat(bytes / Buffer.byteLength(JSON.stringify(filling).slice(1, -1)))
      yield {
        name: `${member} of ${JSON.stringify(filling)}`,
        body: JSON.stringify({ ...example, [member]: text }),
      }
    }
}

soakTest(
  'no body takes 20 ms of the event loop for 256 KiB, nested or with long texts (R10)',
  async () => {
    const faults: string[] = []
    for (const route of routes.filter((one) => one.takesBody && !isLast(one)))
      for (const bytes of [4_000, 60_000, 256 * 1024, 1_000_000])
        for (const { name, body } of bodiesOf(route, bytes)) {
          const headers = { 'content-type': 'application/json', ...route.proof }
          await isCheap(
            `${nameOf(route)}, ${bytes} bytes, ${name}`,
            { ...route, headers, body },
            faults,
          )
        }
    assert.deepEqual(faults, [])
  },
)
