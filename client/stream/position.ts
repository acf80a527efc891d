// The parts of a position such as `42-5f3a9c1e`: the version of the inbox, and the inbox tag.
import type { Position } from '../transport/types.ts'

/** NaN for a text that has no version; every comparison with it is false. */
export function versionOf(position: Position | undefined): number {
  return Number(String(position).split('-')[0])
}

export function inboxTagOf(position: Position | undefined): string | undefined {
  return String(position).split('-')[1]
}

/** False only if both have an inbox tag and the tags differ. The server, too, accepts a bare version for any inbox. */
export function areOfOneInbox(
  position: Position | undefined,
  other: Position | undefined,
): boolean {
  const tag = inboxTagOf(position)
  const otherTag = inboxTagOf(other)
  return !tag || !otherTag || tag === otherTag
}
