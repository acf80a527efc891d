// Bytes that two parsers would read differently get one envelope, and no other client is affected
// (I7, E1, E2, Z10).
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { refusalIn } from '../../support/http/envelope.ts'
import { exchangeBytes, readResponses } from '../../support/http/raw-http.ts'
import { isUsuallyQuick } from '../../support/processes/nodes.ts'
import { startTestService } from '../../support/service.ts'
import { isSoak } from '../../support/soak.ts'

const app = await startTestService({ env: { CARILLON_ALLOWED_HOSTS: 'a' } })
after(() => app.stop())

/** `Connection: close`: no other request follows, if the server reads so far. */
const head = (...lines: string[]) => `${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`
const get = (...fields: string[]) => head('GET /livez HTTP/1.1', 'Host: a', ...fields)
const path = (target: string) => head(`GET ${target} HTTP/1.1`, 'Host: a')
const json = 'Content-Type: application/json'
const post = (fields: string[], body = '') =>
  `${head('POST /login HTTP/1.1', 'Host: a', ...fields)}${body}`
const chunks = (body: string) => post([json, 'Transfer-Encoding: chunked'], body)
/** Alone it would be 401. */
const signIn = '{"username":"x","password":"y"}'
const signInChunks = `${signIn.length.toString(16)}\r\n${signIn}\r\n0\r\n\r\n`
const length = (value: string, body = 'hello') => post([json, `Content-Length: ${value}`], body)
/** The server waits less for the rest of a refused body. */
const timeoutMs = 60_000
const bytes = (text: string) => Buffer.from(text, 'latin1')

/** With the status of the response. */
const corpus: Record<string, readonly [string | Buffer, number]> = {
  'no Host': [head('GET /livez HTTP/1.1'), 400],
  'two Hosts': [head('GET /livez HTTP/1.1', 'Host: a', 'Host: b'), 400],
  'two Hosts, the same': [head('GET /livez HTTP/1.1', 'Host: a', 'Host: a'), 400],
  'a Host with a path': [head('GET /livez HTTP/1.1', 'Host: a/b'), 400],
  'a Host with a user': [head('GET /livez HTTP/1.1', 'Host: ann@a'), 400],
  'a Host with a space': [head('GET /livez HTTP/1.1', 'Host: a b'), 400],
  'two Content-Types': [post([json, json, `Content-Length: ${signIn.length}`], signIn), 400],

  'version 2.0': [head('GET /livez HTTP/2.0', 'Host: a'), 400],
  'version 1.2': [head('GET /livez HTTP/1.2', 'Host: a'), 400],
  'no version, with fields': [head('GET /livez', 'Host: a'), 400],
  'an ICE request': [head('SOURCE /livez ICE/1.0', 'Host: a'), 405],
  'an RTSP request': [head('DESCRIBE rtsp://a/livez RTSP/1.0'), 404],

  'an unknown method': [head('FOO /login HTTP/1.1', 'Host: a'), 400],
  'CONNECT to another host': [
    head('CONNECT example.org:443 HTTP/1.1', 'Host: example.org:443'),
    400,
  ],
  'Expect: nonsense': [post(['Expect: nonsense', 'Content-Length: 0']), 400],

  'Content-Length before Transfer-Encoding': [
    post([json, 'Content-Length: 5', 'Transfer-Encoding: chunked'], '0\r\n\r\n'),
    400,
  ],
  'Transfer-Encoding before Content-Length': [
    post([json, 'Transfer-Encoding: chunked', 'Content-Length: 5'], '0\r\n\r\n'),
    400,
  ],
  'two Content-Lengths that differ': [
    post([json, 'Content-Length: 5', 'Content-Length: 6'], 'hello!'),
    400,
  ],
  'two Content-Lengths, the same': [
    post([json, 'Content-Length: 5', 'Content-Length: 5'], 'hello'),
    400,
  ],
  'a Content-Length in hexadecimal': [length('0x5'), 400],
  'a Content-Length beyond 64 bits': [length('99999999999999999999999999'), 400],
  'a Content-Length of 99 GB': [length('99999999999'), 413],
  'Transfer-Encoding: gzip': [post([json, 'Transfer-Encoding: gzip'], 'hello'), 400],
  'Transfer-Encoding: gzip, chunked': [
    post([json, 'Transfer-Encoding: gzip, chunked'], signInChunks),
    400,
  ],
  'Transfer-Encoding: xchunked': [post([json, 'Transfer-Encoding: xchunked'], '0\r\n\r\n'), 400],
  'Transfer-Encoding by HTTP/1.0': [
    `${head('POST /login HTTP/1.0', 'Host: a', json, 'Transfer-Encoding: chunked')}${signInChunks}`,
    400,
  ],

  'a chunk size that is not a number': [chunks('zz\r\n{}\r\n0\r\n\r\n'), 400],
  'a chunk size in hexadecimal notation': [chunks('0x2\r\n{}\r\n0\r\n\r\n'), 400],
  'a chunk longer than it says': [chunks('2\r\n{}XX0\r\n\r\n'), 400],
  'a line feed in a chunk extension': [chunks('2;a\nX\r\n{}\r\n0\r\n\r\n'), 400],
  'a trailer that is not a field': [chunks('2\r\n{}\r\n0\r\nno field\r\n\r\n'), 400],

  'a folded field': [get('X-A: b\r\n c'), 400],
  'line feeds alone': ['GET /livez HTTP/1.1\nHost: a\n\n', 400],
  'a carriage return alone in a field': [get('X-A: b\rX-C: d'), 400],
  'NUL in a value': [get('X-A: b\0c'), 400],
  'a control character in a value': [get('X-A: b\x01c'), 400],
  'a space before the colon': [head('GET /livez HTTP/1.1', 'Host : a'), 400],
  'a field without a colon': [get('nonsense'), 400],
  'header fields of 20 KB': [get(`X-A: ${'a'.repeat(20_000)}`), 431],
  'a flood of header fields': [get(...Array.from({ length: 4_000 }, () => 'a: b')), 431],
  'a path of 20 KB': [path(`/${'a'.repeat(20_000)}`), 431],

  'a parameter of 15 KB': [path(`/api/notifications/${'a'.repeat(15_000)}`), 401],
  'broken percent-encoding': [path('/%zz'), 400],
  'broken percent-encoding of a parameter': [path('/api/notifications/%zz'), 400],
  'percent-encoded bytes that are no UTF-8': [path('/%ff'), 400],
  'percent-encoded half a surrogate pair': [path('/api/notifications/%ed%a0%80'), 400],
  'a percent-encoded NUL': [path('/livez%00'), 400],
  'a percent-encoded NUL in the query': [path('/livez?a=%00'), 400],
  'bytes of UTF-8 in the path': [Buffer.from(path('/é')), 400],
  'a fragment': [path('/livez#top'), 400],
  'a space in the path': [path('/li vez'), 400],
  'an absolute form that is no URL': [path('http://[::/livez'), 400],
  'an absolute form of another host': [path('http://b/livez'), 400],
  'OPTIONS *': [head('OPTIONS * HTTP/1.1', 'Host: a'), 404],
  'GET *': [path('*'), 404],

  'the preface of HTTP/2': [bytes('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0'), 400],
  'the ClientHello of TLS': [Buffer.from(`1603010200010001fc0303${'ab'.repeat(508)}`, 'hex'), 400],
  'only garbage after empty lines': ['\r\n\r\n\r\nGARBAGE', 400],
}

const cases = Object.entries(corpus)

test(`each of ${cases.length} malformed requests gets one envelope, and its connection is closed (I7, E1, E2)`, async () => {
  const version = await app.database.version()
  const requestIds = new Set<string>()
  const faults = await Promise.all(
    cases.map(async ([name, [sent, status]]) => {
      try {
        const { bytes: received, ended } = await exchangeBytes(app.url, [sent], { timeoutMs })
        const responses = readResponses(received)
        assert.equal(responses.length, 1, `${responses.length} responses`)
        assert.ok(ended, 'the connection stayed open')
        for (const response of responses) {
          assert.equal(response.status, status)
          assert.equal(response.headers.get('connection'), 'close')
          requestIds.add(refusalIn(response).requestId)
        }
        return []
      } catch (error) {
        return [`${name}: ${(error as Error).message}`]
      }
    }),
  )
  assert.deepEqual(faults.flat(), [])
  assert.equal(requestIds.size, cases.length, 'a request id was given twice')
  assert.equal(await app.database.version(), version, 'something was written')
  assert.equal((await app.get('/livez')).status, 200)
})

test('a malformed request is refused once, however its bytes are split into packets (I7)', async () => {
  const whole = fc.constantFrom(...cases)
  const cuts = fc.array(fc.nat(600), { minLength: 1, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(whole, cuts, async ([, [sent]], places) => {
      const all = Buffer.from(sent)
      const at = [
        0,
        ...places.filter((place) => place < all.length).sort((a, b) => a - b),
        all.length,
      ]
      const pieces = at.slice(1).map((end, index) => all.subarray(at[index], end))
      const { bytes: received, ended } = await exchangeBytes(app.url, pieces, {
        pauseMs: 2,
        timeoutMs,
      })
      const responses = readResponses(received)
      assert.equal(responses.length, 1)
      assert.ok(ended)
      for (const response of responses) assert.ok(refusalIn(response).status < 500)
    }),
    { numRuns: 60 },
  )
})

test('a request with random bytes changed gets the envelope or a success, and never 5xx (I7)', async () => {
  const edit = fc.record({ at: fc.nat(200), drop: fc.nat(3), put: fc.uint8Array({ maxLength: 4 }) })
  const sound = Buffer.from(
    'POST /login?a=b HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 33\r\n' +
      'Connection: close\r\n\r\n{"username":"a","password":7,"b":1}',
  )
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 3 }), async (edits) => {
      const sent = edits.reduce(
        (all, { at, drop, put }) =>
          Buffer.concat([all.subarray(0, at), put, all.subarray(at + drop)]),
        sound,
      )
      // The client ends too, so that a request that became longer than its bytes gets its response at once.
      const { bytes: received, ended } = await exchangeBytes(app.url, [sent], { halfClose: true })
      assert.ok(ended)
      for (const response of readResponses(received)) assert.ok(refusalIn(response).status < 500)
    }),
    { numRuns: isSoak ? 300 : 100 },
  )
  assert.equal((await app.get('/livez')).status, 200)
})

test('garbage after a valid request gets its own envelope, after the response and not within it (I7)', async () => {
  const { bytes: received, ended } = await exchangeBytes(
    app.url,
    ['GET /livez HTTP/1.1\r\nHost: a\r\n\r\n', '\x16\x03\x01 garbage\r\n\r\n'],
    { inTurn: true },
  )
  const [sound, garbage, ...more] = readResponses(received)
  assert.equal(sound?.status, 200)
  assert.ok(garbage)
  assert.equal(refusalIn(garbage).status, 400)
  assert.deepEqual(more, [])
  assert.ok(ended)
})

test('garbage in the same packet as a valid request never mixes with its response (I7)', async () => {
  const login = '{"username":"nobody","password":"plum orchard gate 41"}'
  const sound = [
    'GET /livez HTTP/1.1\r\nHost: a\r\n\r\n',
    'GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n',
    `POST /login HTTP/1.1\r\nHost: a\r\n${json}\r\nContent-Length: ${login.length}\r\n\r\n${login}`,
  ]
  for (const request of sound) {
    const { bytes: received, ended } = await exchangeBytes(app.url, [
      `${request}\x16\x03\x01 garbage\r\n\r\n`,
    ])
    const responses = readResponses(received)
    assert.ok(ended)
    assert.equal(refusalIn(responses.at(-1) ?? assert.fail('no response')).status, 400)
    assert.ok(responses.length <= 2)
  }
})

test('a request that was refused before its body came gets no second response for an error in the body (I7)', async () => {
  const early = [
    'POST /api/notifications HTTP/1.1',
    'POST /nowhere HTTP/1.1',
    'PUT /login HTTP/1.1',
  ]
  for (const line of early)
    for (const rest of ['zz\r\n', '2;a\n', '\0', '5\r\nhelloXX']) {
      const start = `${line}\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`
      const exchanges = [
        await exchangeBytes(app.url, [start + rest]),
        await exchangeBytes(app.url, [start, rest], { pauseMs: 50 }),
      ]
      for (const { bytes: received, ended } of exchanges) {
        const [response, ...more] = readResponses(received)
        assert.match(String(refusalIn(response ?? assert.fail('no response')).status), /^40[0145]$/)
        assert.deepEqual(more, [])
        assert.ok(ended)
      }
    }
})

test('a client that disconnects in the middle of its request gets a response, and its connection is closed (I7)', async () => {
  const incomplete = [
    'POST /login HTTP/1.1\r\nHost: a\r\nContent-Ty',
    post([json, 'Content-Length: 100'], '{"a"'),
    chunks('ff\r\n{"a"'),
    'GET /livez',
  ]
  for (const sent of incomplete) {
    const { bytes: received, ended } = await exchangeBytes(app.url, [sent], { halfClose: true })
    const [response, ...more] = readResponses(received)
    assert.equal(refusalIn(response ?? assert.fail('no response')).status, 400)
    assert.deepEqual(more, [])
    assert.ok(ended)
  }
})

test('valid but unusual requests are not refused (I7)', async () => {
  const sound: Record<string, string> = {
    'HTTP/1.0 without Host': 'GET /livez HTTP/1.0\r\n\r\n',
    'an empty Host': head('GET /livez HTTP/1.1', 'Host:'),
    'a Host with a port': head('GET /livez HTTP/1.1', 'Host: bell.example.org:7464'),
    'a Host that is an IPv6 address': head('GET /livez HTTP/1.1', 'Host: [::1]:7464'),
    'an absolute form': path('http://a/livez'),
    'empty lines before the request': `\r\n\r\n${get()}`,
    'an upgrade that is not taken': head(
      'GET /livez HTTP/1.1',
      'Host: a',
      'Upgrade: h2c, websocket',
    ),
    'Expect: 100-continue': post(['Expect: 100-continue', json, 'Content-Length: 2'], '{}'),
    'a body of a GET': `${get('Content-Length: 10')}GET / HTTP`,
    'trailers and chunk extensions': chunks('2;a=b\r\n{}\r\n0\r\nX-A: b\r\n\r\n'),
    'fields of 15 KB': get(`X-A: ${'a'.repeat(15_000)}`),
  }
  for (const [name, sent] of Object.entries(sound)) {
    const [response, ...more] = readResponses((await exchangeBytes(app.url, [sent])).bytes)
    const isLogin = sent.startsWith('POST')
    assert.equal(response?.status, isLogin ? 400 : 200, name)
    if (isLogin)
      assert.match(response?.text ?? '', /"field":"username","reason":"is missing"/, name)
    assert.deepEqual(more, [], name)
  }
})

test('a client that sends CONNECT and disconnects does no harm (I7)', async () => {
  for (let round = 0; round < 3; round++) {
    const { promise: closed, resolve: close } = Promise.withResolvers<void>()
    const socket = connect({
      host: '127.0.0.1',
      port: Number(new URL(app.url).port),
      allowHalfOpen: true,
    })
    socket.on('error', () => {})
    socket.on('close', () => close())
    socket.write('CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n')
    await new Promise((resolve) => socket.once('data', resolve))
    socket.resetAndDestroy()
    await closed
  }
  assert.equal((await app.get('/livez')).status, 200)
})

test('a client that keeps its CONNECT connection open does not delay the stop of the service (R9)', async () => {
  await isUsuallyQuick(stopsBesideConnect)
})

async function stopsBesideConnect(): Promise<boolean> {
  const other = await startTestService()
  const socket = connect({
    host: '127.0.0.1',
    port: Number(new URL(other.url).port),
    allowHalfOpen: true,
  })
  socket.on('error', () => {})
  socket.write('CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n')
  await new Promise((resolve) => socket.once('data', resolve))
  const isStopped = await Promise.race([
    other.stop().then(() => true),
    // After eight seconds it disconnects every client.
    sleep(7_000, false),
  ])
  socket.destroy()
  return isStopped
}
