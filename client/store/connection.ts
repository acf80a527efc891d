// Who is signed in, and that user's stream: it connects while lists are open.
import { channelOf, openSharedStream } from '../stream/shared-stream.ts'
import { defaultTiming, isFinal } from '../stream/subscription.ts'
import { delayAfter } from '../transport/backoff.ts'
import { abort, following, pause, reasonOf, unlessAborted } from '../transport/cancellation.ts'
import { type CarillonError, isUnauthorized, networkError, signedOut } from '../transport/errors.ts'
import type { Requests } from '../transport/requests.ts'
import { maxTimerMs } from '../transport/tokens.ts'
import type { Position, StreamEvent } from '../transport/types.ts'
import type { ListState } from './inbox-list.ts'

/** Pauses after an error that a retry may not fix. */
const slowTiming = { ...defaultTiming, retryMs: 5_000, maxRetryMs: 60_000 }

type ConnectionHost = {
  load(): Promise<Position>
  onEvent(event: StreamEvent): Promise<void>
  onState(state: ListState, error?: unknown): void
  /** `error` rejects the former user's acts. */
  onOtherUser(error: CarillonError): void
}

export class Connection {
  readonly #requests: Requests
  readonly #on: ConnectionHost
  /** Null if no user is signed in, undefined before the server has said so. */
  #user: string | null | undefined
  #open: AbortController | undefined
  /**
   * Tells other tabs who is signed in. Tokens belong to one tab each: with them, it only tells whom
   * the page signed out.
   */
  #channel: BroadcastChannel | undefined
  #wake = () => {}
  #failures = 0
  #turn = new AbortController()

  constructor(requests: Requests, host: ConnectionHost) {
    this.#requests = requests
    this.#on = host
    if (requests.tokens) requests.tokens.onToken = () => this.#wake()
  }

  get isOpen(): boolean {
    return this.#open !== undefined
  }

  open(): void {
    const { tokens } = this.#requests
    const open = new AbortController()
    this.#open = open
    const wake = () => this.#wake()
    for (const type of ['online', 'focus']) globalThis.addEventListener?.(type, wake, open)
    globalThis.document?.addEventListener('visibilitychange', wake, open)
    globalThis.addEventListener?.(
      'offline',
      () => this.#on.onState('offline', networkError(undefined)),
      open,
    )
    this.#channel = channelOf(this.#requests, tokens ? 'signed-out' : 'user')
    this.#channel?.addEventListener('message', ({ data }) => {
      if (!tokens) data !== this.#user && this.lookAgain()
      else if (data === this.#user) this.signOut(false)
    })
    void this.#run(open.signal)
  }

  close(): void {
    if (this.#open) abort(this.#open)
    this.#channel?.close()
    this.#open = this.#channel = undefined
  }

  lookAgain(): void {
    this.#wake()
    if (this.#open && !this.#requests.tokens) this.confirm().catch(() => {})
  }

  async confirm(signal?: AbortSignal): Promise<void> {
    const me = await this.#requests.me({ signal, timeoutMs: defaultTiming.connectMs })
    this.#setUser(me?.user.id ?? null)
    if (!me) throw signedOut()
  }

  restart(error?: unknown): void {
    abort(this.#turn, error)
  }

  /** `isHere`: this page signed the user out, not another tab. */
  signOut(isHere = true): void {
    const error = signedOut()
    if (isHere) this.#channel?.postMessage(this.#user)
    this.restart(error)
    this.#requests.signOut(error)
    this.#setUser(null)
    if (this.#open) this.#on.onState('signed-out', error)
  }

  #setUser(user: string | null): void {
    const before = this.#user
    if (user === before) return
    this.#user = user
    if (!this.#requests.tokens) this.#channel?.postMessage(user)
    if (user && !before) return
    this.#on.onOtherUser(signedOut())
    if (before) this.restart()
  }

  async #run(open: AbortSignal): Promise<void> {
    let last: unknown
    this.#failures = 0
    const take = async (turn: AbortController) => {
      const { signal } = turn
      this.#turn = turn
      try {
        if (last) await this.#rest(last, signal)
        await this.#follow(turn)
      } catch (error) {
        last = signal.aborted ? reasonOf(signal) : error
        if (isUnauthorized(last)) this.#setUser(null)
      }
    }
    while (!open.aborted) await following([open], take)
  }

  async #follow(turn: AbortController): Promise<void> {
    const { signal } = turn
    let lost = 0
    await this.confirm(signal)
    const since = await unlessAborted(this.#on.load(), signal)
    const hooks = {
      onLost: (error: unknown) => {
        if (signal.aborted) return
        this.#on.onState('offline', error)
        // If a proxy blocks only streams, the lists are requested again and again.
        if (++lost > 2) abort(turn, error)
      },
      onUser: (user: string) => this.#setUser(user),
    }
    for await (const event of openSharedStream(
      this.#requests,
      { since, signal },
      undefined,
      undefined,
      hooks,
    )) {
      this.#failures = lost = 0
      await this.#on.onEvent(event)
    }
  }

  async #rest(error: unknown, turn: AbortSignal): Promise<void> {
    if ((error as Error).name === 'AbortError') return
    const isSignedOut = isUnauthorized(error)
    const isError = isFinal(error, true)
    const failed = isError ? 'error' : 'offline'
    this.#on.onState(isSignedOut ? 'signed-out' : failed, error)
    // Without a user, only the page or a token ends the wait.
    const timing = isError ? slowTiming : defaultTiming
    const ms = isSignedOut ? maxTimerMs : delayAfter(error, this.#failures++, timing)
    await pause(ms, turn, (end) => (this.#wake = end))
  }
}
