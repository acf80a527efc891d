// A tab that waits for the lock: gets events from the leader, and replaces a silent leader.
import type { CarillonError } from '../../transport/errors.ts'
import type { Position, StreamEvent } from '../../transport/types.ts'
import type { Message, Tab } from './messages.ts'

export const leaderIsSilent = Symbol()
const fromLeader: readonly Message['kind'][] = ['leading', 'event', 'response', 'error', 'lost']

export class Follower {
  readonly #tab: Tab
  readonly #id: string
  readonly #waiting: AbortController
  #hasRequested = false
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(tab: Tab, waiting: AbortController) {
    this.#tab = tab
    this.#waiting = waiting
    this.#id = String(tab.timing.random())
    tab.channel.onmessage = ({ data }) => data && this.#receive(data)
    this.#watchLeader()
    this.#request()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #receive(message: Message): void {
    const { kind } = message
    if (kind === 'event') this.#follow(message.event, message.after)
    else if (kind === 'error') this.#waiting.abort(this.#errorIn(message))
    else if (kind === 'lost') this.#tab.watcher.onLost?.(this.#errorIn(message))
    else if (kind === 'response' && message.to === this.#id)
      this.#catchUp(message.hello, message.missed)
    if (fromLeader.includes(kind)) this.#watchLeader()
  }

  #follow(event: StreamEvent, after: Position | undefined): void {
    const { log, functions } = this.#tab
    const { areOfOneInbox, versionOf } = functions
    const { last, position: own } = log
    const isMissing = (position: Position | undefined) =>
      !last || !areOfOneInbox(position, own) || versionOf(own) < versionOf(position)
    // A greeting shows that the leader responds, so this tab repeats an unanswered request.
    if (event.type === 'hello' || event.type === 'resync') this.#hasRequested = false
    if (event.type === 'resync' && last && !(versionOf(event.position) < versionOf(own)))
      log.add(event)
    else if (isMissing(event.type === 'hello' ? event.position : after)) this.#request()
    else if (event.type === 'hello') log.show({ ...event, position: String(own) })
    else if (versionOf(own) < versionOf(event.position)) log.add(event)
  }

  #request(): void {
    if (this.#hasRequested) return
    this.#hasRequested = true
    const { log, channel } = this.#tab
    channel.postMessage({ kind: 'request', from: this.#id, position: log.position })
  }

  #catchUp(hello: StreamEvent, missed: StreamEvent[]): void {
    const { log, functions } = this.#tab
    const { versionOf } = functions
    this.#hasRequested = false
    if (!log.last) log.add(hello)
    for (const event of missed)
      if (event.type === 'resync' || versionOf(log.position) < versionOf(event.position))
        log.add(event)
  }

  #errorIn({ error }: Extract<Message, { error: unknown }>): CarillonError {
    return new this.#tab.functions.CarillonError(error.code, error.message, error)
  }

  // Browsers throttle hidden tabs' timers, so the leader sends no heartbeats. The last wait is
  // random, so that after a sleep not all tabs take the lock at once.
  #watchLeader(): void {
    const { silenceMs, timing } = this.#tab
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#hasRequested = false
      this.#request()
      const waitMs = silenceMs * (0.1 + 0.4 * timing.random())
      this.#timer = setTimeout(() => this.#waiting.abort(leaderIsSilent), waitMs)
    }, silenceMs)
  }
}
