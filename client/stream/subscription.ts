// One live stream over any number of connections: yields each event once, in order.
import { type Backoff, delayAfter } from '../transport/backoff.ts'
import {
  abort,
  follow,
  leavable,
  pause,
  throwIfAborted,
  unlessAborted,
} from '../transport/cancellation.ts'
import {
  CarillonError,
  isCarillonError,
  isUnauthorized,
  networkError,
  unreadable,
} from '../transport/errors.ts'
import type { CallOptions, Requests } from '../transport/requests.ts'
import type {
  Changes,
  NotificationPage,
  Position,
  SessionEnd,
  StreamEvent,
} from '../transport/types.ts'
import { EventStreamParser, type ServerSentEvent } from './event-stream.ts'
import { versionOf } from './position.ts'

export type StreamOptions = CallOptions & {
  since?: Position | undefined
}

export type Timing = Backoff & {
  /** Milliseconds. After 2.5 times as long without data, the client reconnects. */
  heartbeatMs: number
  connectMs: number
}

export const defaultTiming: Timing = {
  heartbeatMs: 15_000,
  connectMs: 15_000,
  retryMs: 1_000,
  maxRetryMs: 5_000,
  random: Math.random,
}

export type StreamWatcher = {
  onData?: () => void
  onLost?: (error: unknown) => void
  /** Runs before a tab joins that user's tabs. */
  onUser?: (id: string) => void
}

/**
 * Reads nothing ahead of `next()`. `return()`, which a `break` calls, closes the connection even
 * while `next()` waits.
 */
export function openStream(
  requests: Requests,
  options: StreamOptions = {},
  timing: Timing = defaultTiming,
  watcher: StreamWatcher = {},
): AsyncIterableIterator<StreamEvent> {
  const signals = [options.signal, requests.session.signal]
  return leavable(signals, (signal) =>
    new Subscription(requests, options.since, timing, watcher).events(signal),
  )
}

export const eventTypes =
  'hello created replaced read unread archived unarchived snoozed read-all archive-read seen removed resync'.split(
    ' ',
  )

type Reader = ReadableStreamDefaultReader<Uint8Array>

const pollSeconds = 25

class Subscription {
  readonly #requests: Requests
  readonly #timing: Timing
  readonly #watcher: StreamWatcher
  #position: Position | undefined
  /** Failures in a row, since a connection brought more than a greeting. */
  #failures = 0
  #hasConnected = false
  #isGreeted = false
  #sessionEnd: SessionEnd | undefined
  /** Runs when the machine is online (true), the page becomes visible, or time has passed. */
  #wake: (isOnline: boolean) => unknown = () => {}

  constructor(
    requests: Requests,
    since: Position | undefined,
    timing: Timing,
    watcher: StreamWatcher,
  ) {
    this.#requests = requests
    this.#position = since
    this.#timing = { ...timing }
    this.#watcher = watcher
  }

  async *events(signal: AbortSignal): AsyncGenerator<StreamEvent, void> {
    const { document } = globalThis
    const onVisibility = () => document.visibilityState === 'visible' && this.#wake(false)
    globalThis.addEventListener?.('online', () => this.#wake(true), { signal })
    document?.addEventListener('visibilitychange', onVisibility, { signal })
    for (;;) {
      const ms = yield* this.#connection(signal)
      await pause(ms, signal, (endPause) => (this.#wake = endPause))
    }
  }

  /** Returns the milliseconds until the next connection. */
  async *#connection(signal: AbortSignal): AsyncGenerator<StreamEvent, number> {
    const drop = new AbortController()
    follow([signal], drop)
    const { canStream } = this.#requests
    let reader: Reader | undefined
    try {
      this.#isGreeted = false
      if (!canStream) return yield* this.#poll(drop.signal)
      reader = await this.#open(drop)
      // The next connection has the new token. A failed renewal leaves this connection open.
      const end = () => abort(drop)
      this.#requests.tokens?.replaced(drop.signal).then(end, end)
      return yield* this.#read(reader, drop)
    } catch (error) {
      throwIfAborted(signal)
      if (canStream && !this.#requests.canStream) return 0
      if (!reader && !drop.signal.aborted && isFinal(error, this.#hasConnected))
        throw this.#withReason(error)
      if (!this.#isGreeted) this.#watcher.onLost?.(error)
      if (drop.signal.aborted) return 0
      return this.#backOff(error)
    } finally {
      // A custom fetch may ignore the signal.
      reader?.cancel().catch(() => {})
      abort(drop)
    }
  }

  /** Requests changes instead of a stream: yields `hello`, and `resync` after each change. */
  async *#poll(signal: AbortSignal): AsyncGenerator<StreamEvent, never> {
    const requests = this.#requests
    for (;;) {
      const before = this.#position
      const list = { path: 'api/notifications', query: { limit: 1 }, signal }
      const since = before ?? (await requests.data<NotificationPage>(list)).version
      const wait = this.#isGreeted ? pollSeconds : 0
      const found = await requests.data<Changes>({
        path: 'api/notifications/changes',
        query: { since, wait },
        signal,
        timeoutMs: this.#timing.connectMs + wait * 1_000,
      })
      this.#hasConnected = true
      if (found.reset || found.hasMore) {
        this.#position = undefined
        this.#isGreeted = false
        continue
      }
      const { position, version, unread, total, unseen } = found
      const state = { position, version, unread, total, unseen }
      this.#position = position
      this.#resetFailures()
      if (!this.#isGreeted) yield { type: 'hello', ...state }
      this.#isGreeted = true
      if (version !== versionOf(before)) yield { type: 'resync', ...state }
    }
  }

  async #open(drop: AbortController): Promise<Reader> {
    const { signal } = drop
    // The position is in the query: from another origin, Last-Event-ID would cost a preflight
    // request.
    const opened = this.#requests.open({
      path: 'api/notifications/stream',
      query: { since: this.#position },
      signal,
    })
    const response = await this.#withinTimeout(opened, this.#timing.connectMs, drop)
    if (!response.body || !response.headers.get('content-type')?.startsWith('text/event-stream'))
      throw unreadable(response)
    this.#hasConnected = true
    return response.body.getReader()
  }

  async *#read(reader: Reader, drop: AbortController): AsyncGenerator<StreamEvent, number> {
    const parser = new EventStreamParser()
    for (;;) {
      const { done, value } = await this.#withinTimeout(
        reader.read(),
        this.#timing.heartbeatMs * 2.5,
        drop,
      )
      if (done) return this.#backOff()
      this.#watcher.onData?.()
      const wasGreeted = this.#isGreeted
      const events = parser.push(value)
      this.#timing.retryMs = parser.retryMs ?? this.#timing.retryMs
      for (const event of events) {
        if (event.type === 'session-ended') return this.#endSession(event)
        // The loop may abort between events of one chunk.
        throwIfAborted(drop.signal)
        const known = this.#eventOf(event)
        this.#isGreeted ||= known !== undefined
        if (known) yield known
      }
      // The first chunk may have a greeting and the session's end.
      if (wasGreeted) this.#resetFailures()
    }
  }

  /** Undefined for a type that only a newer server knows; its position counts all the same. */
  #eventOf({ type, data, id }: ServerSentEvent): StreamEvent | undefined {
    const known = eventTypes.includes(type) ? JSON.parse(data) : undefined
    this.#position = id || this.#position
    if (known && type !== 'hello') this.#resetFailures()
    // A hello before a resync has no id: the requested position stays until the resync.
    return known && { type, position: String(this.#position ?? ''), ...known }
  }

  #resetFailures(): void {
    this.#failures = 0
    this.#sessionEnd = undefined
  }

  /** Reconnects at once for a new proof, but waits if the last session brought no event. */
  #endSession({ data }: ServerSentEvent): number {
    const isFirst = this.#sessionEnd === undefined
    this.#sessionEnd = JSON.parse(data).reason
    return isFirst ? 0 : this.#backOff()
  }

  #backOff(error?: unknown): number {
    return delayAfter(error, this.#failures++, this.#timing)
  }

  #withReason(error: unknown): unknown {
    const reason = this.#sessionEnd
    if (reason === undefined || !isUnauthorized(error)) return error
    const message = `${error.message}: the proof is ${reason}`
    return new CarillonError(error.code, message, { ...error, reason, cause: error })
  }

  async #withinTimeout<Result>(
    promise: Promise<Result>,
    timeoutMs: number,
    drop: AbortController,
  ): Promise<Result> {
    // During sleep the monotonic clock may stop, and the wall clock may be set.
    const startedAt = Date.now()
    const monotonicStart = performance.now()
    const isLate = () =>
      Math.max(Date.now() - startedAt, performance.now() - monotonicStart) >= timeoutMs
    this.#wake = (isOnline) => (isOnline || isLate()) && abort(drop, networkError(undefined))
    const timer = setInterval(() => this.#wake(false), this.#timing.heartbeatMs / 3)
    try {
      return await unlessAborted(promise, drop.signal)
    } finally {
      clearInterval(timer)
      this.#wake = (isOnline) => isOnline && abort(drop)
    }
  }
}

export function isFinal(error: unknown, hasConnected = false): boolean {
  if (!isCarillonError(error) || error.code === 'AUTH_FAILED') return true
  const { code, status = 500 } = error
  // A proxy or network login page responded, which is temporary.
  if (code === 'UNREADABLE' && hasConnected) return false
  return status < 500 && status !== 408 && status !== 429
}
