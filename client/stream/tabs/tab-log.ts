// One tab's events: its position, what its loop has not read, and the last ones, for other tabs.
import type { Position, StreamEvent } from '../../transport/types.ts'
import type { ClientFunctions } from '../client-functions.ts'

const maxKept = 100
/** If a loop falls further behind, one `resync` replaces its events. */
const maxUnread = 1_000

export class TabLog {
  position: Position | undefined
  /** Undefined until the leader confirms a position. */
  last: StreamEvent | undefined
  /** Counts moves to another inbox in a row, without a change in between. */
  moves = 0
  readonly #functions: ClientFunctions
  #kept: StreamEvent[] = []
  #keptSince: Position | undefined
  #unread: StreamEvent[] = []
  #end: { error: unknown } | undefined
  #wake = () => {}

  constructor(functions: ClientFunctions, since: Position | undefined) {
    this.#functions = functions
    this.position = since
  }

  add(event: StreamEvent): void {
    const isChange = event.type !== 'hello' && event.type !== 'resync'
    this.position = event.position
    if (isChange) this.moves = 0
    if (event.type === 'resync' || !this.last) {
      this.#kept = []
      this.#keptSince = event.position
    } else if (isChange) this.#kept.push(event)
    if (this.#kept.length > maxKept) this.#keptSince = this.#kept.shift()?.position
    this.show(event)
  }

  show(event: StreamEvent): void {
    this.last = event
    if (this.#unread.length < maxUnread) this.#unread.push(event)
    else this.#unread = [stateEvent('resync', event)]
    this.#wake()
  }

  /** The kept events after `position`; undefined if some are missing. */
  eventsAfter(position: Position | undefined): StreamEvent[] | undefined {
    const { areOfOneInbox, versionOf } = this.#functions
    const version = versionOf(position)
    const isKept = version >= versionOf(this.#keptSince) && version <= versionOf(this.position)
    if (!isKept || !areOfOneInbox(position, this.position)) return undefined
    return this.#kept.filter((event) => versionOf(event.position) > version)
  }

  end(error: unknown): void {
    this.#end = { error }
    this.#wake()
  }

  async *read(signal: AbortSignal): AsyncGenerator<StreamEvent, void> {
    const { unlessAborted } = this.#functions
    for (;;) {
      signal.throwIfAborted()
      const event = this.#unread.shift()
      if (event) yield event
      else if (this.#end) throw this.#end.error
      else await unlessAborted(new Promise<void>((resolve) => (this.#wake = resolve)), signal)
    }
  }
}

export function stateEvent(
  type: 'hello' | 'resync',
  event: StreamEvent,
  position = event.position,
): StreamEvent {
  const { version, unread, total, unseen } = event
  return { type, position, version, unread, total, unseen }
}
