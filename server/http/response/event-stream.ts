// An answer that stays open: Server-Sent Events over a response. It ends with its connection, so that each event is written
// as it stands, without a frame around it.
import type { OutgoingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Sink } from '../../inbox/live/live-stream.ts'
import { leaveToOthers } from '../connections/slow-readers.ts'

const eventStreamType = 'text/event-stream; charset=utf-8'

/** Calls back when the answer is over, also where its connection broke before anybody listened. */
export function onGone({ raw: response, request }: FastifyReply, listener: () => void): void {
  if (request.raw.socket.destroyed) setImmediate(listener)
  else response.once('close', listener)
}

export function eventStream(request: FastifyRequest, reply: FastifyReply): Sink {
  const { raw: response } = reply
  const { socket } = request.raw
  return {
    begin() {
      reply.hijack()
      // Silence is not idleness here, and who does not read is the business of inbox/live.ts.
      socket.setTimeout(0)
      leaveToOthers(socket)
      // Written to when its connection is gone already; who opened it hears of the end by `close`.
      response.on('error', () => {})
      response.useChunkedEncodingByDefault = false
      reply.headers({
        'content-type': eventStreamType,
        // nginx would gather what should go at once.
        'x-accel-buffering': 'no',
      })
      response.writeHead(200, reply.getHeaders() as OutgoingHttpHeaders)
    },
    send(bytes) {
      response.write(bytes)
      // Node would hold it until the turn is over, where nobody sees how long all that takes.
      socket.uncork()
    },
    get unread() {
      return response.writableLength
    },
    get taken() {
      return socket.bytesWritten - response.writableLength
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
    cut: () => void socket.destroy(),
    onClose: (listener) => onGone(reply, listener),
  }
}
