// One open stream of a user: up to which version it was sent, how much its client may leave unread, and its response (Server-Sent Events).
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply } from 'fastify'
import { streams } from '../http/connections.ts'
import { onGone } from '../http/response/send.ts'
import { endText, type StreamEvent } from './events.ts'

/** Whose stream it is. `validUntil` checks the proof again: until when it is valid (milliseconds), null if it has ended. */
export type Watcher = { userId: string; validUntil: () => Promise<number | null> }

const maxUnread = 1024 * 1024
/** A batch is at most one event larger. */
const replayBytesAtOnce = 256 * 1024

export class LiveStream {
  position = 0
  /** False while it catches up: only a live stream receives what its subscription reads. */
  isLive = false
  /** Nothing more is sent: it was ended, or its client is gone. */
  hasEnded = false
  /** When the proof ends, unless its use extends it. */
  endsAt = Number.POSITIVE_INFINITY
  readonly userId: string
  readonly #validUntil: Watcher['validUntil']
  readonly #sink: Sink
  readonly #onOver: (stream: LiveStream) => void
  #hasBegun = false
  #isOver = false

  /** Keeps nothing of the watcher but its two members. `onOver` is called once. */
  constructor({ userId, validUntil }: Watcher, sink: Sink, onOver: (stream: LiveStream) => void) {
    this.userId = userId
    this.#validUntil = validUntil
    this.#sink = sink
    this.#onOver = onOver
    sink.onClose(() => this.leave())
  }

  begin(position: number, text: string): void {
    this.position = position
    this.#hasBegun = true
    this.#sink.begin()
    this.#sink.send(Buffer.from(text))
  }

  /** A client with more than 1 MiB unread is disconnected. It can resume from its last event. */
  send(bytes: Buffer): void {
    if (!this.#hasBegun || this.hasEnded) return
    const { unread } = this.#sink
    // If nothing is unread, an event above the limit is sent: otherwise every reconnect would end at the same event.
    if (unread > 0 && unread + bytes.length > maxUnread) {
      this.hasEnded = true
      this.#sink.disconnect()
    } else this.#sink.send(bytes)
  }

  /** Sends events up to `version`, unless they were sent before. `whole` is the text of all of them. */
  sendEvents(events: readonly StreamEvent[], { whole, version }: { whole: Buffer; version: number }): void {
    if (!this.isLive || this.position >= version) return
    const isNewToAll = this.position < (events[0]?.version ?? 0)
    // A stream that began after the first of these changes already has those up to its position.
    this.send(isNewToAll ? whole : bytesOf(events.filter((event) => event.version > this.position)))
    this.position = version
  }

  /** Sends missed events of any size; resolves when the client has taken enough for more to be sent. */
  async replay(events: readonly StreamEvent[], version: number): Promise<void> {
    let batch: StreamEvent[] = []
    let length = 0
    for (const event of events) {
      batch.push(event)
      length += event.text.length
      if (length < replayBytesAtOnce && event !== events.at(-1)) continue
      if (this.hasEnded) return
      this.#sink.send(bytesOf(batch))
      await this.#sink.untilTaken()
      batch = []
      length = 0
    }
    this.position = version
  }

  /** Continues at `version` with a resync, in place of changes that are not known. */
  resync(version: number, text: Buffer): void {
    this.position = version
    this.send(text)
  }

  /** After the store lost changes that were sent. A stream that catches up ends, and gets the resync when it reconnects. */
  restart(version: number, resync: Buffer): void {
    if (this.isLive) this.resync(version, resync)
    else if (this.#hasBegun) this.end()
  }

  /** If the proof has ended, sends the reason and ends the stream. Throws UNAVAILABLE if the store cannot be read. */
  async checkProof(now: () => number): Promise<void> {
    const endsAt = await this.#validUntil()
    if (endsAt === null) {
      this.send(Buffer.from(endText(now() >= this.endsAt ? 'expired' : 'revoked')))
      this.end()
    } else this.endsAt = endsAt
  }

  /** Ends the stream after everything that was sent; one that has not begun is only removed. */
  end(): void {
    this.hasEnded = true
    if (this.#hasBegun) this.#sink.end()
    else this.leave()
  }

  leave(): void {
    if (this.#isOver) return
    this.hasEnded = this.#isOver = true
    this.#onOver(this)
  }
}

export function bytesOf(events: readonly StreamEvent[]): Buffer {
  return Buffer.from(events.map(({ text }) => text).join(''))
}

/** The response of a stream, without HTTP. */
export type Sink = Pick<EventStream, keyof EventStream>

/** It ends with its connection, so events are sent without chunks. There are thousands, which keep no request: that takes 2 KiB more. */
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
      // Without these, nginx would buffer the events, and a proxy that compresses, such as Express with compression(), would hold them back.
      'x-accel-buffering': 'no',
      'cache-control': 'no-store, no-transform',
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
