// Requests that end elsewhere than they say, fields that proxies or the service set, and paths.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { Visitor } from '../../support/demonstration/visitor.ts'
import { startTestService } from '../../support/service.ts'

const app = await startTestService({ env: { CARILLON_TRUSTED_PROXIES: '127.0.0.1' } })
after(() => app.stop())
const visitor = new Visitor(app)
const other = new Visitor(app)
await Promise.all([visitor.again(), other.again()])
const { host, port } = new URL(app.url)

/** Until the connection ends. */
async function raw(text: string): Promise<string> {
  const socket = connect(Number(port), '127.0.0.1').setEncoding('utf8')
  socket.write(text)
  let received = ''
  socket.on('data', (piece) => {
    received += piece
  })
  await once(socket, 'close')
  return received
}

test('a body that the service drops leaves nothing behind in which the next request could end (S14)', async () => {
  const token = await other.signIn()
  for (const path of ['other-server/me', 'servers/key/me', 'service/routeRestreinte', 'visit'])
    for (const body of ['Content-Length: 60\r\n', 'Transfer-Encoding: chunked\r\n']) {
      const sent = body.startsWith('C')
        ? 'a'.repeat(60)
        : '3c\r\n'.concat('a'.repeat(60), '\r\n0\r\n\r\n')
      const fields = `Host: ${host}\r\nCookie: ${visitor.cookie}\r\nConnection: close\r\n${body}`
      const received = await raw(`GET /demonstration/${path} HTTP/1.1\r\n${fields}\r\n${sent}`)
      assert.match(received, /^HTTP\/1\.1 (200|401) /, `${path} ${body}`)
      for (let n = 0; n < 3; n++) {
        assert.equal((await other.without('other-server/me', token)).status, 200)
        assert.equal((await other.session('routeRestreinte')).status, 200)
        assert.equal((await other.send('visit')).status, 200)
      }
    }
})

test('what a proxy says of the visitor reaches neither a world nor its transcript, and the address is the one of the visitor (S14)', async () => {
  const headers = {
    'x-forwarded-for': '192.0.2.77',
    forwarded: 'for=192.0.2.77;by=10.1.2.3',
    'x-forwarded-host': 'inner.example',
    'x-real-ip': '192.0.2.77',
    'cf-connecting-ip': '192.0.2.77',
    via: '1.1 inner.example',
  }
  const body = { ...visitor.user, variant: 'stateful' }
  const { request } = await visitor.exchange(
    await visitor.session('login', { method: 'POST', body, headers }),
  )
  assert.deepEqual(
    request.fields.filter(([name]) => name.toLowerCase() in headers),
    [],
  )
  assert.doesNotMatch(JSON.stringify(request), /192\.0\.2\.77|10\.1\.2\.3|inner\.example/)
  const { items } = (await visitor.session('api/me/activity')).json().data
  assert.equal(items[0].address, '192.0.2.77')
})

test('the field that the service adds gives a client nothing (S14)', async () => {
  await visitor.again()
  for (const name of ['Carillon-Demonstration', 'carillon-demonstration']) {
    const headers = { [name]: 'a-secret 192.0.2.1 machine' }
    const response = await visitor.session('routeRestreinte', { headers })
    const { by } = await visitor.exchange(response)
    assert.deepEqual([response.status, by], [401, 'browser'])
    assert.equal((await visitor.send('other-server/me', { headers })).status, 401)
  }
})

test('no spelling of a path below the demonstration leads to the service, or out of a world (S14)', async () => {
  const cookie = visitor.cookie
  for (const path of [
    'service/../../api/me',
    'service/..%2f..%2fapi/me',
    'service/%2e%2e/%2e%2e/readyz',
    'service//readyz/../x',
    'service\\..\\readyz',
    '../readyz/',
    './visit',
    '/visit',
    'visit/',
    'VISIT',
    'other-server/../visit',
    'servers/../service/readyz',
    'exchanges/../visit',
    'exchanges/__proto__',
    'controls/__proto__',
  ]) {
    const request = `GET /demonstration/${path} HTTP/1.1\r\nHost: ${host}\r\nCookie: ${cookie}\r\nConnection: close\r\n\r\n`
    const status = Number(/^HTTP\/1\.1 (\d+)/.exec(await raw(request))?.[1])
    assert.ok(
      status === 404 || status === 400 || (status === 401 && /^(other-server|servers)/.test(path)),
      `${path} ${status}`,
    )
  }
})

test('a service that stops ends the streams of the demonstration, and waits for no reader of it (S16)', async () => {
  const stopping = await startTestService()
  const reader = await new Visitor(stopping).again()
  await reader.signIn()
  const stream = await fetch(`${stopping.url}/demonstration/service/api/notifications/stream`, {
    headers: { cookie: reader.cookie, 'carillon-visit': reader.id },
  })
  assert.equal(stream.status, 200)
  const ended = stream.text().catch(() => 'ended')
  const from = performance.now()
  await stopping.stop()
  assert.ok(performance.now() - from < 8_000, `${performance.now() - from} ms`)
  await ended
})
