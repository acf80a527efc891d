// How far one tab has followed its inbox. It puts each event into the queue of its loop, and keeps the last ones: when this
// tab leads, it sends them to tabs that have missed them.
import type { Position, StreamEvent } from '../../transport/types.ts'
import type { EventQueue } from './event-queue.ts'
import { areOfOneInbox, stateEvent, versionOf } from './position.ts'

const maxKept = 100

export class TabLog {
  /** After the last event; before the first one, the position that the application gave. */
  position: Position | undefined
  /** The last event since this tab joined its group; undefined if the leader has not confirmed a position yet. */
  last: StreamEvent | undefined
  /** How often the stream has changed to another inbox in a row, without a change of an inbox in between. */
  moves = 0
  readonly queue: EventQueue
  #kept: StreamEvent[] = []
  /** The position before the kept events. */
  #keptSince: Position | undefined

  constructor(queue: EventQueue, since: Position | undefined) {
    this.queue = queue
    this.position = since
  }

  /** Adds an event, which becomes the position of this tab. */
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

  /** Gives an event to the loop, without a change of the position. */
  show(event: StreamEvent): void {
    this.last = event
    this.queue.push(event)
  }

  /** The stream now belongs to another inbox: another user signed in, or a backup was restored. */
  moveTo(event: StreamEvent): void {
    this.moves++
    this.add(stateEvent('resync', event, event.position))
  }

  /** The kept events after `position`; undefined if this tab does not have all of them. */
  eventsAfter(position: Position | undefined): StreamEvent[] | undefined {
    const version = versionOf(position)
    const isKept = version >= versionOf(this.#keptSince) && version <= versionOf(this.position)
    if (!isKept || !areOfOneInbox(position, this.position)) return undefined
    return this.#kept.filter((event) => versionOf(event.position) > version)
  }
}
