// Writes changes as Server-Sent Events. JSON escapes line breaks, so no producer can end a line
// (N1; WHATWG HTML, section 9.2).
import { hash } from 'node:crypto'
import type { Change, Changes, InboxState } from '../inbox/inbox-state.ts'
import { archiveReadJson, readAllJson } from '../inbox/notification-json.ts'

export type StreamEvent = { version: number; text: string }

export const heartbeat = Buffer.from(':\n\n')

export function retryText(ms: number): string {
  return `retry: ${Math.round(ms)}\n\n`
}

/** `from`: null before a resync. */
export function helloText(
  inbox: InboxState,
  { from, inboxTag }: { from: number | null; inboxTag: string },
): string {
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

function stateOf({ unread, total, unseen }: InboxState, version: number): string {
  return `"version":${version},"unread":${unread},"total":${total},"unseen":${unseen}`
}

// The tag of inbox and history refuses positions of another user, or from before a restore.

const shape = /^(0|[1-9]\d{0,14})(?:-([0-9a-f]{8}))?$/

export function inboxTagOf(history: string, userId: string): string {
  return hash('sha256', `${history} ${userId}`, 'hex').slice(0, 8)
}

export function positionOf(version: number, inboxTag: string): string {
  return `${version}-${inboxTag}`
}

export function isPosition(text: string): boolean {
  return shape.test(text)
}

export function versionIn(position: string, inboxTag: string): number | null {
  const [, version, tag = inboxTag] = shape.exec(position) ?? []
  return version === undefined || tag !== inboxTag ? null : Number(version)
}

export function reached({ changes, inbox, more }: Changes): number {
  return more ? (changes.at(-1)?.version ?? 0) : inbox.version
}
