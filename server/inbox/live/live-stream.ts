// One open stream: how far its reader was told, and how much he may leave unread.
import { endText, type StreamEvent } from './events.ts'

/** Whose stream it is, and how to ask whether the proof still holds: until when (milliseconds), or null where it ended. */
export type Watcher = { userId: string; validUntil: () => Promise<number | null> }

/** Where a stream's text goes. */
export interface Sink {
  /** Begins the answer. */
  begin(): void
  send(bytes: Buffer): void
  /** Bytes that were sent and that the reader has not taken. */
  readonly unread: number
  /** Bytes that he has taken. */
  readonly taken: number
  /** Resolves when the reader has taken enough to be sent more, or is gone. */
  untilTaken(): Promise<void>
  /** Ends it in order. */
  end(): void
  /** Ends it at once. */
  cut(): void
  /** Calls back when it is over, whoever ended it. */
  onClose(listener: () => void): void
}

const maxUnread = 1024 * 1024
const maxUnreadMs = 30_000
/** What must be taken in that time where so much waits: whoever takes a byte now and then does not read. */
const minTaken = 64 * 1024
/** What is sent of a replay before its reader has taken it. */
const replayedAtOnce = 256 * 1024

export class LiveStream {
  /** The version up to which all was sent. */
  position = 0
  /** Gets what its subscription reads; before that it catches up by itself. */
  isLive = false
  isOver = false
  /** When the proof ends unless it is prolonged. */
  endsAt = Number.POSITIVE_INFINITY
  readonly #watcher: Watcher
  readonly #sink: Sink
  readonly #onOver: () => void
  #hasBegun = false
  #hasEnded = false
  /** When, by `performance.now()`, the reader had last taken enough, and how much that was. */
  #lastLook = { at: 0, taken: 0 }

  constructor(watcher: Watcher, sink: Sink, onOver: () => void) {
    this.#watcher = watcher
    this.#sink = sink
    this.#onOver = onOver
    sink.onClose(() => this.leave())
  }

  begin(position: number, text: string): void {
    this.position = position
    this.#hasBegun = true
    this.#lastLook.at = performance.now()
    this.#sink.begin()
    this.#sink.send(Buffer.from(text))
  }

  /** Whoever leaves too much unread is cut, and comes back to where he is. */
  send(bytes: Buffer): void {
    if (!this.#hasBegun || this.#hasEnded) return
    const { unread } = this.#sink
    // What is too much by itself goes to whoever has taken the rest: nobody is cut at one place again and again.
    if (unread > 0 && unread + bytes.length > maxUnread) this.#cut()
    else this.#sink.send(bytes)
  }

  /** `whole` is the text of all events, which reach up to `version`. */
  tell(events: readonly StreamEvent[], { whole, version }: { whole: Buffer; version: number }): void {
    if (!this.isLive || this.position >= version) return
    const isNewToAll = this.position < (events[0]?.version ?? 0)
    // Who came after that was read knows some of it.
    this.send(isNewToAll ? whole : bytesOf(events.filter((event) => event.version > this.position)))
    this.position = version
  }

  /** Sends what was missed, however much it is; resolves when the reader has taken enough to be sent more. */
  async replay(events: readonly StreamEvent[], version: number): Promise<void> {
    for (const part of inParts(events)) {
      if (this.#hasEnded) return
      this.#sink.send(part)
      await this.#sink.untilTaken()
    }
    this.position = version
  }

  /** The place where it is was lost; one that is still catching up comes back and is told so then. */
  restart(version: number, resync: Buffer): void {
    if (!this.isLive) {
      if (this.#hasBegun) this.end()
      return
    }
    this.position = version
    this.send(resync)
  }

  /** Ends it where its proof does, and says so. Throws UNAVAILABLE where that cannot be known. */
  async checkProof(now: () => number): Promise<boolean> {
    const endsAt = await this.#watcher.validUntil()
    if (endsAt !== null) {
      this.endsAt = endsAt
      return true
    }
    this.send(Buffer.from(endText(now() >= this.endsAt ? 'expired' : 'revoked')))
    this.end()
    return false
  }

  /** Once in a while: cuts a reader who takes nothing of what waits for him. `at` is by `performance.now()`. */
  checkReader(at: number): void {
    const { unread, taken } = this.#sink
    if (unread === 0 || taken - this.#lastLook.taken >= minTaken) this.#lastLook = { at, taken }
    else if (at - this.#lastLook.at >= maxUnreadMs) this.#cut()
  }

  /** Ends it in order; one that has not begun is just no stream any more. */
  end(): void {
    this.#hasEnded = true
    if (this.#hasBegun) this.#sink.end()
    else this.leave()
  }

  #cut(): void {
    this.#hasEnded = true
    this.#sink.cut()
  }

  leave(): void {
    if (this.isOver) return
    this.isOver = true
    this.#onOver()
  }
}

export function bytesOf(events: readonly StreamEvent[]): Buffer {
  return Buffer.from(events.map(({ text }) => text).join(''))
}

/** The text of all events, in parts that are not much larger than may be sent at once. */
function* inParts(events: readonly StreamEvent[]): Generator<Buffer> {
  let part: StreamEvent[] = []
  let length = 0
  for (const event of events) {
    part.push(event)
    length += event.text.length
    if (length < replayedAtOnce) continue
    yield bytesOf(part)
    part = []
    length = 0
  }
  if (length > 0) yield bytesOf(part)
}
