import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import Fastify from 'fastify'
import { EventStream } from './live-stream.ts'

test("an open stream keeps neither Fastify's request and reply nor the header fields of its request", async (t) => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const app = Fastify()
  const opened: { events: EventStream; seen: WeakRef<object>[]; headersNow: () => object }[] = []
  app.get('/', (request, reply) => {
    const events = new EventStream(reply)
    const { raw } = request
    opened.push({
      events,
      seen: [new WeakRef(request), new WeakRef(reply)],
      headersNow: () => raw.headers,
    })
    events.begin()
    events.send(Buffer.from('first\n'))
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1').setEncoding(
    'latin1',
  )
  t.after(async () => {
    socket.destroy()
    await app.close()
  })
  let received = ''
  socket.on('data', (piece) => {
    received += piece
  })
  socket.write('GET / HTTP/1.1\r\nHost: here\r\nCookie: a=secret\r\n\r\n')
  while (!received.endsWith('first\n')) await once(socket, 'data')
  for (let n = 0; n < 3; n++) await nextTurn()
  collectGarbage()
  const [stream] = opened
  assert.ok(stream)
  for (const one of stream.seen)
    assert.ok(one.deref() === undefined, 'an object of Fastify is kept')
  assert.deepEqual(stream.headersNow(), {})
  stream.events.send(Buffer.from('second\n'))
  while (!received.endsWith('second\n')) await once(socket, 'data')
})
