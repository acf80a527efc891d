// The test sets the sockets' counters and moves the clock.
import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { suite, type TestContext, test } from 'node:test'
import { endSlowReaders, streams } from './connections.ts'

const kibibyte = 1024

class Connection extends EventEmitter {
  bytesWritten = 0
  writableLength = 0
  isDisconnected = false

  send(bytes: number): void {
    this.bytesWritten += bytes
    this.writableLength += bytes
  }

  destroy(): void {
    this.isDisconnected = true
    this.emit('close')
  }
}

/** Checked every 10 ms of a clock of its own. */
function connect(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const server = new EventEmitter()
  endSlowReaders(server as Server, { reader: 8_000, streamReader: 30_000, checkEvery: 10 })
  const connection = new Connection()
  server.emit('connection', connection)
  t.after(() => server.emit('close'))
  return { server, connection, wait: (ms: number) => t.mock.timers.tick(ms) }
}

for (const { kind, timeoutMs } of [
  { kind: 'response', timeoutMs: 8_000 },
  { kind: 'stream', timeoutMs: 30_000 },
])
  suite(`a client that does not read its ${kind} (I8, N5)`, () => {
    const open = (t: TestContext) => {
      const { connection, wait } = connect(t)
      if (kind === 'stream') streams.add(connection as unknown as Socket)
      return { connection, wait }
    }

    test(`is disconnected if bytes have waited for ${timeoutMs} ms, counted from when it had last taken everything`, (t) => {
      const { connection, wait } = open(t)
      connection.send(100 * kibibyte)
      wait(timeoutMs - 10)
      assert.ok(!connection.isDisconnected)
      connection.writableLength = 0
      wait(10)
      connection.send(100 * kibibyte)
      wait(timeoutMs - 10)
      assert.ok(!connection.isDisconnected)
      wait(20)
      assert.ok(connection.isDisconnected)
    })

    test(`is kept if it takes 64 KiB in ${timeoutMs} ms although bytes always wait for it, and disconnected if it takes less`, (t) => {
      const enough = Math.ceil((64 * kibibyte * 1_000) / timeoutMs)
      for (const { bytesPerSecond, isDisconnected } of [
        { bytesPerSecond: enough, isDisconnected: false },
        { bytesPerSecond: enough - 1, isDisconnected: true },
      ]) {
        const { connection, wait } = open(t)
        connection.send(2_000 * kibibyte)
        for (let second = 1; second <= 100 && !connection.isDisconnected; second++) {
          connection.writableLength -= bytesPerSecond
          wait(1_000)
        }
        assert.equal(connection.isDisconnected, isDisconnected, `${bytesPerSecond} bytes a second`)
        t.mock.timers.reset()
      }
    })
  })

test('a stream whose client takes nothing is disconnected after 30 s, even though heartbeats are sent; a stream that is read is kept (N5)', (t) => {
  const silent = connect(t)
  const other = new Connection()
  silent.server.emit('connection', other)
  for (const stream of [silent.connection, other]) streams.add(stream as unknown as Socket)
  silent.connection.send(200)
  for (let half = 0; half < 2; half++) {
    for (const stream of [silent.connection, other]) stream.send(3)
    other.writableLength = 0
    silent.wait(14_990)
    assert.ok(!silent.connection.isDisconnected)
  }
  silent.wait(1_020)
  assert.deepEqual([silent.connection.isDisconnected, other.isDisconnected], [true, false])
})
