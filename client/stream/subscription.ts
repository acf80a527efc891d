// The live stream that does not end: `openStream(requests, { since, signal })` yields each event of the inbox once, in
// order, over any number of connections. It leaves the bytes to event-stream.ts, the proof to requests.ts.
import { delayAfter } from '../transport/backoff.ts'
import { follow, leavable, pause, unlessAborted } from '../transport/cancellation.ts'
import { CarillonError, isCarillonError, unreadable } from '../transport/errors.ts'
import type { CallOptions, Requests } from '../transport/requests.ts'
import type { Position, SessionEnd, StreamData, StreamEvent } from '../transport/types.ts'
import { EventStreamParser, type ServerSentEvent } from './event-stream.ts'

export type StreamOptions = CallOptions & {
  /** The position of the last event that is known; default: from now on. */
  since?: Position | undefined
}

export type Timing = {
  /** How often the server sends something at least. After two and a half of these in silence the connection is dropped. */
  heartbeatMs: number
  /** How long a connection may take. */
  connectMs: number
  /** The base of the backoff until the server tells one, and its bound: a server that is back is found within it. */
  retryMs: number
  maxRetryMs: number
  /** From 0 to below 1. */
  random: () => number
}

export const usual: Timing = {
  heartbeatMs: 15_000,
  connectMs: 15_000,
  retryMs: 1_000,
  maxRetryMs: 5_000,
  random: Math.random,
}

/**
 * Nothing is asked before the first `next()`, and nothing is read ahead of them. `return()`, which is what `break` does,
 * closes the connection, also while a `next()` waits. `onLife` is called whenever something came, be it a comment.
 */
export function openStream(
  requests: Requests,
  options: StreamOptions = {},
  timing: Timing = usual,
  onLife = () => {},
): AsyncIterableIterator<StreamEvent> {
  const subscription = new Subscription(requests, options, timing, onLife)
  return leavable(subscription.events(), () => subscription.leave())
}

/** What is passed on; anything else is passed over. */
export const eventTypes: Record<keyof StreamData, true> = {
  hello: true,
  notification: true,
  read: true,
  'read-all': true,
  resync: true,
}

class Subscription {
  readonly #requests: Requests
  readonly #signal: AbortSignal | undefined
  readonly #timing: Timing
  readonly #onLife: () => void
  readonly #end = new AbortController()
  #hasLeft = false
  /** Behind the last complete event. */
  #position: Position | undefined
  #retryMs: number
  /** In a row, since a connection brought something. */
  #failures = 0
  #hasConnected = false
  #sessionEnd: SessionEnd | undefined
  /** Does what is right for what is under way when the machine is back on the network, or the page before its reader. */
  #wake: (isOnline: boolean) => void = () => {}
  /** Looks whether what is waited for is overdue. */
  #check: () => void = () => {}

  constructor(requests: Requests, { since, signal }: StreamOptions, timing: Timing, onLife: () => void) {
    this.#requests = requests
    this.#position = since
    this.#signal = signal
    this.#timing = timing
    this.#onLife = onLife
    this.#retryMs = timing.retryMs
  }

  async *events(): AsyncGenerator<StreamEvent, void> {
    const unfollow = follow(this.#signal, this.#end)
    const unlisten = listen((isOnline) => this.#wake(isOnline))
    try {
      for (;;) {
        const ms = yield* this.#connection()
        await pause(ms, this.#end.signal, (cut) => {
          this.#wake = cut
        })
      }
    } catch (error) {
      if (!this.#hasLeft) throw error
    } finally {
      unlisten()
      unfollow()
    }
  }

  leave(): void {
    this.#hasLeft = true
    this.#end.abort()
  }

  /** Yields what one connection brings; returns how many milliseconds to wait before the next. */
  async *#connection(): AsyncGenerator<StreamEvent, number> {
    const drop = new AbortController()
    const unfollow = follow(this.#end.signal, drop)
    this.#wake = (isOnline) => (isOnline ? drop.abort() : this.#check())
    let isOpen = false
    try {
      const reader = await this.#open(drop)
      isOpen = true
      try {
        return yield* this.#read(reader, drop)
      } finally {
        // For a fetch of the caller's that knows no signal; whether it can be cancelled is of no interest any more.
        reader.cancel().catch(() => {})
      }
    } catch (error) {
      this.#end.signal.throwIfAborted()
      if (drop.signal.aborted) return 0
      if (!isOpen && isFinal(error, this.#hasConnected)) throw this.#explained(error)
      return this.#backOff(error)
    } finally {
      unfollow()
      drop.abort()
    }
  }

  async #open(drop: AbortController): Promise<ReadableStreamDefaultReader<Uint8Array>> {
    const { signal } = drop
    // In the query and not in Last-Event-ID: that would cost each page of another origin a preflight.
    const query = { since: this.#position }
    const opened = this.#requests.open({ path: 'api/notifications/stream', query, signal })
    const response = await this.#patiently(opened, this.#timing.connectMs, drop)
    if (!response.body || !response.headers.get('content-type')?.startsWith('text/event-stream'))
      throw unreadable(response)
    this.#hasConnected = true
    return response.body.getReader()
  }

  async *#read(
    reader: ReadableStreamDefaultReader<Uint8Array>,
    drop: AbortController,
  ): AsyncGenerator<StreamEvent, number> {
    const parser = new EventStreamParser()
    for (let isGreeted = false; ; ) {
      const { done, value } = await this.#patiently(reader.read(), this.#timing.heartbeatMs * 2.5, drop)
      if (done) return this.#backOff()
      this.#onLife()
      const wasGreeted = isGreeted
      const events = parser.push(value)
      this.#retryMs = parser.retryMs ?? this.#retryMs
      for (const event of events) {
        if (event.type === 'session-ended') return this.#endSession(event)
        // A loop may abort in the middle of what came at once.
        this.#end.signal.throwIfAborted()
        const told = this.#told(event)
        isGreeted ||= told !== undefined
        if (told) yield told
      }
      // Not before: what came may have been the end of the session.
      if (wasGreeted) this.#thrive()
    }
  }

  /** What a newer server tells beyond these types is passed over, and not asked for again. */
  #told({ type, data, id }: ServerSentEvent): StreamEvent | undefined {
    const told = Object.hasOwn(eventTypes, type) ? JSON.parse(data) : undefined
    this.#position = id || this.#position
    if (told && type !== 'hello') this.#thrive()
    // A hello has none where a resync follows it; what was asked for then still stands.
    return told && { type, position: String(this.#position ?? ''), ...told }
  }

  /** More than a greeting came: what has failed before is over. */
  #thrive(): void {
    this.#failures = 0
    this.#sessionEnd = undefined
  }

  /** Another attempt shows whether there is a fresh proof; at once, unless the last such attempt brought nothing. */
  #endSession({ data }: ServerSentEvent): number {
    const isFirst = this.#sessionEnd === undefined
    this.#sessionEnd = JSON.parse(data).reason
    return isFirst ? 0 : this.#backOff()
  }

  #backOff(error?: unknown): number {
    const { maxRetryMs, random } = this.#timing
    return delayAfter(error, this.#failures++, { baseMs: this.#retryMs, capMs: maxRetryMs, random })
  }

  #explained(error: unknown): unknown {
    const reason = this.#sessionEnd
    if (reason === undefined || !isCarillonError(error) || error.status !== 401) return error
    return new CarillonError(
      error.code,
      `${error.message}: the proof has ${reason === 'expired' ? 'expired' : 'been revoked'}`,
      {
        ...error,
        reason,
        cause: error,
      },
    )
  }

  /** Drops what takes longer, by either clock: timers stand still while a machine sleeps, and the one on the wall is set. */
  async #patiently<Result>(promise: Promise<Result>, patienceMs: number, drop: AbortController): Promise<Result> {
    const from = Date.now()
    const fromSteady = performance.now()
    this.#check = () => {
      if (Math.max(Date.now() - from, performance.now() - fromSteady) >= patienceMs) drop.abort()
    }
    const timer = setInterval(() => this.#check(), this.#timing.heartbeatMs / 3)
    try {
      return await unlessAborted(promise, drop.signal)
    } finally {
      clearInterval(timer)
      this.#check = () => {}
    }
  }
}

/** Would another attempt fail alike? Where a stream once was, an answer that is not Carillon's is something in between. */
export function isFinal(error: unknown, hasConnected = false): boolean {
  if (!isCarillonError(error)) return true
  const { code, status = 500 } = error
  if (code === 'UNREADABLE' && hasConnected) return false
  return status < 500 && status !== 408 && status !== 429
}

/** Where there is neither a page nor a network that says when it is back, nothing is listened to. */
function listen(wake: (isOnline: boolean) => void): () => void {
  const { document } = globalThis
  const online = () => wake(true)
  const visible = () => {
    if (document.visibilityState === 'visible') wake(false)
  }
  globalThis.addEventListener?.('online', online)
  document?.addEventListener('visibilitychange', visible)
  return () => {
    globalThis.removeEventListener?.('online', online)
    document?.removeEventListener('visibilitychange', visible)
  }
}
