// A recording proxy saw the bytes on the wire.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Message } from '../../../demonstration/server/api.ts'
import { Visitor } from '../../support/demonstration/visitor.ts'
import { TcpProxy } from '../../support/network/tcp-proxy.ts'
import { startTestService } from '../../support/service.ts'

const app = await startTestService()
const proxy = await TcpProxy.to(Number(new URL(app.url).port))
after(async () => {
  await proxy[Symbol.asyncDispose]()
  await app.stop()
})
const recorded = { 'to server': '', 'to client': '' }
proxy.intercept = ({ direction, bytes }) => {
  recorded[direction] += bytes.toString('utf8')
  return undefined
}

/** Resolves with what the proxy has seen. */
async function onTheWire(text: string): Promise<typeof recorded> {
  Object.assign(recorded, { 'to server': '', 'to client': '' })
  const { port } = new URL(proxy.urlFor(app.url))
  const socket = connect(Number(port), '127.0.0.1')
  socket.resume().write(text)
  await once(socket, 'close')
  return { ...recorded }
}

function textOf({ line, fields, body }: Message): string {
  return `${line}\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`
}

/** The page leaves out values of cookies that are not the demonstration's. */
function masked(text: string): string {
  return text
    .replace(/(^|; )(carillon|carillon-visit|theme)=[^;\r\n]*/gm, '$1$2=…')
    .replace(/(ookie: )(carillon|theme)=[^;\r\n]*/, '$1$2=…')
}

const visitor = await Visitor.of(app)
const cookies = () => `carillon=the-visitors-own-secret; ${visitor.cookie}; theme=dark`
const host = new URL(app.url).host

async function agrees(
  head: string,
  body = '',
): Promise<{ request: Message; response: Message; sent: typeof recorded }> {
  const sent = await onTheWire(`${head}\r\nConnection: close\r\n\r\n${body}`)
  const n = /^Carillon-Exchange: (\d+)\r$/m.exec(sent['to client'])?.[1]
  assert.ok(n !== undefined, sent['to client'])
  const { request, response } = await visitor.exchangeOf(n ?? '')
  assert.equal(textOf(request), masked(sent['to server']))
  assert.equal(textOf(response), sent['to client'])
  return { request, response, sent }
}

test('the transcript has the bytes of the wire: lines, order and spelling of the fields, and bodies', async () => {
  const place = '/demonstration/service'
  await agrees(
    `GET ${place}/routeRestreinte HTTP/1.1\r\nHost: ${host}\r\nCookie: ${cookies()}\r\naccEPT:  */*`.replace(
      '  ',
      ' ',
    ),
  )
  const body = JSON.stringify({ ...visitor.user, variant: 'stateful' })
  const json = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}`
  const { response } = await agrees(
    `POST ${place}/login HTTP/1.1\r\nHost: ${host}\r\ncookie: ${cookies()}\r\n${json}\r\nX-Twice: a\r\nx-twice: b`,
    body,
  )
  for (const [name, value] of response.fields)
    if (name === 'set-cookie') {
      const [, cookieName = '', secret = ''] = /^([^=]+)=([^;]*)/.exec(value) ?? []
      visitor.cookies.set(cookieName, secret)
    }
  const listed = await agrees(
    `GET ${place}/api/notifications?limit=2 HTTP/1.1\r\nHost: ${host}\r\nCookie: ${cookies()}`,
  )
  assert.match(listed.response.line, / 200 /)
  const all = `POST ${place}/api/notifications/read-all HTTP/1.1\r\nHost: ${host}\r\nCookie: ${cookies()}`
  assert.match((await agrees(all)).response.line, / 204 /)
  const head = await agrees(
    `HEAD ${place}/routeRestreinte HTTP/1.1\r\nHost: ${host}\r\nCookie: ${cookies()}`,
  )
  assert.match(head.response.line, / 200 /)
  assert.equal(head.response.body, '')
})

test('the transcript has the bytes of the wire at the other servers, too, which have listeners of their own', async () => {
  const fields = `Host: ${host}\r\nCookie: ${cookies()}`
  const refused = await agrees(
    `GET /demonstration/other-server/me HTTP/1.1\r\n${fields}\r\nauthorization: Bearer a.b.c`,
  )
  assert.match(refused.response.line, / 401 /)
  const signedIn = await agrees(
    `POST /demonstration/servers/memory/me HTTP/1.1\r\n${fields}\r\nContent-Length: 0`,
  )
  assert.match(signedIn.response.line, / 204 /)
})

test('the transcript has neither the secret of the visitor nor the cookie of the visit, which the wire has (S14)', async () => {
  const { request, sent } = await agrees(
    `GET /demonstration/service/routeRestreinte HTTP/1.1\r\nHost: ${host}\r\nCookie: ${cookies()}`,
  )
  for (const secret of ['the-visitors-own-secret', visitor.cookies.get('carillon-visit') ?? ''])
    assert.deepEqual(
      [sent['to server'].includes(secret), JSON.stringify(request).includes(secret)],
      [true, false],
    )
})

test('the transcript has no password for a proxy, and nothing that a proxy knows about the visitor (S14)', async () => {
  const place = '/demonstration/service/routeRestreinte'
  const hidden = [
    'Authorization',
    'Proxy-Authorization',
    'Cf-Access-Jwt-Assertion',
    'X-Amzn-Oidc-Data',
    'X-Api-Key',
  ]
  const lines = hidden.map((name) => `${name}: Basic a-secret`)
  const sent = await onTheWire(
    `GET ${place} HTTP/1.1\r\nHost: ${host}\r\nCarillon-Visit: ${visitor.id}\r\n${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`,
  )
  const n = /^Carillon-Exchange: (\d+)\r$/m.exec(sent['to client'])?.[1]
  const { request } = (await visitor.send(`exchanges/${n}`)).json().data
  for (const name of hidden) assert.deepEqual(new Map(request.fields).get(name), '…', name)
  assert.ok(!JSON.stringify(request).includes('a-secret'))
})

test('a response that the request checks of the world refuse is in the transcript, too', async () => {
  const { response } = await agrees(
    `POST /demonstration/service/login HTTP/1.1\r\nHost: ${host}\r\nCookie: ${cookies()}\r\nContent-Type: application/json\r\nContent-Length: 9`,
    '{"a": bad',
  )
  assert.match(response.line, / 400 /)
})

test('the transcript has the body of a request that arrived with many others and waited for its turn', async () => {
  const { port } = new URL(app.url)
  const sockets = Array.from({ length: 100 }, () =>
    connect({ port: Number(port), host: '127.0.0.1', noDelay: true }).setEncoding('utf8'),
  )
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  // The kernel connects before the service accepts.
  await sleep(50)
  const responses = sockets.map(async (socket) => {
    let text = ''
    for await (const piece of socket) text += piece
    return text
  })
  const bodyOf = (n: number) => `{"username":"nobody-${n}","password":"wrong","variant":"stateful"}`
  for (const [n, socket] of sockets.entries()) {
    const fields = `Carillon-Visit: ${visitor.id}\r\nContent-Type: application/json\r\nContent-Length: ${bodyOf(n).length}`
    const head = `POST /demonstration/service/logout HTTP/1.1\r\nHost: ${host}\r\n${fields}\r\nConnection: close`
    socket.write(`${head}\r\n\r\n${bodyOf(n)}`)
  }
  // The service is in this process: after this, one turn finds all requests.
  const until = performance.now() + 30
  let now = performance.now()
  while (now < until) now = performance.now()
  for (const [n, response] of (await Promise.all(responses)).entries()) {
    const exchange = /^Carillon-Exchange: (\d+)\r$/m.exec(response)?.[1]
    const { request } = (await visitor.send(`exchanges/${exchange}`)).json().data
    assert.equal(request.body, bodyOf(n))
  }
})
