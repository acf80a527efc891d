// The changes of an inbox as the text of Server-Sent Events (WHATWG HTML, section 9.2). JSON text has line breaks only as escapes,
// so nothing that a producer sent can end a line of an event (N1).
import { hash } from 'node:crypto'
import type { Change, Changes, InboxState } from '../inbox/inbox-state.ts'
import { archiveReadJson, readAllJson } from '../inbox/notification-json.ts'

/** `text` ends with the empty line that ends the event. */
export type StreamEvent = { version: number; text: string }

export const heartbeat = Buffer.from(':\n\n')

export function retryText(ms: number): string {
  return `retry: ${Math.round(ms)}\n\n`
}

/** `from` is the version at which the stream begins; if it is null, a resync follows, and no client resumes from this event. */
export function helloText(inbox: InboxState, { from, inboxTag }: { from: number | null; inboxTag: string }): string {
  const id = from === null ? '' : `id: ${positionOf(from, inboxTag)}\n`
  const resync = from === null ? resyncText(inbox, inboxTag) : ''
  return `event: hello\n${id}data: {${stateOf(inbox, inbox.version)}}\n\n${resync}`
}

export function resyncText(inbox: InboxState, inboxTag: string): string {
  return framed('resync', { inbox, version: inbox.version, inboxTag })
}

export function endText(reason: 'expired' | 'revoked'): string {
  return `event: session-ended\ndata: {"reason":"${reason}"}\n\n`
}

export function eventsOf({ changes, inbox }: Changes, inboxTag: string): StreamEvent[] {
  return changes.map((change) => {
    const { version, type } = change
    return { version, text: framed(type, { inbox, version, inboxTag, more: detailsOf(change) }) }
  })
}

function detailsOf(change: Change): string | undefined {
  if ('notification' in change) return `"notification":${change.notification}`
  if (change.type === 'read-all') return readAllJson(change)
  if (change.type === 'archive-read') return archiveReadJson(change)
  return change.type === 'removed' ? `"id":"${change.id}","reason":"${change.reason}"` : undefined
}

type Framed = { inbox: InboxState; version: number; inboxTag: string; more?: string | undefined }

function framed(name: string, { inbox, version, inboxTag, more }: Framed): string {
  const data = `{${stateOf(inbox, version)}${more === undefined ? '' : `,${more}`}}`
  return `event: ${name}\nid: ${positionOf(version, inboxTag)}\ndata: ${data}\n\n`
}

/** The counters are the current ones in every event of a batch: those in between were never displayed. */
function stateOf({ unread, total, unseen }: InboxState, version: number): string {
  return `"version":${version},"unread":${unread},"total":${total},"unseen":${unseen}`
}

// A position in the changes of one inbox, as the id of an event and as `since`: the version, and a tag of the inbox and its history.
// So a position of another user, or from before a restore, is not taken for one that this inbox has reached.

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
