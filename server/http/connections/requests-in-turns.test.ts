// Do requests that arrive together leave short turns of the event loop? A real server, and clients in the same process.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { handleInTurns } from './requests-in-turns.ts'

/** Blocks the event loop. */
function work(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

/** A server whose handler blocks for 0.4 ms, and what it has handled, with the turn in which it did. */
async function startServer(t: TestContext, count: number) {
  let turn = 0
  const handled: { path: string; turn: number; body: string }[] = []
  const server = createServer((request, response) => {
    const one = { path: request.url ?? '', turn, body: '' }
    handled.push(one)
    work(0.4)
    request.on('data', (bytes) => {
      one.body += bytes
    })
    request.on('end', () => response.end(one.path))
  })
  handleInTurns(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const sockets = await Promise.all(Array.from({ length: count }, () => open(port)))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  /** The kernel passes the bytes on while this thread is blocked, so that one turn finds all requests. */
  const untilHandled = async (requests: number) => {
    work(30)
    for (; handled.length < requests; turn++) await nextTurn()
  }
  return { sockets, handled, untilHandled }
}

const requestTo = (path: string, fields = '') =>
  `POST ${path} HTTP/1.1\r\nHost: here\r\nContent-Length: 4\r\n${fields}\r\nbody`
const last = 'Connection: close\r\n'

test('60 requests that arrive in the same turn are handled over many turns, and all are answered', async (t) => {
  const { sockets, handled, untilHandled } = await startServer(t, 60)
  const responses = sockets.map(bodiesOf)
  for (const [n, socket] of sockets.entries()) socket.write(requestTo(`/${n}`, last))
  await untilHandled(60)
  const inTurn = Map.groupBy(handled, (one) => one.turn)
  for (const together of inTurn.values()) assert.ok(together.length <= 6, `${together.length} requests in one turn`)
  assert.deepEqual(
    await Promise.all(responses),
    sockets.map((_, n) => [`/${n}`]),
  )
  assert.ok(handled.every(({ body }) => body === 'body'))
})

test('requests that a connection sends without waiting are handled in their order, also if the first one has waited', async (t) => {
  const { sockets, handled, untilHandled } = await startServer(t, 20)
  const responses = sockets.map(bodiesOf)
  for (const [n, socket] of sockets.entries())
    socket.write(requestTo(`/${n}/1`) + requestTo(`/${n}/2`) + requestTo(`/${n}/3`, last))
  await untilHandled(60)
  for (const [n, bodies] of (await Promise.all(responses)).entries()) {
    const paths = [`/${n}/1`, `/${n}/2`, `/${n}/3`]
    assert.deepEqual(bodies, paths)
    assert.deepEqual(
      handled.map(({ path }) => path).filter((path) => path.startsWith(`/${n}/`)),
      paths,
    )
  }
})

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(socket))
    socket.on('error', reject).setEncoding('latin1')
  })
}

/** The bodies of the responses, which are the paths of the requests. */
function bodiesOf(socket: Socket): Promise<string[]> {
  let received = ''
  socket.on('data', (piece) => {
    received += piece
  })
  return new Promise((resolve) =>
    socket.on('close', () => resolve([...received.matchAll(/\r\n\r\n(\/[\d/]+)/g)].map(([, path = '']) => path))),
  )
}
