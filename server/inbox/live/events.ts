// What a stream says: the changes of an inbox as Server-Sent Events (WHATWG HTML, section 9.2). JSON text has no line break
// but in escapes, so that nothing that was sent can end a line here (TRUST N1).
import type { Change, InboxState } from '../../store/store.ts'
import { positionOf } from './position.ts'

/** `text` ends with the empty line that sends it off. */
export type StreamEvent = { version: number; text: string }

export const heartbeat = Buffer.from(':\n\n')

/** How long to wait before coming back, in milliseconds. */
export function retryText(ms: number): string {
  return `retry: ${Math.round(ms)}\n\n`
}

/** `from` is where the stream begins; null where nobody should come back to there, since a resync follows. */
export function helloText(inbox: InboxState, { from, mark }: { from: number | null; mark: string }): string {
  const id = from === null ? '' : `id: ${positionOf(from, mark)}\n`
  return `event: hello\n${id}data: {${stateOf(inbox, inbox.version)}}\n\n`
}

export function resyncText(inbox: InboxState, mark: string): string {
  return framed('resync', { inbox, version: inbox.version, mark })
}

export function endText(reason: 'expired' | 'revoked'): string {
  return `event: session-ended\ndata: {"reason":"${reason}"}\n\n`
}

export function eventOf(change: Change, inbox: InboxState, mark: string): StreamEvent {
  const { version } = change
  const name = change.type === 'arrived' || change.type === 'replaced' ? 'notification' : change.type
  const more =
    change.type === 'read-all'
      ? `"through":"${change.throughId}","readAt":"${change.at}"`
      : `"notification":${change.notification}`
  return { version, text: framed(name, { inbox, version, mark, more }) }
}

type Framed = { inbox: InboxState; version: number; mark: string; more?: string }

function framed(name: string, { inbox, version, mark, more }: Framed): string {
  const data = `{${stateOf(inbox, version)}${more === undefined ? '' : `,${more}`}}`
  return `event: ${name}\nid: ${positionOf(version, mark)}\ndata: ${data}\n\n`
}

/** The counters are those of now: between two changes that are told together nobody saw others. */
function stateOf({ unread, total }: InboxState, version: number): string {
  return `"version":${version},"unread":${unread},"total":${total}`
}
