// One open stream of a user: up to which version it was sent, and how much its client may leave unread.
import type { Sink } from '../http/response/event-stream.ts'
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
