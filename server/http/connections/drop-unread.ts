// Reads and drops what a client still sends after its response (RFC 9112, section 9.6). A connection closed with unread bytes is
// reset: nginx then sends 502 and counts a failure of this node. Three refused bodies every half second take the service down.
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** More than nginx lets through if `client_max_body_size` is not set (1 MiB). Dropping it takes about 1 ms. */
const maxDroppedBytes = 4 * 1024 * 1024
/** The minimum that a chunk of a chunked body counts: a chunk of one byte costs as much time as one of a kilobyte. */
const minChunkBytes = 256
/** From the response on. The time limit of the whole request (app.ts) may end it sooner. */
const maxDroppingMs = 5_500
/** For a client whose request timed out: only the time that the response needs to arrive. */
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

/**
 * Sends a whole response at once, and ends it when the rest of the request was dropped, since Node may close the connection at the
 * end. It does not use `reply.send`, which would write a turn later, perhaps after a parse error in the body.
 */
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

const dropping = new WeakSet<Socket>()

/** Whether `endAndDrop` has ended this connection: bytes that still arrive on it are not a request. */
export function isDropping(socket: Socket): boolean {
  return dropping.has(socket)
}

/** Sends the last bytes on a connection that the HTTP parser gave up, ends it, and drops what still arrives. */
export function endAndDrop(socket: Socket, text: string, { isTimedOut = false } = {}): void {
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
