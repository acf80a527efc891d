// A place in the changes of one inbox, as the id of an event and as `since`: the version, and a mark that names the inbox
// and its history. A position of another user, or of before a restore, is so told from one that was reached.
import { hash } from 'node:crypto'
import type { Changes } from '../../store/store.ts'

/** Whoever is further behind, in changes, fetches a page sooner than he goes through all that. */
export const maxBehind = 10_000

const markLength = 8
const shape = /^(0|[1-9]\d{0,14})(?:-([0-9a-f]{8}))?$/

/** `history` is the store's: a version may be reached again after a restore, by another change. */
export function inboxTagOf(history: string, userId: string): string {
  return hash('sha256', `${history} ${userId}`, 'hex').slice(0, markLength)
}

export function positionOf(version: number, mark: string): string {
  return `${version}-${mark}`
}

export function isPosition(text: string): boolean {
  return shape.test(text)
}

/** The version in a position, or null where it is garbage or another inbox's. A bare version is taken at its word. */
export function versionIn(position: string, mark: string): number | null {
  const [, version, named = mark] = shape.exec(position) ?? []
  return version === undefined || named !== mark ? null : Number(version)
}

/** The version up to which an answer tells everything. */
export function reached({ changes, inbox, more }: Changes): number {
  return more ? (changes.at(-1)?.version ?? 0) : inbox.version
}
