// A response that stays open: Server-Sent Events. It ends with its connection, so events are sent without chunked encoding.
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply } from 'fastify'
import { streams } from '../connections.ts'
import { onGone } from './send.ts'

/** The response of a stream, without HTTP. */
export type Sink = Pick<EventStream, keyof EventStream>

/** There are thousands of these. Each keeps only the response and its connection: all of a request takes 2 KiB more. */
export class EventStream {
  readonly #response: ServerResponse
  readonly #socket: Socket
  /** Until the stream begins. */
  #reply: FastifyReply | undefined

  constructor(reply: FastifyReply) {
    this.#reply = reply
    this.#response = reply.raw
    this.#socket = reply.raw.req.socket
  }

  begin(): void {
    const response = this.#response
    const reply = this.#reply as FastifyReply
    this.#reply = undefined
    reply.hijack()
    // A stream without events is not idle; connections.ts disconnects a client that does not read.
    this.#socket.setTimeout(0)
    streams.add(this.#socket)
    // The response may be written to after its connection is gone; the opener learns of the end from `close`.
    response.on('error', ignore)
    response.useChunkedEncodingByDefault = false
    reply.headers({
      'content-type': 'text/event-stream; charset=utf-8',
      // Without this, nginx would buffer the events.
      'x-accel-buffering': 'no',
    })
    response.writeHead(200, reply.getHeaders() as OutgoingHttpHeaders)
    // Node keeps the request until its response is over.
    response.req.headers = {}
    response.req.rawHeaders = []
  }

  send(bytes: Buffer): void {
    this.#response.write(bytes)
    // Node would hold the bytes until the end of the turn, and send them outside of what event-loop.ts measures.
    this.#socket.uncork()
  }

  /** Bytes that were sent and that the client has not taken. */
  get unread(): number {
    return this.#response.writableLength
  }

  /** Resolves when the client has taken enough for more to be sent, or is gone. */
  async untilTaken(): Promise<void> {
    const response = this.#response
    if (!response.writableNeedDrain) return
    const { promise, resolve } = Promise.withResolvers<void>()
    response.once('drain', resolve)
    onGone(response, resolve)
    await promise
    response.off('drain', resolve).off('close', resolve)
  }

  /** Ends the response after everything that was sent. */
  end(): void {
    this.#response.end()
  }

  /** Closes the connection at once. */
  disconnect(): void {
    this.#socket.destroy()
  }

  /** Calls back when the response is over, whichever side ended it. */
  onClose(listener: () => void): void {
    onGone(this.#response, listener)
  }
}

function ignore(): void {}
