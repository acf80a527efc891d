// A position such as `42-5f3a9c1e` has the version of the inbox, and the inbox tag.
import type { Position } from '../transport/types.ts'

/** NaN without a version; every comparison with NaN is false. */
export function versionOf(position: Position | undefined): number {
  return Number(String(position).split('-')[0])
}

export function inboxTagOf(position: Position | undefined): string | undefined {
  return String(position).split('-')[1]
}

/** False only for two different inbox tags. Servers also accept a bare version for any inbox. */
export function areOfOneInbox(
  position: Position | undefined,
  other: Position | undefined,
): boolean {
  const tag = inboxTagOf(position)
  const otherTag = inboxTagOf(other)
  return !tag || !otherTag || tag === otherTag
}
