// Who is signed in, and the stream of that user: connects while lists are open, and tries again after every failure. A sign-in,
// another tab, the network and the return of the reader to the page end a wait early.
import { requestMe } from '../sign-in.ts'
import { openSharedStream } from '../stream/shared-stream.ts'
import { defaultTiming, isFinal } from '../stream/subscription.ts'
import { delayAfter } from '../transport/backoff.ts'
import { follow, pause, unlessAborted } from '../transport/cancellation.ts'
import { CarillonError, isCarillonError, networkError } from '../transport/errors.ts'
import type { Requests } from '../transport/requests.ts'
import type { Position, StreamEvent } from '../transport/types.ts'
import type { ListState } from './inbox-list.ts'

/** After an error that a retry may not fix. */
const slowTiming = { ...defaultTiming, retryMs: 5_000, maxRetryMs: 60_000 }
/** Only an event of the page ends the wait of a page on which no user is signed in. */
const forEver = 2 ** 31 - 1

export type ConnectionHost = {
  /** Requests what is missing. Resolves to the position at which the stream has to begin. */
  load(): Promise<Position>
  onEvent(event: StreamEvent): Promise<void>
  onState(state: ListState, error?: unknown): void
  /** The server has said that the user of before is not signed in. `error` is for the acts of that user. */
  onOtherUser(error: CarillonError): void
}

export class Connection {
  readonly #requests: Requests
  readonly #on: ConnectionHost
  /** Null if no user is signed in, undefined before the server has said. */
  #user: string | null | undefined
  #open: AbortController | undefined
  /** Tells the other tabs of this browser who is signed in. A token belongs to one tab. */
  #channel: BroadcastChannel | undefined
  #wake = () => {}
  #turn = new AbortController()

  constructor(requests: Requests, host: ConnectionHost) {
    this.#requests = requests
    this.#on = host
  }

  get isOpen(): boolean {
    return this.#open !== undefined
  }

  open(): void {
    const { document, BroadcastChannel: Channel } = globalThis
    const open = new AbortController()
    const { signal } = open
    this.#open = open
    const wake = () => this.#wake()
    for (const type of ['online', 'focus']) globalThis.addEventListener?.(type, wake, { signal })
    document?.addEventListener('visibilitychange', wake, { signal })
    globalThis.addEventListener?.('offline', () => this.#on.onState('offline', networkError(undefined)), { signal })
    if (document && Channel && !this.#requests.tokens) {
      try {
        this.#channel = new Channel(`carillon user ${this.#requests.base}`)
        this.#channel.onmessage = ({ data }) => data !== this.#user && this.lookAgain()
      } catch {
        // A page whose storage is forbidden.
      }
    }
    void this.#run(signal)
  }

  close(): void {
    this.#open?.abort()
    this.#channel?.close()
    this.#open = this.#channel = undefined
  }

  /** Another user may be signed in now. */
  lookAgain(): void {
    this.#wake()
    if (this.#open && !this.#requests.tokens) this.confirm().catch(() => {})
  }

  /** Requests who is signed in. Throws UNAUTHORIZED if no user is. */
  async confirm(signal?: AbortSignal): Promise<void> {
    const me = await requestMe(this.#requests, { signal, timeoutMs: defaultTiming.connectMs })
    this.#setUser(me?.user.id ?? null)
    if (!me) throw signedOut()
  }

  /** Connects again: at once, or after the pause that follows `error`. */
  restart(error?: unknown): void {
    this.#turn.abort(error)
  }

  #setUser(user: string | null): void {
    const before = this.#user
    this.#user = user
    if (user !== before) this.#channel?.postMessage(user)
    const isOther = user !== before && (before || !user)
    if (isOther) this.#on.onOtherUser(signedOut())
    if (isOther && before) this.restart()
  }

  async #run(open: AbortSignal): Promise<void> {
    let failures = 0
    while (!open.aborted) {
      const turn = new AbortController()
      let lost = 0
      const { signal } = turn
      const unfollow = follow(open, turn)
      this.#turn = turn
      try {
        await this.confirm(signal)
        const since = await unlessAborted(this.#on.load(), signal)
        const hooks = {
          onLost: (error: unknown) => {
            if (signal.aborted) return
            this.#on.onState('offline', error)
            // Something may block streams and nothing else: then the lists are requested again and again.
            if (++lost > 2) turn.abort(error)
          },
          onUser: (user: string) => this.#setUser(user),
        }
        for await (const event of openSharedStream(this.#requests, { since, signal }, undefined, undefined, hooks)) {
          failures = lost = 0
          await this.#on.onEvent(event)
        }
      } catch (error) {
        const cause = signal.aborted ? signal.reason : error
        if (cause?.name !== 'AbortError') await this.#rest(cause, failures++, open).catch(() => {})
      } finally {
        unfollow()
        turn.abort()
      }
    }
  }

  async #rest(error: unknown, failures: number, open: AbortSignal): Promise<void> {
    const isSignedOut = isCarillonError(error) && error.status === 401
    if (isSignedOut) this.#setUser(null)
    const isError = isFinal(error, true)
    this.#on.onState(isSignedOut ? 'signed-out' : isError ? 'error' : 'offline', error)
    const ms = isSignedOut ? forEver : delayAfter(error, failures, isError ? slowTiming : defaultTiming)
    await pause(ms, open, (end) => (this.#wake = end))
  }
}

function signedOut(): CarillonError {
  return new CarillonError('UNAUTHORIZED', 'No user is signed in', { status: 401 })
}
