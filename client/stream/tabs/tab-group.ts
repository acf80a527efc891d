// The tabs that follow one inbox, from the view of one of them. One tab holds a Web Lock and leads; the others follow and wait
// for the lock. Each continues from its own position, so a change of leader neither loses nor repeats an event.
import { follow } from '../../transport/cancellation.ts'
import { isCarillonError } from '../../transport/errors.ts'
import { Follower, type FollowerTiming, leaderIsSilent } from './follower.ts'
import { Leader, type StreamSource } from './leader.ts'
import { formatVersion, type TabChannel } from './messages.ts'
import { inboxTagOf } from './position.ts'
import type { TabLog } from './tab-log.ts'

/**
 * `name` identifies the inbox and the kind of proof; tabs with the same name share a stream. Tabs with a cookie have the
 * same proof, which ends for all of them at once.
 */
export type SharedInbox = { name: string; isByCookie: boolean }

/** `moved`: the stream has turned out to be that of another inbox. */
type Outcome = 'ended' | 'moved'

/** Time for a message to arrive before the lock that is released after it. */
const messageMs = 1_000
/** If a tab waits longer for the lock, another user may have signed in since the tab requested the name of the inbox. */
const maxNameAgeMs = 1_000

export class TabGroup {
  readonly #stream: StreamSource & FollowerTiming
  readonly #inbox: SharedInbox
  readonly #log: TabLog
  readonly #namedAt = performance.now()
  readonly #channel: BroadcastChannel & TabChannel
  #role: Leader | Follower | undefined

  constructor(inbox: SharedInbox, stream: StreamSource & FollowerTiming, log: TabLog) {
    this.#stream = stream
    this.#inbox = inbox
    this.#log = log
    this.#channel = new BroadcastChannel(`carillon ${formatVersion} ${inbox.name}`)
    this.#channel.onmessage = ({ data }) => data && this.#role?.receive(data)
  }

  /** Follows and leads until the stream ends or moves. Throws the error that ends the loop, or the reason of `signal`. */
  async takePart(signal: AbortSignal): Promise<Outcome> {
    this.#log.last = undefined
    try {
      for (let isStealing = false; ; ) {
        signal.throwIfAborted()
        const outcome = await this.#takeTurn(isStealing, signal)
        if (outcome === 'ended' || outcome === 'moved') return outcome
        isStealing = outcome === leaderIsSilent
      }
    } finally {
      this.#channel.close()
    }
  }

  /** Follows until this tab gets the lock, then leads until another tab steals the lock or the stream ends. */
  async #takeTurn(isStealing: boolean, signal: AbortSignal): Promise<Outcome | typeof leaderIsSilent | 'deposed'> {
    const turn = new AbortController()
    const unfollow = follow(signal, turn)
    const follower = new Follower(this.#log, this.#channel, this.#stream, turn)
    this.#role = follower
    const lead = () => {
      follower.stop()
      return this.#lead(turn.signal)
    }
    try {
      const how = isStealing ? { steal: true } : { signal: turn.signal }
      return await navigator.locks.request(this.#channel.name, how, lead)
    } catch (error) {
      if (turn.signal.reason === leaderIsSilent) return leaderIsSilent
      turn.signal.throwIfAborted()
      if ((error as Error).name === 'AbortError') return 'deposed'
      // The page may not use locks, for example in a frame without an origin: the tab opens its own stream.
      return await lead()
    } finally {
      follower.stop()
      turn.abort()
      unfollow()
    }
  }

  async #lead(signal: AbortSignal): Promise<Outcome | 'deposed'> {
    signal.throwIfAborted()
    // Without an inbox tag in its position, the tab could not detect that the stream belongs to another user.
    const isNameOld = performance.now() - this.#namedAt > maxNameAgeMs
    if (isNameOld && !inboxTagOf(this.#log.position)) return 'moved'
    const leader = new Leader(this.#stream, this.#log, this.#channel)
    this.#role = leader
    try {
      return await leader.lead(signal)
    } catch (error) {
      if (signal.aborted) return 'deposed'
      this.#log.queue.end(error)
      if (this.#inbox.isByCookie) await this.#shareError(error)
      return 'ended'
    }
  }

  /** Only the end of the proof concerns the other tabs. They would not learn its reason from a request of their own. */
  async #shareError(error: unknown): Promise<void> {
    if (!isCarillonError(error) || error.status !== 401) return
    // Without the spread the message would lose the fields: the browser copies only the standard fields of an Error.
    this.#channel.postMessage({ kind: 'error', error: { ...error, message: error.message } })
    await new Promise((resolve) => setTimeout(resolve, messageMs))
  }
}
