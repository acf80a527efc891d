// The tab with the lock reads the stream, and sends its events to other tabs.
import type { CarillonError as AnyError } from '../../transport/errors.ts'
import type { StreamEvent } from '../../transport/types.ts'
import type { Message, Tab } from './messages.ts'
import { stateEvent } from './tab-log.ts'

/** Milliseconds. A list may show a version before the stream does. */
const catchUpMs = 1_000
/** Milliseconds. A resync follows a greeting in the same chunk or right after. */
const holdMs = 100
/** Milliseconds in which a message arrives before the lock that is released after it. */
const messageMs = 1_000

export class Leader {
  readonly #tab: Tab
  #held: StreamEvent | undefined
  #aliveAt = Number.NEGATIVE_INFINITY

  constructor(tab: Tab) {
    this.#tab = tab
    tab.channel.onmessage = ({ data }) => data && this.#respond(data)
  }

  async lead(signal: AbortSignal): Promise<'ended' | 'moved'> {
    const tab = this.#tab
    const { requests, timing, log, channel } = tab
    const { areOfOneInbox, CarillonError, openStream } = tab.functions
    channel.postMessage({ kind: 'leading' })
    const watcher = {
      onData: () => (this.#aliveAt = performance.now()),
      onLost: (error: unknown) => {
        tab.watcher.onLost?.(error)
        if (error instanceof CarillonError)
          channel.postMessage({ kind: 'lost', error: fieldsOf(error) })
      },
    }
    let failure: unknown
    try {
      for await (const event of openStream(
        requests,
        { since: log.position, signal },
        timing,
        watcher,
      )) {
        // If another tab stole the lock, that tab sends the events from here on.
        signal.throwIfAborted()
        if (!areOfOneInbox(event.position, log.position)) {
          log.moves++
          log.add(stateEvent('resync', event))
          return 'moved'
        }
        this.#passHeld()
        this.#held = event
        // A following resync may show that the greeting has another user's counters.
        if (event.type !== 'hello' || event.position !== String(log.position)) this.#passHeld()
        else setTimeout(() => this.#held === event && this.#passHeld(), holdMs)
      }
    } catch (error) {
      signal.throwIfAborted()
      log.end(error)
      failure = error
    } finally {
      this.#aliveAt = Number.NEGATIVE_INFINITY
      this.#held = undefined
    }
    await this.#shareError(failure)
    return 'ended'
  }

  #passHeld(): void {
    const { log, channel } = this.#tab
    const event = this.#held
    if (!event) return
    this.#held = undefined
    channel.postMessage({ kind: 'event', event, after: log.position })
    log.add(event)
  }

  /** The other tabs share the cookie, but their own requests would not learn the reason. */
  async #shareError(error: unknown): Promise<void> {
    const { proof, channel, functions } = this.#tab
    if (proof !== 'session' || !(error instanceof functions.CarillonError) || error.status !== 401)
      return
    channel.postMessage({ kind: 'error', error: fieldsOf(error) })
    await new Promise((resolve) => setTimeout(resolve, messageMs))
  }

  /** Sends a resync if the missed events are not kept. */
  #respond(message: Message, isRetry = false): void {
    const { log, channel, silenceMs, functions } = this.#tab
    const { versionOf } = functions
    const { last, position: own } = log
    // Without a living stream the leader does not respond, so another tab takes the lock.
    const isSilent = performance.now() - this.#aliveAt >= silenceMs
    if (message.kind !== 'request' || !last || isSilent) return
    const { from: to, position = own } = message
    if (versionOf(position) > versionOf(own) && !isRetry) {
      setTimeout(() => this.#respond(message, true), catchUpMs)
      return
    }
    const missed = log.eventsAfter(position)
    const start = missed ? String(own).replace(/^\d+/, String(versionOf(position))) : String(own)
    const hello = stateEvent('hello', last, start)
    channel.postMessage({
      kind: 'response',
      to,
      hello,
      missed: missed ?? [stateEvent('resync', last, start)],
    })
  }
}

/** Browsers copy only an Error's standard fields. */
function fieldsOf(error: AnyError) {
  return { ...error, message: error.message, cause: undefined }
}
