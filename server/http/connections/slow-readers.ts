// Ends the connections of those who do not read: what was answered to them is held in memory until they do (TRUST I8).
// Node's idle timeout gives them a second term whenever anything was taken in the first.
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

const watchedElsewhere = new WeakSet<Socket>()

/** For a stream, which has a patience of its own. */
export function leaveToOthers(socket: Socket): void {
  watchedElsewhere.add(socket)
}

export function isLeftToOthers(socket: Socket): boolean {
  return watchedElsewhere.has(socket)
}

type Unread = { taken: number; looks: number }

/** What must be taken within the patience, where so much waits: whoever takes a byte now and then does not read. */
const minBytes = 64 * 1024

/** Looks once every `everyMs`; a connection of which too little was taken for `timeoutMs` is cut. */
export function endSlowReaders(server: Server, { timeoutMs, everyMs }: { timeoutMs: number; everyMs: number }): void {
  const sockets = new Map<Socket, Unread>()
  server.on('connection', (socket: Socket) => {
    sockets.set(socket, { taken: 0, looks: 0 })
    socket.once('close', () => sockets.delete(socket))
  })
  const looking = setInterval(() => {
    for (const [socket, unread] of sockets) {
      if (watchedElsewhere.has(socket)) {
        sockets.delete(socket)
        continue
      }
      const taken = socket.bytesWritten - socket.writableLength
      if (socket.writableLength === 0 || taken - unread.taken >= minBytes) Object.assign(unread, { taken, looks: 0 })
      else if (++unread.looks * everyMs >= timeoutMs) socket.destroy()
    }
  }, everyMs)
  looking.unref()
  server.on('close', () => clearInterval(looking))
}
