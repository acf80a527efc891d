// How connections end: after a drain, after a response to a request that still arrives, and if a client does not read.
import type { IncomingMessage, OutgoingHttpHeaders, Server } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { giveUpWrites } from './late-writes.ts'

/** Grace period: an idle connection stays open this long after the listener closed, so that a request already on the wire gets its response. */
const idleMs = 500
/** A request that still runs this long after the signal is disconnected, or this long after the grace time if that is later. */
const fromSignalMs = 8_000
const fromGraceMs = 5_500
const closeEveryMs = 20
/** For the response to a write that still has no outcome. */
const responseMs = 500

type DrainOptions = { graceMs: number; endStreams: () => Promise<void> }

/**
 * Stops a server without failing a request that it accepted (R9). From now on every response closes its connection. For `graceMs`
 * new connections and streams are still accepted, so that a load balancer can see that the process is not ready. Then `endStreams` runs, so that
 * a client that reconnects reaches another process; the running requests finish, and only then what is still open is disconnected.
 */
export async function drain(app: FastifyInstance, { graceMs, endStreams }: DrainOptions): Promise<void> {
  const startedAt = performance.now()
  const { server } = app
  server.prependListener('request', (_request, response) => response.setHeader('connection', 'close'))
  if (graceMs > 0) await sleep(graceMs)
  let isClosed = false
  // http.Server's own close disconnects idle connections at once, also one on which a request is arriving.
  NetServer.prototype.close.call(server, () => {
    isClosed = true
  })
  const closedAt = performance.now()
  const disconnectAt = Math.max(startedAt + fromSignalMs, closedAt + (graceMs > 0 ? fromGraceMs : 0))
  await endStreams()
  while (!isClosed) {
    await sleep(closeEveryMs)
    const now = performance.now()
    // After a stall of this process, read first what has arrived, so that a connection with a new request does not count as idle.
    await nextTurn()
    if (now - closedAt > idleMs) server.closeIdleConnections()
    if (now > disconnectAt - responseMs) giveUpWrites(server)
    if (now > disconnectAt) server.closeAllConnections()
  }
  await app.close()
}

// What a client still sends after its response is read and dropped (RFC 9112, section 9.6). A connection closed with unread bytes is
// reset: nginx then sends 502 and counts a failure of this node. Three refused bodies every half second take the service down.

/** More than nginx lets through if `client_max_body_size` is not set (1 MiB). Dropping it takes about 1 ms. */
const maxDroppedBytes = 4 * 1024 * 1024
/** The minimum that a chunk of a chunked body counts: a chunk of one byte costs as much time as one of a kilobyte. */
const minChunkBytes = 256
/** The service drops the rest of a body for this long after its response. The time limit of the whole request (app.ts) may end it sooner. */
const maxDroppingMs = 5_500
/** If the request timed out, the connection stays open only as long as the response needs to arrive. */
const afterTimeoutMs = 500

export function isBodyUnread({ complete, headers }: IncomingMessage): boolean {
  return !complete && (headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0')
}

/** Drops the rest of a body. `over` gets true after all of it, or false if the client left or a limit was reached. */
function dropRest(raw: IncomingMessage, over: (isWhole: boolean) => void): void {
  const end = () => {
    clearTimeout(limit)
    raw.off('data', count).off('close', end)
    if (!raw.complete) raw.pause()
    over(raw.complete)
  }
  let dropped = 0
  const count = (chunk: Buffer) => {
    dropped += Math.max(chunk.length, minChunkBytes)
    if (dropped > maxDroppedBytes) end()
  }
  const limit = setTimeout(end, maxDroppingMs)
  raw.on('data', count).once('close', end)
}

/** Sends a response at once, before a parse error in the body. It ends, and Node may close the connection, after the rest was dropped. */
export function sendBeforeBody({ raw }: FastifyRequest, reply: FastifyReply, text: string): void {
  if (Number(raw.headers['content-length']) > maxDroppedBytes) reply.header('connection', 'close')
  reply.header('content-length', String(Buffer.byteLength(text))).hijack()
  const response = reply.raw.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders)
  response.write(text)
  // The response to HEAD has no body, with which Node would send the header fields.
  response.flushHeaders()
  dropRest(raw, (isWhole) => {
    response.end()
    if (!isWhole) raw.socket.destroySoon()
  })
}

/** For a request whose body no handler reads, such as a GET: calls `next` after the body was dropped. */
export function afterUnreadBody({ raw }: FastifyRequest, reply: FastifyReply, next: () => void): void {
  if (!isBodyUnread(raw)) next()
  else
    dropRest(raw, (isWhole) => {
      if (raw.socket.destroyed) return
      if (!isWhole) reply.header('connection', 'close')
      next()
    })
}

/** The connections that `endAndDrop` has ended: bytes that still arrive on them are not a request. */
export const dropping = new WeakSet<Socket>()

/** Sends the last bytes on a connection that the HTTP parser gave up, ends it, and drops what still arrives. */
export function endAndDrop(socket: Socket, text: string, { isTimedOut }: { isTimedOut: boolean }): void {
  dropping.add(socket)
  const from = socket.bytesRead
  const limit = setTimeout(() => socket.destroy(), isTimedOut ? afterTimeoutMs : maxDroppingMs)
  socket.once('close', () => clearTimeout(limit))
  // Node's own listener would pass the bytes to the parser.
  socket.removeAllListeners('data')
  socket.on('data', () => {
    if (socket.bytesRead - from > maxDroppedBytes) socket.destroy()
  })
  socket.resume()
  socket.end(text)
}

// Clients that do not read their responses are disconnected: an unread response stays in memory (I8 and N5). Node's idle
// timeout is not enough, since it starts again whenever the client has taken a single byte.

export const streams = new WeakSet<Socket>()

const respondedEarly = new WeakMap<Socket, IncomingMessage>()

/** Notes a request that has a response before all of it has arrived: an error in the rest gets no second response. */
export function noteEarlyResponse({ raw }: FastifyRequest): void {
  if (!raw.complete) respondedEarly.set(raw.socket, raw)
}

export function hasResponse(socket: Socket): boolean {
  return streams.has(socket) || respondedEarly.get(socket)?.complete === false
}

/** A client that takes less than this within its time limit, while bytes wait for it, does not read. */
const minBytes = 64 * 1024

/** The limits are milliseconds. */
export function endSlowReaders(server: Server, limits: Record<'reader' | 'streamReader' | 'checkEvery', number>): void {
  /** How many bytes the client had taken when it last read enough, and for how many checks it has not done so since. */
  const sockets = new Map<Socket, { taken: number; checks: number }>()
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
      const maxMs = streams.has(socket) ? limits.streamReader : limits.reader
      if (socket.writableLength === 0 || taken - progress.taken >= minBytes) {
        progress.taken = taken
        progress.checks = 0
      } else if (++progress.checks * limits.checkEvery >= maxMs) socket.destroy()
    }
  }, limits.checkEvery)
  checking.unref()
  server.on('close', () => clearInterval(checking))
}
