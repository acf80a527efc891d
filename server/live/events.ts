// The changes of an inbox as the text of Server-Sent Events (WHATWG HTML, section 9.2). JSON text has line breaks only as escapes,
// so nothing that a producer sent can end a line of an event (SECURITY.md, N1).
import type { Change, InboxState } from '../inbox/inbox-state.ts'
import { archiveReadJson, readAllJson } from '../inbox/notification-json.ts'
import { positionOf } from './position.ts'

/** `text` ends with the empty line that ends the event. */
export type StreamEvent = { version: number; text: string }

export const heartbeat = Buffer.from(':\n\n')

export function retryText(ms: number): string {
  return `retry: ${Math.round(ms)}\n\n`
}

/** `from` is the version at which the stream begins; null if a resync follows, so that no client resumes from this event. */
export function helloText(inbox: InboxState, { from, inboxTag }: { from: number | null; inboxTag: string }): string {
  const id = from === null ? '' : `id: ${positionOf(from, inboxTag)}\n`
  return `event: hello\n${id}data: {${stateOf(inbox, inbox.version)}}\n\n`
}

export function resyncText(inbox: InboxState, inboxTag: string): string {
  return framed('resync', { inbox, version: inbox.version, inboxTag })
}

export function endText(reason: 'expired' | 'revoked'): string {
  return `event: session-ended\ndata: {"reason":"${reason}"}\n\n`
}

export function eventOf(change: Change, inbox: InboxState, inboxTag: string): StreamEvent {
  const { version, type } = change
  return { version, text: framed(type, { inbox, version, inboxTag, more: detailsOf(change) }) }
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
