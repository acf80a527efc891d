// The tab that holds the lock of the inbox: it reads the stream, sends each event to the other tabs, and responds to tabs
// that have missed events.
import type { Position, StreamEvent } from '../../transport/types.ts'
import type { Message, TabChannel } from './messages.ts'
import { areOfOneInbox, stateEvent, versionOf } from './position.ts'
import type { TabLog } from './tab-log.ts'

export type StreamSource = {
  /** Opens the stream. `onData` is called for every chunk, also for a comment. */
  open: (
    from: { since: Position | undefined; signal: AbortSignal | undefined },
    onData: () => void,
  ) => AsyncIterableIterator<StreamEvent>
  /** After this time without data from the stream, the leader no longer responds. */
  silenceMs: number
}

/** A list may show a version before the stream does. The leader gives the stream this time to catch up. */
const catchUpMs = 1_000
/** A resync that follows a greeting arrives in the same chunk, or right after it. */
const holdMs = 100

export class Leader {
  readonly #source: StreamSource
  readonly #log: TabLog
  readonly #channel: TabChannel
  /** A greeting that the leader holds back, because it may have the counters of another user. */
  #greeting: StreamEvent | undefined
  /** When the stream last received data, by `performance.now()`; negative infinity without a stream. */
  #aliveAt = Number.NEGATIVE_INFINITY

  constructor(source: StreamSource, log: TabLog, channel: TabChannel) {
    this.#source = source
    this.#log = log
    this.#channel = channel
  }

  /** Leads until `signal` aborts, the stream ends, or the stream turns out to be that of another inbox. */
  async lead(signal: AbortSignal): Promise<'ended' | 'moved'> {
    const { position } = this.#log
    this.#channel.postMessage({ kind: 'leading', position })
    const onData = () => {
      this.#aliveAt = performance.now()
    }
    try {
      for await (const event of this.#source.open({ since: position, signal }, onData)) {
        // Another tab has stolen the lock and sends the events from here on.
        if (signal.aborted) break
        if (!areOfOneInbox(event.position, this.#log.position)) {
          this.#log.moveTo(event)
          return 'moved'
        }
        this.#releaseGreeting()
        if (event.type === 'hello') this.#holdGreeting(event)
        else this.#pass(event)
      }
      return 'ended'
    } finally {
      this.#aliveAt = Number.NEGATIVE_INFINITY
      this.#greeting = undefined
    }
  }

  /** A greeting at the requested position may be followed by a resync, which shows that the inbox is another one. */
  #holdGreeting(hello: StreamEvent): void {
    this.#greeting = hello
    if (hello.position !== String(this.#log.position)) this.#releaseGreeting()
    else setTimeout(() => this.#greeting === hello && this.#releaseGreeting(), holdMs)
  }

  #releaseGreeting(): void {
    if (this.#greeting) this.#pass(this.#greeting)
    this.#greeting = undefined
  }

  #pass(event: StreamEvent): void {
    const after = this.#log.position
    this.#log.add(event)
    this.#channel.postMessage({ kind: 'event', event, after })
  }

  /**
   * Responds to a request with the missed events, or with a resync if they are not kept. Ignores other messages, and all
   * messages while the stream has been silent for too long.
   */
  receive(message: Message, isRetry = false): void {
    const { last, position: own } = this.#log
    const isSilent = performance.now() - this.#aliveAt >= this.#source.silenceMs
    if (message.kind !== 'request' || !last || isSilent) return
    const { from: to, position = own } = message
    if (versionOf(position) > versionOf(own) && !isRetry) {
      setTimeout(() => this.receive(message, true), catchUpMs)
      return
    }
    const missed = this.#log.eventsAfter(position)
    // The position of the request may lack the inbox tag, so the tag is the one of the leader.
    const start = missed ? String(own).replace(/^\d+/, String(versionOf(position))) : String(own)
    this.#channel.postMessage({
      kind: 'response',
      to,
      hello: stateEvent('hello', last, start),
      missed: missed ?? [stateEvent('resync', last, start)],
    })
  }
}
