// A position in the changes of one inbox, as the id of an event and as `since`: the version, and a tag of the inbox and its history.
// So a position of another user, or from before a restore, is not taken for one that this inbox has reached.
import { hash } from 'node:crypto'
import type { Changes } from '../inbox/inbox-state.ts'

/** A client that has missed more changes than this gets a reset: it reads a page faster than this many changes. */
export const maxBehind = 10_000

const shape = /^(0|[1-9]\d{0,14})(?:-([0-9a-f]{8}))?$/

/** `history` is the store's: after a restore, another change may have the same version. */
export function inboxTagOf(history: string, userId: string): string {
  return hash('sha256', `${history} ${userId}`, 'hex').slice(0, 8)
}

export function positionOf(version: number, inboxTag: string): string {
  return `${version}-${inboxTag}`
}

export function isPosition(text: string): boolean {
  return shape.test(text)
}

/** The version of a position; null if the text is not a position, or if its tag is of another inbox. A bare version is accepted. */
export function versionIn(position: string, inboxTag: string): number | null {
  const [, version, tag = inboxTag] = shape.exec(position) ?? []
  return version === undefined || tag !== inboxTag ? null : Number(version)
}

/** The version up to which a response has all changes. */
export function reached({ changes, inbox, more }: Changes): number {
  return more ? (changes.at(-1)?.version ?? 0) : inbox.version
}
