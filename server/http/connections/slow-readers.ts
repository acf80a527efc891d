// Disconnects clients that do not read their responses: an unread response stays in memory (SECURITY.md, I8 and N5). Node's idle
// timeout is not enough, since it starts again whenever the client has taken a single byte.
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

const streams = new WeakSet<Socket>()

export function watchAsStream(socket: Socket): void {
  streams.add(socket)
}

export function isStream(socket: Socket): boolean {
  return streams.has(socket)
}

/** How many bytes the client had taken when it last read enough, and for how many checks it has not done so since. */
type Progress = { taken: number; checks: number }

/** A client that takes less than this within its time limit, while bytes wait for it, does not read. */
const minBytes = 64 * 1024

type Limits = { timeoutMs: number; streamTimeoutMs: number; everyMs: number }

export function endSlowReaders(server: Server, { timeoutMs, streamTimeoutMs, everyMs }: Limits): void {
  const sockets = new Map<Socket, Progress>()
  // One function for all, and not `once`: a closure with its wrapper takes 300 bytes for each connection.
  function forget(this: Socket): void {
    sockets.delete(this)
  }
  server.on('connection', (socket: Socket) => {
    sockets.set(socket, { taken: 0, checks: 0 })
    socket.on('close', forget)
  })
  const checking = setInterval(() => {
    for (const [socket, progress] of sockets) {
      const taken = socket.bytesWritten - socket.writableLength
      const maxMs = streams.has(socket) ? streamTimeoutMs : timeoutMs
      if (socket.writableLength === 0 || taken - progress.taken >= minBytes) {
        progress.taken = taken
        progress.checks = 0
      } else if (++progress.checks * everyMs >= maxMs) socket.destroy()
    }
  }, everyMs)
  checking.unref()
  server.on('close', () => clearInterval(checking))
}
