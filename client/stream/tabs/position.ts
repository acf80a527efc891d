// Positions such as `42-5f3a9c1e`: a version and an inbox tag. A bare version, as the list of notifications has it, has no tag.
import type { Position, StreamEvent } from '../../transport/types.ts'

/** NaN for a text that has no version. */
export function versionOf(position: Position | undefined): number {
  return Number(String(position).split('-')[0])
}

/** False if one of them has no version. */
export function isBehind(position: Position | undefined, other: Position | undefined): boolean {
  return versionOf(position) < versionOf(other)
}

export function inboxTagOf(position: Position | undefined): string | undefined {
  return String(position).split('-')[1]
}

/** False only if both have an inbox tag and the tags differ. The server, too, accepts a bare version for any inbox. */
export function areOfOneInbox(position: Position | undefined, other: Position | undefined): boolean {
  const [tag, otherTag] = [inboxTagOf(position), inboxTagOf(other)]
  return !tag || !otherTag || tag === otherTag
}

/** A `hello` or `resync` at `position`, with the counters of another event. */
export function stateEvent(
  type: 'hello' | 'resync',
  { version, unread, total }: StreamEvent,
  position: string,
): StreamEvent {
  return { type, position, version, unread, total }
}
