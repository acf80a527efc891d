// The tab that holds the lock: it reads the stream, sends each event to the other tabs, and resends events they missed.
import type { CarillonError as AnyError } from '../../transport/errors.ts'
import type { StreamEvent } from '../../transport/types.ts'
import type { Message, Tab } from './messages.ts'
import { stateEvent } from './tab-log.ts'

/** A list may show a version before the stream does. The leader gives the stream this time to catch up. */
const catchUpMs = 1_000
/** A resync that follows a greeting arrives in the same chunk, or right after it. */
const holdMs = 100
/** Time for a message to arrive before the lock that is released after it. */
const messageMs = 1_000

export class Leader {
  readonly #tab: Tab
  #held: StreamEvent | undefined
  /** When the stream last received data, by `performance.now()`; negative infinity without a stream. */
  #aliveAt = Number.NEGATIVE_INFINITY

  constructor(tab: Tab) {
    this.#tab = tab
    tab.channel.onmessage = ({ data }) => data && this.#respond(data)
  }

  /** Leads until the stream ends, or turns out to be that of another inbox. Throws the reason of `signal`. */
  async lead(signal: AbortSignal): Promise<'ended' | 'moved'> {
    const tab = this.#tab
    const { requests, timing, log, channel } = tab
    const { areOfOneInbox, CarillonError, openStream } = tab.functions
    channel.postMessage({ kind: 'leading' })
    const watcher = {
      onData: () => (this.#aliveAt = performance.now()),
      onLost: (error: unknown) => {
        tab.watcher.onLost?.(error)
        if (error instanceof CarillonError) channel.postMessage({ kind: 'lost', error: fieldsOf(error) })
      },
    }
    let failure: unknown
    try {
      for await (const event of openStream(requests, { since: log.position, signal }, timing, watcher)) {
        // If another tab has stolen the lock, it sends the events from here on.
        signal.throwIfAborted()
        if (!areOfOneInbox(event.position, log.position)) {
          // Another user has signed in, or a backup was restored.
          log.moves++
          log.add(stateEvent('resync', event))
          return 'moved'
        }
        this.#passHeld()
        this.#held = event
        // After a greeting at the requested position, a resync may show that the greeting has the counters of another user.
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

  /** The end of a session ends all tabs with its cookie. They would not learn its reason from a request of their own. */
  async #shareError(error: unknown): Promise<void> {
    const { proof, channel, functions } = this.#tab
    if (proof !== 'session' || !(error instanceof functions.CarillonError) || error.status !== 401) return
    channel.postMessage({ kind: 'error', error: fieldsOf(error) })
    await new Promise((resolve) => setTimeout(resolve, messageMs))
  }

  /** Responds to a request with the missed events, or with a resync if they are not kept. Ignores other messages. */
  #respond(message: Message, isRetry = false): void {
    const { log, channel, silenceMs, functions } = this.#tab
    const { versionOf } = functions
    const { last, position: own } = log
    // Without a living stream the leader does not respond, so that another tab takes the lock.
    const isSilent = performance.now() - this.#aliveAt >= silenceMs
    if (message.kind !== 'request' || !last || isSilent) return
    const { from: to, position = own } = message
    if (versionOf(position) > versionOf(own) && !isRetry) {
      setTimeout(() => this.#respond(message, true), catchUpMs)
      return
    }
    const missed = log.eventsAfter(position)
    // The position of the request may lack the inbox tag, so the tag is the one of the leader.
    const start = missed ? String(own).replace(/^\d+/, String(versionOf(position))) : String(own)
    const hello = stateEvent('hello', last, start)
    channel.postMessage({ kind: 'response', to, hello, missed: missed ?? [stateEvent('resync', last, start)] })
  }
}

/** Without the spread the message would lose the fields: the browser copies only the standard fields of an Error. */
function fieldsOf(error: AnyError) {
  return { ...error, message: error.message, cause: undefined }
}
