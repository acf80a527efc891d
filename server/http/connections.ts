// How connections end: in a drain, after an early response, if a client does not read.
import type { IncomingMessage, OutgoingHttpHeaders, Server } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { giveUpWrites } from './late-writes.ts'

/** Grace period: a request on the wire gets its response. */
const idleMs = 500
/** After the signal, or after the grace time if that is later. */
const fromSignalMs = 8_000
const fromGraceMs = 5_500
const closeEveryMs = 20
const responseMs = 500

type DrainOptions = { graceMs: number; endStreams: () => Promise<void> }

/**
 * Fails no accepted request (R9). For `graceMs` it accepts connections, so that load balancers
 * notice the drain. Then `endStreams` runs, and clients reconnect elsewhere. Running requests
 * finish; what is still open is disconnected.
 */
export async function drain(
  app: FastifyInstance,
  { graceMs, endStreams }: DrainOptions,
): Promise<void> {
  const startedAt = performance.now()
  const { server } = app
  server.prependListener('request', (_request, response) =>
    response.setHeader('connection', 'close'),
  )
  if (graceMs > 0) await sleep(graceMs)
  let isClosed = false
  // http.Server's close would also disconnect while a request arrives.
  NetServer.prototype.close.call(server, () => {
    isClosed = true
  })
  const closedAt = performance.now()
  const disconnectAt = Math.max(
    startedAt + fromSignalMs,
    closedAt + (graceMs > 0 ? fromGraceMs : 0),
  )
  await endStreams()
  while (!isClosed) {
    await sleep(closeEveryMs)
    const now = performance.now()
    // After a stall, first read what arrived: a connection with a new request is not idle.
    await nextTurn()
    if (now - closedAt > idleMs) server.closeIdleConnections()
    if (now > disconnectAt - responseMs) giveUpWrites(server)
    if (now > disconnectAt) server.closeAllConnections()
  }
  await app.close()
}

// What a client sends after its response is dropped (RFC 9112, section 9.6). Otherwise the
// connection would be reset: nginx sends 502.

/** A client that sends a little more than the largest body reads its 413. Dropping takes 2 ms. */
const maxDroppedBytes = 8 * 1024 * 1024
/** A chunk of one byte costs as much as a kilobyte. */
const minChunkBytes = 256
/** The request's time limit (app.ts) may end it sooner. */
const maxDroppingMs = 5_500
const afterTimeoutMs = 500

export function isBodyUnread({ complete, headers }: IncomingMessage): boolean {
  return (
    !complete &&
    (headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0')
  )
}

/** `over` gets false if the client left or a limit was reached. */
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

export function sendBeforeBody({ raw }: FastifyRequest, reply: FastifyReply, text: string): void {
  if (Number(raw.headers['content-length']) > maxDroppedBytes) reply.header('connection', 'close')
  reply.header('content-length', String(Buffer.byteLength(text))).hijack()
  const response = reply.raw.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders)
  response.write(text)
  response.flushHeaders()
  dropRest(raw, (isWhole) => {
    response.end()
    if (!isWhole) raw.socket.destroySoon()
  })
}

export function afterUnreadBody(
  { raw }: FastifyRequest,
  reply: FastifyReply,
  next: () => void,
): void {
  if (!isBodyUnread(raw)) next()
  else
    dropRest(raw, (isWhole) => {
      if (raw.socket.destroyed) return
      if (!isWhole) reply.header('connection', 'close')
      next()
    })
}

/** Later bytes on these sockets are no request. */
export const dropping = new WeakSet<Socket>()

/** The HTTP parser gave the connection up. */
export function endAndDrop(
  socket: Socket,
  text: string,
  { isTimedOut }: { isTimedOut: boolean },
): void {
  dropping.add(socket)
  const from = socket.bytesRead
  const limit = setTimeout(() => socket.destroy(), isTimedOut ? afterTimeoutMs : maxDroppingMs)
  socket.once('close', () => clearTimeout(limit))
  socket.removeAllListeners('data')
  socket.on('data', () => {
    if (socket.bytesRead - from > maxDroppedBytes) socket.destroy()
  })
  socket.resume()
  socket.end(text)
}

// An unread response stays in memory (I8 and N5), and each byte taken restarts Node's idle timeout.

export const streams = new WeakSet<Socket>()

const respondedEarly = new WeakMap<Socket, IncomingMessage>()

/** An error in the rest of the request then sends no second response. */
export function noteEarlyResponse({ raw }: FastifyRequest): void {
  if (!raw.complete) respondedEarly.set(raw.socket, raw)
}

export function hasResponse(socket: Socket): boolean {
  return streams.has(socket) || respondedEarly.get(socket)?.complete === false
}

/** A client that takes less in its time limit does not read. */
const minBytes = 64 * 1024

export function endSlowReaders(
  server: Server,
  limits: Record<'reader' | 'streamReader' | 'checkEvery', number>,
): void {
  const sockets = new Map<Socket, { taken: number; checks: number }>()
  // `once` would take 300 bytes for each connection: a closure and its wrapper.
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
