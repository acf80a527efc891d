// A tab that waits for the lock of the inbox: it receives the events from the leader, requests events that it has missed, and
// takes the lock from a leader that sends nothing any more.
import type { Backoff } from '../../transport/backoff.ts'
import { CarillonError } from '../../transport/errors.ts'
import type { Position, StreamEvent } from '../../transport/types.ts'
import type { Message, TabChannel } from './messages.ts'
import { areOfOneInbox, isBehind } from './position.ts'
import type { TabLog } from './tab-log.ts'

/** The reason with which a follower aborts its wait for the lock if the leader is silent. */
export const leaderIsSilent = Symbol()

export type FollowerTiming = {
  /** After this time without a message from the leader, the follower sends a request, and then takes the lock. */
  silenceMs: number
  backoff: Backoff
}

export class Follower {
  readonly #log: TabLog
  readonly #channel: TabChannel
  readonly #timing: FollowerTiming
  readonly #id: string
  readonly #waiting: AbortController
  /** This tab has sent a request, and has no response yet. */
  #hasRequested = false
  #timer: ReturnType<typeof setTimeout> | undefined

  /** Follows until `stop()`. Aborts `waiting` with `leaderIsSilent`, or with the error that ends all tabs. */
  constructor(log: TabLog, channel: TabChannel, timing: FollowerTiming, waiting: AbortController) {
    this.#log = log
    this.#channel = channel
    this.#timing = timing
    this.#waiting = waiting
    this.#id = String(timing.backoff.random())
    this.#watchLeader()
    this.#request()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  /** Ignores messages that are not from a leader. */
  receive(message: Message): void {
    switch (message.kind) {
      case 'leading':
        this.#hasRequested = false
        this.#requestIfBehind(message.position)
        break
      case 'event':
        this.#follow(message.event, message.after)
        break
      case 'response':
        if (message.to === this.#id) this.#catchUp(message.hello, message.missed)
        break
      case 'error':
        this.#waiting.abort(new CarillonError(message.error.code, message.error.message, message.error))
        break
      default:
        return
    }
    this.#watchLeader()
  }

  /** Adds an event that is next, skips a known one, and sends a request if events are missing in between. */
  #follow(event: StreamEvent, after: Position | undefined): void {
    const { position: own } = this.#log
    // A greeting means that the leader can respond, so this tab repeats a request that had no response.
    if (event.type === 'hello' || event.type === 'resync') this.#hasRequested = false
    if (event.type === 'hello') {
      if (!this.#requestIfBehind(event.position)) this.#log.show({ ...event, position: String(own) })
    } else if (event.type === 'resync' && this.#log.last && !isBehind(event.position, own)) this.#log.add(event)
    else if (!this.#requestIfBehind(after) && isBehind(own, event.position)) this.#log.add(event)
  }

  #requestIfBehind(position: Position | undefined): boolean {
    const { position: own, last } = this.#log
    const isBehindLeader = !last || !areOfOneInbox(position, own) || isBehind(own, position)
    if (isBehindLeader) this.#request()
    return isBehindLeader
  }

  #request(): void {
    if (this.#hasRequested) return
    this.#hasRequested = true
    this.#channel.postMessage({ kind: 'request', from: this.#id, position: this.#log.position })
  }

  #catchUp(hello: StreamEvent, missed: StreamEvent[]): void {
    this.#hasRequested = false
    if (!this.#log.last) this.#log.add(hello)
    for (const event of missed)
      if (event.type === 'resync' || isBehind(this.#log.position, event.position)) this.#log.add(event)
  }

  /**
   * Waits for the next message of the leader, then sends a request, then takes the lock. The leader sends no heartbeats,
   * because browsers throttle the timers of hidden tabs; a message wakes them. The last wait is random, so that not all
   * tabs take the lock at once, even if the timers of all tabs end together after the machine has slept.
   */
  #watchLeader(): void {
    const { silenceMs, backoff } = this.#timing
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#hasRequested = false
      this.#request()
      const waitMs = silenceMs * (0.1 + 0.4 * backoff.random())
      this.#timer = setTimeout(() => this.#waiting.abort(leaderIsSilent), waitMs)
    }, silenceMs)
  }
}
