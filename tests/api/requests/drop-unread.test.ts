// The service drops the rest of a refused body, so that a proxy that still sends gets the refusal,
// not a reset (RFC 9112, section 9.6; I2, R9).
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, suite, test } from 'node:test'
import { refusalIn } from '../../support/http/envelope.ts'
import { exchangeBytes, readResponses } from '../../support/http/raw-http.ts'
import { WritingProxy } from '../../support/proxies/writing-proxy.ts'
import { type Proof, startTestService } from '../../support/service.ts'
import { inTurns, isSoak } from '../../support/soak.ts'

const trusted = 'https://app.example'
const app = await startTestService({ env: { CARILLON_ALLOWED_ORIGINS: trusted } })
after(() => app.stop())
const ann = await app.user('ann')
const cookie = await app.signIn(ann, 'stateful')
const token = await app.signIn(ann, 'stateless')
const { key } = await app.producerKey()
const { paths } = (await app.get('/openapi.json')).json() as { paths: Record<string, object> }
const routes = Object.entries(paths).flatMap(([template, methods]) =>
  Object.keys(methods).map(
    (method) => [method.toUpperCase(), template.replace('{id}', 'x')] as const,
  ),
)
/** More than any route accepts and nginx lets through. */
const large = Buffer.alloc(1024 * 1024 + 100_000, 'a')
const chunk = Buffer.concat([
  Buffer.from('8000\r\n'),
  Buffer.alloc(0x8000, 'a'),
  Buffer.from('\r\n'),
])
const largeChunked = Buffer.concat([...Array(34).fill(chunk), Buffer.from('0\r\n\r\n')])

const json = { 'content-type': 'application/json' }
const proofs: Record<string, Proof> = {
  'no proof': {},
  'a session': cookie,
  'a token': token,
  'a key': { authorization: `Bearer ${key}` },
}
/** Every route can send these before the body is read. */
const faults: Record<string, Proof> = {
  'no media type': {},
  'another media type': { 'content-type': 'text/plain' },
  'a broken media type': { 'content-type': 'nonsense' },
  'an encoded body': { ...json, 'content-encoding': 'gzip' },
  'a cookie from another site': { ...json, ...cookie, 'sec-fetch-site': 'cross-site' },
  'a form of another site, from a browser': {
    'content-type': 'application/x-www-form-urlencoded',
    accept: 'text/html',
    ...cookie,
    origin: 'https://evil.example',
  },
  'a forged token': { ...json, authorization: 'Bearer a.b.c' },
  'a Host that is none': { ...json, host: 'a/b' },
  'a Host of another service': { ...json, host: 'example.org' },
  'an expectation': { ...json, expect: 'nonsense' },
  'header fields of 20 KB': { ...json, 'x-a': 'a'.repeat(20_000) },
  'a value with a control character': { ...json, 'x-a': 'a\x01b' },
  'a preflight': { origin: trusted, 'access-control-request-method': 'POST' },
}
const byLength = { 'content-length': String(large.length) }
const inChunks = { 'transfer-encoding': 'chunked' }
const framings: readonly (readonly [fields: Proof, body: Buffer])[] = [
  [byLength, large],
  [{ ...byLength, connection: 'close' }, large],
  [inChunks, largeChunked],
]

const headOf = (line: string, fields: Proof) =>
  `${[line, ...Object.entries({ host: 'localhost', ...fields }).map(([name, value]) => `${name}: ${value}`)].join('\r\n')}\r\n\r\n`

/** A second request would show a rest of the first. Returns what went wrong, and the status. */
async function passed(proxy: WritingProxy, head: string, body: Buffer | string) {
  const { status, text } = await proxy.pass(head, body)
  const next = await proxy.pass(headOf('GET /livez HTTP/1.1', {}))
  const isSound = status < 500 && next.status === 200 && /alive/.test(next.text)
  return { status, wrong: isSound ? [] : [`${status} ${text}, then ${next.status} ${next.text}`] }
}

const workers = 8

type Case = readonly [name: string, line: string, fields: Proof]

/** Their responses have no length: they have tests of their own. */
function isStreamed([, line, fields]: Case): boolean {
  const isSignedIn = fields.cookie !== undefined || fields.authorization === token.authorization
  return isSignedIn && /\/(stream|export) /.test(line)
}

function partOf(ofRoutes: readonly Case[][], every: number): Case[] {
  return ofRoutes.flatMap((cases, turn) => inTurns(cases, { every, turn }))
}

/** One framing in turns, with SOAK=1 every one. */
async function allPass(cases: readonly Case[]): Promise<number[]> {
  const framingsOf = (index: number) =>
    isSoak ? framings : [framings[index % framings.length] ?? assert.fail()]
  const seen = new Set<number>()
  const wrong: string[] = []
  const work = async (worker: number) => {
    using proxy = new WritingProxy(app.url)
    for (const [index, one] of cases.entries()) {
      if (index % workers !== worker || isStreamed(one)) continue
      const [name, line, fields] = one
      for (const [framing, body] of framingsOf(index)) {
        const { status, wrong: found } = await passed(
          proxy,
          headOf(line, { ...fields, ...framing }),
          body,
        )
        seen.add(status)
        wrong.push(...found.map((fault) => `${name}, ${JSON.stringify(framing)}: ${fault}`))
      }
    }
    if (proxy.failures > 0) wrong.push(`${proxy.failures} failures of the node`)
  }
  await Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)))
  assert.deepEqual(wrong, [])
  return [...seen].sort()
}

test('a large body to any route, with any proof, gets its response through a proxy that sends before it reads (I10, R9)', async () => {
  const all = routes.map(([method, path]) =>
    Object.entries(proofs).map(
      ([proof, fields]): Case => [
        `${method} ${path} with ${proof}`,
        `${method} ${path} HTTP/1.1`,
        { ...json, ...fields },
      ],
    ),
  )
  const cases = partOf(all, 3)
  assert.ok(cases.length > 50)
  assert.deepEqual(await allPass(cases), [200, 302, 303, 400, 401, 403, 404, 413])
})

test('a large body that is refused for another reason, on any route, gets its response through such a proxy (I10, R9)', async () => {
  const all = routes.map(([method, path]) =>
    Object.entries(faults).map(
      ([fault, fields]): Case => [
        `${method} ${path} with ${fault}`,
        `${method} ${path} HTTP/1.1`,
        fields,
      ],
    ),
  )
  const cases = partOf(all, 13)
  assert.deepEqual(await allPass(cases), [200, 302, 303, 400, 401, 403, 404, 413, 415, 421, 431])
})

test('a large body to a path without a route gets its response through such a proxy (I10, R9)', async () => {
  const targets = [
    '/nowhere',
    '/login%00',
    '/%zz',
    '/%6cogin',
    '/login#a',
    '/\xff',
    '*',
    'http://[::/',
  ]
  const lines = ['PUT', 'OPTIONS', 'FOO', 'HEAD', 'POST'].flatMap((method) => [
    ...targets.map((target) => `${method} ${target} HTTP/1.1`),
    `${method} /login HTTP/1.1`,
    `${method} /nowhere HTTP/1.0`,
    `${method} /nowhere HTTP/2.0`,
  ])
  // The response to HEAD has a body if the parser did not read as far as the method.
  const sound = lines.filter((line) => line !== 'HEAD /\xff HTTP/1.1')
  const cases = [...sound, 'CONNECT /login HTTP/1.1', 'nonsense'].map(
    (line): Case => [line, line, json],
  )
  assert.deepEqual(await allPass(cases), [400, 404, 405, 413])
})

test('a preflight, a live stream and an export with a large body get their responses (I10)', async () => {
  using proxy = new WritingProxy(app.url)
  const preflight = {
    ...faults['a preflight'],
    'content-length': String(large.length),
    connection: 'close',
  }
  assert.equal((await proxy.pass(headOf('OPTIONS /login HTTP/1.1', preflight), large)).status, 204)
  assert.equal(proxy.failures, 0)
  for (const [path, type] of [
    ['/api/notifications/stream', 'text/event-stream'],
    ['/api/me/export', 'application/x-ndjson'],
  ]) {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(app.url).port) })
    socket.write(
      headOf(`GET ${path} HTTP/1.1`, { ...cookie, 'content-length': String(large.length) }),
    )
    socket.write(large)
    const [bytes] = await once(socket, 'data')
    socket.destroy()
    assert.match(String(bytes), /^HTTP\/1\.1 200 OK\r\n/)
    assert.match(String(bytes), new RegExp(`content-type: ${type}`))
  }
})

test('a service that stops refuses a large body through such a proxy, and closes the connection after the response (R9)', async () => {
  const other = await startTestService()
  using proxy = new WritingProxy(other.url)
  const fields = { ...json, 'content-length': String(large.length) }
  const lines = ['POST /nowhere', 'GET /readyz', 'POST /login']
  const pools = lines.map(() => new WritingProxy(other.url))
  for (const pool of pools) await pool.pass(headOf('GET /livez HTTP/1.1', {}))
  // After a request for readiness, the service listens for a while after the signal.
  await proxy.pass(headOf('GET /readyz HTTP/1.1', {}))
  const stopped = other.stop()
  const responses = await Promise.all(
    lines.map((line, index) => pools[index]?.pass(headOf(`${line} HTTP/1.1`, fields), large)),
  )
  assert.deepEqual(
    responses.map((response) => [response?.status, response?.headers.get('connection')]),
    [
      [404, 'close'],
      [503, 'close'],
      [413, 'close'],
    ],
  )
  await stopped
})

const refused = headOf('POST /api/notifications HTTP/1.1', {
  ...json,
  'content-length': String(large.length),
})

test('a refusal is sent at once to a client that waits for it before it sends its body (I2)', async () => {
  for (const expect of ['', 'Expect: 100-continue\r\n']) {
    const head = refused.replace('\r\n\r\n', `\r\n${expect}\r\n`)
    const next = headOf('GET /livez HTTP/1.1', { connection: 'close' })
    const { bytes } = await exchangeBytes(
      app.url,
      [head, Buffer.concat([large, Buffer.from(next)])],
      { inTurn: true },
    )
    const [refusal, sound, ...more] = readResponses(bytes)
    assert.equal(refusalIn(refusal ?? assert.fail('no response')).status, 401)
    assert.equal(sound?.status, 200, 'the connection was not kept')
    assert.deepEqual(more, [])
  }
})

test('bytes after a refused body are read as the next request, and bytes in the body never are (I7)', async () => {
  const hidden = Buffer.from('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(1_000))
  const next = headOf('GET /routeRestreinte HTTP/1.1', { ...cookie, connection: 'close' })
  const lengthOf = (body: Buffer) => ({ ...json, 'content-length': String(body.length) })
  for (const line of ['POST /nowhere', 'PUT /login', 'POST /api/me', 'GET /livez']) {
    const head = headOf(`${line} HTTP/1.1`, lengthOf(hidden))
    const { bytes } = await exchangeBytes(app.url, [
      Buffer.concat([Buffer.from(head), hidden, Buffer.from(next)]),
    ])
    const statuses = readResponses(bytes).map(({ status }) => status)
    assert.equal(statuses.length, 2, `${line}: ${statuses}`)
    assert.equal(statuses[1], 200, line)
  }
})

async function sendsForEver(start: string, piece: Buffer | string, everyMs: number) {
  const socket = connect({
    host: '127.0.0.1',
    port: Number(new URL(app.url).port),
    allowHalfOpen: true,
  })
  const startedAt = performance.now()
  const received: Buffer[] = []
  const closed = new Promise<number>((resolve) => {
    socket.on('error', () => {})
    socket.on('close', () => resolve(performance.now() - startedAt))
  })
  socket.on('data', (bytes: Buffer) => received.push(bytes))
  let sent = 0
  socket.write(Buffer.from(start, 'latin1'))
  const sending = setInterval(() => {
    if (socket.writableLength > 0) return
    socket.write(piece, (error) => {
      if (!error) sent += piece.length
    })
  }, everyMs)
  const lifeMs = await closed
  clearInterval(sending)
  return { lifeMs, sent, bytes: Buffer.concat(received) }
}

const starts: Record<string, string> = {
  'a refused body in chunks': `${headOf('POST /nowhere HTTP/1.1', { 'transfer-encoding': 'chunked' })}fffffff\r\n`,
  'what is no request': '\x16\x03 nonsense\r\n\r\n',
  'an expectation': headOf('POST /login HTTP/1.1', {
    expect: 'nonsense',
    'content-length': '99999999999',
  }),
}

suite('the limits of dropping', { concurrency: true }, () => {
  for (const [name, start] of Object.entries(starts)) {
    test(`${name}: at least the largest body of a route is dropped, and at most 8 MiB and what the system buffers (I10)`, async () => {
      const { sent, bytes } = await sendsForEver(start, Buffer.alloc(64 * 1024, 'a'), 1)
      assert.ok(sent >= 4 * 1024 * 1024, `${sent} bytes`)
      assert.ok(sent <= 28 * 1024 * 1024, `${sent} bytes`)
      assert.equal(readResponses(bytes).length, 1)
    })

    test(`${name}, one byte at a time: it is read for 5 s, and the connection is closed before 10 s (I8, I10)`, async () => {
      const { lifeMs, bytes } = await sendsForEver(start, 'a', 100)
      // The delay of a busy machine is added to the upper limit only.
      assert.ok(lifeMs >= 5_000 && lifeMs < 40_000, `it lived for ${lifeMs} ms`)
      assert.equal(readResponses(bytes).length, 1)
    })
  }

  test('a body in chunks of one byte is dropped no longer than a body of few large chunks (I10)', async () => {
    const start = headOf('POST /nowhere HTTP/1.1', { 'transfer-encoding': 'chunked' })
    const { sent } = await sendsForEver(start, '1\r\na\r\n'.repeat(10_000), 1)
    assert.ok(sent < 16 * 1024 * 1024, `${sent} bytes`)
    assert.equal((await app.get('/livez')).status, 200)
  })
})
