// A list that is answered before Fastify has the bytes of Fastify's: of thousands of random requests, the response is compared with
// that of a server on the same objects, all of whose requests go to Fastify. Likewise each refusal.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Random, randomOf } from '../../tests/support/event-source/random.ts'
import { newDatabase } from '../../tests/support/postgres.ts'
import { Clock } from '../clock.ts'
import { compose } from '../compose.ts'
import { readConfig } from '../config/read.ts'
import type { Environment } from '../config/values.ts'
import { newId } from '../ids.ts'
import { createLog } from '../log/log.ts'
import { openStore } from '../store/open.ts'

const engines = ['sqlite', 'postgres'] as const
const publicUrl = 'http://carillon.example'
const allowed = 'https://app.example'
const requestsPerRun = 1_500

/**
 * Without the time, the id of the request, and its length: those differ between two equal requests. A refusal of HEAD has no body to
 * read the id from, so its content length says nothing.
 */
function comparable(received: string): string {
  const id = /"requestId":"([^"]*)"/.exec(received)?.[1] ?? ''
  const isWithoutId = id === '' && /^HTTP\/1\.1 [45]/.test(received)
  return received
    .replace(/^Date: .*$/m, '')
    .replace(id, '')
    .replace(/^content-length: (\d+)/m, (_, length) =>
      isWithoutId ? 'content-length: unknown' : `content-length: ${Number(length) - id.length}`,
    )
}

for (const engine of engines)
  for (const settings of [{}, { CARILLON_ALLOWED_ORIGINS: allowed }])
    test(`random requests for a list get the same bytes with and without Fastify: ${engine}, ${JSON.stringify(settings)}`, async (t) => {
      const random = randomOf(t)
      const { first, fastify, proofs, etag, countPassed } = await start(t, engine, settings)
      const statuses = new Map<string, number>()
      for (let i = 0; i < requestsPerRun; i++) {
        const text = requestOf(random, { proofs, etag })
        const [early, late] = [await exchange(first, text), await exchange(fastify, text)]
        assert.equal(early, late, text)
        const status = early.slice(9, 12)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
      for (const status of ['200', '304', '400', '401', '421'])
        assert.ok((statuses.get(status) ?? 0) >= 10, `${status}: ${statuses.get(status)} responses`)
      const early = requestsPerRun - countPassed()
      assert.ok(early > requestsPerRun / 4, `${early} requests were answered before Fastify`)
    })

test('a list that is refused before Fastify reads its proof once', async (t) => {
  const { first, countLooks } = await start(t, 'sqlite', {})
  const cookie = `Cookie: carillon=${newId(Date.now())}.${'x'.repeat(43)}`
  const before = countLooks()
  const response = await exchange(
    first,
    `GET /api/notifications HTTP/1.1\r\nHost: carillon.example\r\n${cookie}\r\n\r\n`,
  )
  assert.match(response, /^HTTP\/1\.1 401 /)
  assert.equal(countLooks() - before, 1)
})

test('the store fails: a list before Fastify is the same refusal as through it, and the next one is answered', async (t) => {
  const { first, fastify, proofs, outage } = await start(t, 'sqlite', {})
  const text = `GET /api/notifications HTTP/1.1\r\nHost: carillon.example\r\n${proofs[0]}\r\n\r\n`
  outage.isOn = true
  const [early, late] = [await exchange(first, text), await exchange(fastify, text)]
  assert.match(early, /^HTTP\/1\.1 500 /)
  assert.equal(early, late)
  outage.isOn = false
  assert.match(await exchange(first, text), /^HTTP\/1\.1 200 /)
})

async function start(t: TestContext, engine: (typeof engines)[number], settings: Environment) {
  const dir = mkdtempSync(join(tmpdir(), 'carillon-'))
  const made = engine === 'postgres' ? await newDatabase() : undefined
  const config = readConfig({
    CARILLON_DATABASE_URL: made?.url ?? `sqlite:${join(dir, 'carillon.db')}`,
    CARILLON_SECRET: 'twelve grey herons in the reeds, only for tests',
    CARILLON_PUBLIC_URL: publicUrl,
    CARILLON_INSECURE_HTTP: 'on',
    ...settings,
  })
  const { store } = await openStore(config.database)
  const outage = { isOn: false }
  let looks = 0
  const { findSession } = store
  store.findSession = async (...values) => {
    looks++
    if (outage.isOn) throw new Error('the store fails')
    return findSession.call(store, ...values)
  }
  const log = await createLog({ level: 'silent', isTerminal: false })
  const clock = new Clock({ wall: Date.now, monotonic: () => performance.now() }, () => {})
  const composition = await compose(store, config, { log, clock, random: Math.random, url: () => publicUrl })
  const { app } = composition
  let passed = 0
  app.addHook('onRequest', (request, _, done) => {
    if (request.raw.socket.localPort === (app.server.address() as AddressInfo).port) passed++
    done()
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const behind = createServer({ requireHostHeader: false }, app.routing)
  behind.keepAliveTimeout = app.server.keepAliveTimeout
  for (const listener of app.server.listeners('clientError')) behind.on('clientError', listener as () => void)
  await new Promise<void>((resolve) => behind.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    behind.close()
    await app.close()
    await composition.end()
    await store.close()
    await made?.drop()
    rmSync(dir, { recursive: true, force: true })
  })
  const { proofs, etag } = await fill(composition, portOf(behind))
  return {
    first: portOf(app.server),
    fastify: portOf(behind),
    proofs,
    etag,
    outage,
    countPassed: () => passed,
    countLooks: () => looks,
  }
}

const portOf = (server: Server) => (server.address() as AddressInfo).port

/** The proofs of a user with 7 notifications, and the ETag of the first page. */
async function fill({ users, deliveries }: Awaited<ReturnType<typeof compose>>, port: number) {
  const password = 'plum orchard gate 41'
  const passwordHash = await users.passwords.hash(password)
  const user = { id: newId(Date.now()), username: 'ann', displayName: null, createdAt: Date.now(), passwordHash }
  await users.store.addUser(user)
  for (let n = 1; n <= 7; n++)
    await deliveries.deliver('test', {
      recipients: [{ userId: user.id }],
      title: n % 3 > 0 ? `Order ${n}` : `Grüße ${n} ✓`,
      category: `c${n % 2}`,
    })
  const signIn = async (variant: string) => {
    const body = JSON.stringify({ username: 'ann', password, variant })
    const length = Buffer.byteLength(body)
    const fields = `Host: carillon.example\r\nContent-Type: application/json\r\nContent-Length: ${length}`
    return exchange(port, `POST /login HTTP/1.1\r\n${fields}\r\n\r\n${body}`)
  }
  const cookie = /^set-cookie: (carillon=[^;]+)/im.exec(await signIn('stateful'))?.[1]
  const token = /"token":"([^"]+)"/.exec(await signIn('stateless'))?.[1]
  const proofs = [`Cookie: ${cookie}`, `Authorization: Bearer ${token}`] as const
  const page = await exchange(port, `GET /api/notifications HTTP/1.1\r\nHost: carillon.example\r\n${proofs[0]}\r\n\r\n`)
  return { proofs, etag: /^etag: (.*)$/im.exec(page)?.[1]?.trim() ?? '' }
}

type Known = { proofs: readonly [cookie: string, authorization: string]; etag: string }

/** The text of a request that is often plain, and otherwise differs from a plain one in a few places. */
function requestOf(random: Random, { proofs: [cookie, authorization], etag }: Known): string {
  const one = <Choice>(...choices: readonly Choice[]) => choices[random.below(choices.length)] as Choice
  const often = <Choice>(usual: Choice, ...others: readonly Choice[]) => (random.draw() < 0.8 ? usual : one(...others))
  const queries = [
    '',
    '?page=1&limit=3',
    '?limit=2',
    '?status=unread',
    '?status=all',
    '?before=4&limit=2',
    '?category=c1',
  ]
  const oddQueries = [
    '?',
    '?page=0',
    '?limit=101',
    '?limit=x',
    '?page=1&before=4',
    '?page=1&page=2',
    '?status=%75nread',
  ]
  const moreQueries = [
    '?category=c1&category=c0',
    '?other=1',
    '?limit=%32',
    '?page=2&limit=3',
    '?status=read',
    '?limit=1#a',
  ]
  const query = often(one(...queries), ...oddQueries, ...moreQueries)
  const path = often(
    '/api/notifications',
    '/api/notifications/',
    '/api/notificationsx',
    '//api/notifications',
    '/api/%6eotifications',
  )
  const prefix = often('', 'http://carillon.example', 'http://other.example')
  const host = often(
    'Host: carillon.example',
    'HOST: 127.0.0.1:80',
    'host: localhost',
    'Host: evil.example',
    'Host: a b',
    '',
  )
  const proof = one(
    ...[cookie, authorization, cookie, authorization],
    one(`${cookie}\r\n${authorization}`, `${authorization}\r\n${authorization}`, `${cookie}\r\n${cookie}`, ''),
    one(
      `${cookie}x`,
      `${authorization}x`,
      'Authorization: Basic YQ==',
      'Authorization: Bearer',
      'Cookie: a=b; carillon=c',
    ),
    one(
      `Cookie: a=b; ${cookie.slice(8)}; c=d`,
      authorization.replace('Bearer', 'bearer  '),
      cookie.replace('Cookie', 'COOKIE'),
    ),
  )
  const more = often(
    one('', `If-None-Match: ${etag}`, 'Accept: */*', `if-none-match: "a", W/${etag}`, 'User-Agent: test'),
    'Origin: http://carillon.example',
    `Origin: ${allowed}`,
    'Origin: https://evil.example\r\nSec-Fetch-Site: cross-site',
    'Content-Type: application/json',
    'Content-Type: a\r\nContent-Type: b',
    'Content-Length: 0',
    'Content-Encoding: gzip',
    'Transfer-Encoding: gzip',
    'Host: carillon.example',
    `If-None-Match: ${etag}\r\nIf-None-Match: "b"`,
    'Connection: keep-alive',
    'X-Forwarded-For: 1.2.3.4',
  )
  const method = often('GET', 'HEAD', 'POST', 'OPTIONS', 'DELETE')
  const version = often('HTTP/1.1', 'HTTP/1.0')
  const fields = [host, proof, more].filter((field) => field !== '')
  if (random.draw() < 0.2) fields.reverse()
  return `${[`${method} ${prefix}${path}${query} ${version}`, ...fields].join('\r\n')}\r\n\r\n`
}

/** Sends the text on a connection of its own. Returns what was received, without what changes from request to request. */
function exchange(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1').setEncoding('latin1')
    let received = ''
    const end = () => {
      socket.destroy()
      resolve(comparable(received))
    }
    socket.on('data', (piece: string) => {
      received += piece
      const [head = '', body] = received.split('\r\n\r\n', 2)
      const length = text.startsWith('HEAD') ? 0 : Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0)
      if (body !== undefined && body.length >= length) end()
    })
    socket.setTimeout(10_000, () => socket.destroy(new Error(`no whole response to ${text}`)))
    socket.on('error', reject)
    socket.on('end', end)
    socket.write(text)
  })
}
