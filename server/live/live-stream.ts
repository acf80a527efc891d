import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply } from 'fastify'
import { counts } from '../basics/counts.ts'
import { streams } from '../http/connections.ts'
import { onGone } from '../http/response/send.ts'
import { endText, type StreamEvent } from './events.ts'

/** Milliseconds; null if the proof has ended. */
export type Watcher = { userId: string; validUntil: () => Promise<number | null> }

const maxUnread = 1024 * 1024
const replayBytesAtOnce = 256 * 1024

export class LiveStream {
  position = 0
  isLive = false
  hasEnded = false
  endsAt = Number.POSITIVE_INFINITY
  readonly userId: string
  readonly #validUntil: Watcher['validUntil']
  readonly #sink: Sink
  readonly #onOver: (stream: LiveStream) => void
  #hasBegun = false
  #isOver = false

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

  /** Disconnects a client with more than 1 MiB unread. It can resume from its last event. */
  send(bytes: Buffer): void {
    if (!this.#hasBegun || this.hasEnded) return
    const { unread } = this.#sink
    // Otherwise each reconnect would end at a large event.
    if (unread > 0 && unread + bytes.length > maxUnread) {
      this.hasEnded = true
      this.#sink.disconnect()
    } else this.#sink.send(bytes)
  }

  sendEvents(
    events: readonly StreamEvent[],
    { whole, version }: { whole: Buffer; version: number },
  ): void {
    if (!this.isLive || this.position >= version) return
    const isNewToAll = this.position < (events[0]?.version ?? 0)
    // A stream that began later has the first ones.
    this.send(isNewToAll ? whole : bytesOf(events.filter((event) => event.version > this.position)))
    this.position = version
    counts.streamEvents += events.length
  }

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
    counts.streamEvents += events.length
  }

  resync(version: number, text: Buffer): void {
    this.position = version
    this.send(text)
  }

  restart(version: number, resync: Buffer): void {
    if (this.isLive) this.resync(version, resync)
    else if (this.#hasBegun) this.end()
  }

  async checkProof(now: () => number): Promise<void> {
    const endsAt = await this.#validUntil()
    if (endsAt === null) {
      this.send(Buffer.from(endText(now() >= this.endsAt ? 'expired' : 'revoked')))
      this.end()
    } else this.endsAt = endsAt
  }

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

export type Sink = Pick<EventStream, keyof EventStream>

/**
 * The response ends with its connection, so events need no chunks. They bypass Node's response,
 * which would cost a seventh of each. Keeping the request would take 2 KiB.
 */
export class EventStream {
  readonly #response: ServerResponse
  readonly #socket: Socket
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
    // connections.ts disconnects slow readers.
    this.#socket.setTimeout(0)
    streams.add(this.#socket)
    // Its connection may be gone; `close` tells the opener.
    response.on('error', ignore)
    response.useChunkedEncodingByDefault = false
    reply.headers({
      'content-type': 'text/event-stream; charset=utf-8',
      // nginx would buffer events, Express hold them back.
      'x-accel-buffering': 'no',
      'cache-control': 'no-store, no-transform',
    })
    response.writeHead(200, reply.getHeaders() as OutgoingHttpHeaders)
    // Node keeps the request until the end.
    response.req.headers = {}
    response.req.rawHeaders = []
    response.flushHeaders()
  }

  send(bytes: Buffer): void {
    // The client may have closed its side; the connection then ends.
    if (this.#socket.writable) this.#socket.write(bytes)
  }

  get unread(): number {
    return this.#socket.writableLength
  }

  async untilTaken(): Promise<void> {
    const response = this.#response
    const socket = this.#socket
    if (!socket.writableNeedDrain) return
    const { promise, resolve } = Promise.withResolvers<void>()
    socket.once('drain', resolve)
    onGone(response, resolve)
    await promise
    socket.off('drain', resolve)
    response.off('close', resolve)
  }

  end(): void {
    this.#response.end()
  }

  disconnect(): void {
    this.#socket.destroy()
  }

  onClose(listener: () => void): void {
    onGone(this.#response, listener)
  }
}

function ignore(): void {}
