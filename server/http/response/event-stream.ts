// A response that stays open: Server-Sent Events. It ends with its connection, so events are sent without chunked encoding.
import type { OutgoingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Sink } from '../../inbox/live/live-stream.ts'
import { watchAsStream } from '../connections/slow-readers.ts'

/** Calls back when the response is over, even if its connection broke before this was called. */
export function onGone({ raw: response, request }: FastifyReply, listener: () => void): void {
  if (request.raw.socket.destroyed) setImmediate(listener)
  else response.once('close', listener)
}

export function goneSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController()
  onGone(reply, () => gone.abort())
  return gone.signal
}

export function eventStream(request: FastifyRequest, reply: FastifyReply): Sink {
  const { raw: response } = reply
  const { socket } = request.raw
  return {
    begin() {
      reply.hijack()
      // A stream without events is not idle; slow-readers.ts disconnects a client that does not read.
      socket.setTimeout(0)
      watchAsStream(socket)
      // The response may be written to after its connection is gone; the opener learns of the end from `close`.
      response.on('error', () => {})
      response.useChunkedEncodingByDefault = false
      reply.headers({
        'content-type': 'text/event-stream; charset=utf-8',
        // Without this, nginx would buffer the events.
        'x-accel-buffering': 'no',
      })
      response.writeHead(200, reply.getHeaders() as OutgoingHttpHeaders)
    },
    send(bytes) {
      response.write(bytes)
      // Node would hold the bytes until the end of the turn, and send them outside of what event-loop.ts measures.
      socket.uncork()
    },
    get unread() {
      return response.writableLength
    },
    async untilTaken() {
      if (!response.writableNeedDrain) return
      const { promise, resolve } = Promise.withResolvers<void>()
      response.once('drain', resolve)
      onGone(reply, resolve)
      await promise
      response.off('drain', resolve).off('close', resolve)
    },
    end: () => void response.end(),
    disconnect: () => void socket.destroy(),
    onClose: (listener) => onGone(reply, listener),
  }
}
