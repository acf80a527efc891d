// Reads and drops what a client still sends after its request was answered. If the server closes a connection while bytes
// are unread, the system resets it: nginx then answers 502 in place of our refusal, counts a failure of this node, and sends
// other clients' requests elsewhere. Three refused bodies every half second took the service down (RFC 9112, section 9.6).
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** More than nginx lets through if `client_max_body_size` is not set (1 MiB). Dropping it takes about 1 ms. */
export const maxDroppedBytes = 4 * 1024 * 1024
/** What a chunk of a chunked body counts at least: one of a single byte costs as much time as one of a kilobyte. */
const minPieceBytes = 256
/** From the answer on. The limit of a whole request (app.ts) may end it sooner. */
const maxDroppingMs = 5_500
/** A client whose request timed out has been slow for long enough; this is for the answer to arrive. */
const afterTimeoutMs = 500

/** Whether a part of the request's body is still to come. */
export function isBodyUnread({ complete, headers }: IncomingMessage): boolean {
  return !complete && (headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0')
}

/**
 * Drops the rest of a body. `over` is called once: with true after the whole body, with false if the client left before or
 * at a limit, where nothing more is read.
 */
function dropRest(raw: IncomingMessage, over: (isWhole: boolean) => void): void {
  const end = () => {
    clearTimeout(limit)
    raw.off('data', count).off('close', end)
    if (!raw.complete) raw.pause()
    over(raw.complete)
  }
  let dropped = 0
  const count = (piece: Buffer) => {
    dropped += Math.max(piece.length, minPieceBytes)
    if (dropped > maxDroppedBytes) end()
  }
  const limit = setTimeout(end, maxDroppingMs)
  raw.on('data', count).once('close', end)
}

/**
 * Sends a whole response at once, and ends it when the rest of the request was dropped: only then may Node close. Not by
 * `reply.send`, which writes a stream a turn later: a parse error in the body may come before.
 */
export function sendBeforeBody({ raw }: FastifyRequest, reply: FastifyReply, text: string): void {
  if (Number(raw.headers['content-length']) > maxDroppedBytes) reply.header('connection', 'close')
  reply.header('content-length', String(Buffer.byteLength(text))).hijack()
  const response = reply.raw.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders)
  response.write(text)
  // A response to HEAD has no body to bring the header with it.
  response.flushHeaders()
  dropRest(raw, (isWhole) => {
    response.end()
    if (!isWhole) raw.socket.destroySoon()
  })
}

/** For a request whose body no handler reads, such as a GET's: calls `next` after the body was dropped. */
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

/** Whether a connection was ended by `endAndDrop`: what comes on it now is no request. */
export function isDropping(socket: Socket): boolean {
  return dropping.has(socket)
}

/** Sends the last bytes of a connection that the HTTP parser gave up, says that no more follow, and drops what comes. */
export function endAndDrop(socket: Socket, text: string, { isTimedOut = false } = {}): void {
  dropping.add(socket)
  const from = socket.bytesRead
  const limit = setTimeout(() => socket.destroy(), isTimedOut ? afterTimeoutMs : maxDroppingMs)
  socket.once('close', () => clearTimeout(limit))
  // Node's listener would hand the bytes to the parser.
  socket.removeAllListeners('data')
  socket.on('data', () => {
    if (socket.bytesRead - from > maxDroppedBytes) socket.destroy()
  })
  socket.resume()
  socket.end(text)
}
