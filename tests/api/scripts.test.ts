import assert from 'node:assert/strict'
import { get as httpGet } from 'node:http'
import { after, test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { refusalIn } from '../support/http/envelope.ts'
import { startBehindPath } from '../support/proxies/stripping-proxy.ts'
import { startTestService } from '../support/service.ts'

const listed = 'https://app.example'
const entries = ['carillon-inbox', 'carillon-client']
const app = await startTestService({ env: { CARILLON_ALLOWED_ORIGINS: listed } })
after(() => app.stop())

/** fetch would decompress. */
const get = (path: string, fields: [string, string][] = [], method = 'GET') =>
  app.exchange(path, { method, fields })
const addressOf = async (entry: string) => `/${(await get(`/${entry}.js`)).headers.get('location')}`

test('the short name of a script redirects for five minutes to a name with a hash, which stays valid for ever', async () => {
  for (const entry of entries) {
    const short = await get(`/${entry}.js`)
    assert.deepEqual([short.status, short.text], [302, ''])
    assert.equal(short.headers.get('cache-control'), 'public, max-age=300')
    assert.match(
      short.headers.get('location') ?? '',
      new RegExp(`^carillon-scripts/${entry}-[0-9a-f]{8}\\.js$`),
    )
    const script = await get(await addressOf(entry))
    assert.equal(script.status, 200)
    assert.equal(script.headers.get('content-type'), 'text/javascript; charset=utf-8')
    assert.equal(script.headers.get('cache-control'), 'public, max-age=31536000, immutable')
    assert.match(script.text, /export\s*\{/)
  }
})

test('each script is served by Brotli or gzip if the client accepts it, else as it is, and its ETag differs by encoding', async () => {
  const path = await addressOf('carillon-client')
  const plain = await get(path)
  assert.equal(plain.headers.get('content-encoding'), null)
  const etags = new Set([plain.headers.get('etag')])
  const size = (headers: Headers) => Number(headers.get('content-length'))
  for (const [accepted, encoding] of [
    ['br', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip;q=1.0, br;q=0', 'gzip'],
    ['GZIP', 'gzip'],
    ['br;q=0, gzip;q=0.000, deflate', null],
    ['x-br', null],
  ] as const) {
    const { headers } = await get(path, [['accept-encoding', accepted]])
    assert.equal(headers.get('content-encoding'), encoding, accepted)
    assert.match(headers.get('vary') ?? '', /Accept-Encoding/)
    if (encoding === null) continue
    etags.add(headers.get('etag'))
    assert.ok(size(headers) < size(plain.headers) / 2, accepted)
  }
  assert.equal(etags.size, 3)
})

test('a compressed script decompresses to the same bytes', async () => {
  for (const entry of entries) {
    const url = app.url + (await addressOf(entry))
    const { promise, resolve } = Promise.withResolvers<Record<string, Buffer>>()
    const got: Record<string, Buffer> = {}
    for (const encoding of ['br', 'gzip', 'identity'])
      httpGet(url, { headers: { 'accept-encoding': encoding } }, async (response) => {
        got[encoding] = Buffer.concat(await response.toArray())
        if (Object.keys(got).length === 3) resolve(got)
      })
    const { br, gzip, identity } = await promise
    assert.deepEqual(brotliDecompressSync(br as Buffer), identity)
    assert.deepEqual(gunzipSync(gzip as Buffer), identity)
  }
})

test('If-None-Match with the ETag of a script is 304, and HEAD has no body', async () => {
  const path = await addressOf('carillon-inbox')
  const { headers } = await get(path, [['accept-encoding', 'br']])
  const fields: [string, string][] = [
    ['accept-encoding', 'br'],
    ['if-none-match', headers.get('etag') ?? ''],
  ]
  const unchanged = await get(path, fields)
  assert.deepEqual([unchanged.status, unchanged.text], [304, ''])
  assert.equal(unchanged.headers.get('cache-control'), headers.get('cache-control'))
  const other = await get(path, [['accept-encoding', 'gzip'], fields[1] as [string, string]])
  assert.equal(other.status, 200)
  const headed = await get(path, [['accept-encoding', 'br']], 'HEAD')
  assert.deepEqual([headed.status, headed.text], [200, ''])
  assert.equal(headed.headers.get('content-length'), headers.get('content-length'))
})

test('a page of an allowed origin can use the scripts as modules, one of another origin cannot (C4)', async () => {
  for (const path of ['/carillon-inbox.js', await addressOf('carillon-inbox')]) {
    const allowed = await get(path, [['origin', listed]])
    assert.equal(allowed.headers.get('access-control-allow-origin'), listed)
    assert.equal(allowed.headers.get('cross-origin-resource-policy'), 'cross-origin')
    assert.match(allowed.headers.get('vary') ?? '', /Origin/)
    assert.match(allowed.headers.get('cache-control') ?? '', /^public/)
    const refused = await get(path, [['origin', 'https://other.example']])
    assert.equal(refused.headers.get('access-control-allow-origin'), null)
    assert.equal(
      refused.headers.get('cache-control'),
      'no-store',
      'a browser would keep it after the origin is allowed',
    )
  }
})

test('the description of the API is compressed once, and 304 for a browser that has it', async () => {
  for (const path of ['/openapi.json', '/docs']) {
    const plain = await get(path)
    assert.equal(plain.headers.get('content-encoding'), null)
    const zipped = await get(path, [['accept-encoding', 'br;q=0, gzip']])
    assert.equal(zipped.headers.get('content-encoding'), 'gzip')
    assert.ok(Number(zipped.headers.get('content-length')) < plain.text.length / 4)
    assert.equal(await (await fetch(app.url + path)).text(), plain.text)
    const tags = [plain, zipped].map(({ headers }) => headers.get('etag') ?? '')
    assert.notEqual(tags[0], tags[1])
    for (const { headers } of [plain, zipped]) {
      assert.equal(headers.get('cache-control'), 'no-cache')
      assert.match(headers.get('vary') ?? '', /Accept-Encoding/)
    }
    const known = await get(path, [
      ['accept-encoding', 'gzip'],
      ['if-none-match', tags[1] ?? ''],
    ])
    assert.deepEqual([known.status, known.text], [304, ''])
    assert.equal((await get(path, [['if-none-match', '"other"']])).status, 200)
  }
  const german = await get('/docs', [['accept-language', 'de']])
  assert.notEqual(german.headers.get('etag'), (await get('/docs')).headers.get('etag'))
})

test('below a public URL with a path the redirect stays below it', async (t) => {
  const { url, stop } = await startBehindPath()
  t.after(stop)
  for (const entry of entries) {
    const script = await fetch(`${url}/${entry}.js`)
    assert.equal(script.status, 200)
    assert.match(script.url, new RegExp(`^${url}/carillon-scripts/${entry}-`))
  }
})

test('the script of another version leads to the current one, for a page that has the redirect of another node', async () => {
  const path = await addressOf('carillon-inbox')
  const other = await get(path.replace(/[\da-f]{8}\.js$/, '00000000.js'))
  assert.equal(other.status, 302)
  assert.equal(other.headers.get('cache-control'), 'no-store')
  assert.equal(`/carillon-scripts/${other.headers.get('location')}`, path)
})

test('only the built scripts can be requested, no other file (C11)', async () => {
  const script = (await addressOf('carillon-inbox')).replace('/carillon-scripts/', '')
  for (const name of [
    'manifest.json',
    `${script}.br`,
    `${script}.gz`,
    'carillon-inbox.js',
    'carillon-nothing-00000000.js',
    '__proto__',
    '__proto__-00000000.js',
    'constructor-00000000.js',
    '..%2fpackage.json',
    '..%5cpackage.json',
    '%2e%2e%2fpackage.json',
    '..',
    '../package.json',
    '....//package.json',
    `${script}%00`,
    `${script}/`,
    `${script}.`,
    script.toUpperCase(),
  ]) {
    const response = await get(`/carillon-scripts/${name}`)
    assert.ok([400, 404].includes(refusalIn(response).status), name)
  }
})
