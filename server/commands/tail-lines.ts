// An event of an inbox as lines for a person at a terminal.
import type { Notification, StreamEvent } from 'carillon-client'

/** `listed` was there before. */
export type Shown = StreamEvent | { type: 'listed'; notification: Notification }

const indent = ' '.repeat(10)

export function linesOf(event: Shown): string[] {
  switch (event.type) {
    case 'listed':
      return told(event.notification, event.notification.read ? 'read' : 'unread')
    case 'hello':
      return [`-- live: ${event.unread} unread of ${event.total} --`]
    case 'notification':
      return told(event.notification, 'new')
    case 'read':
      return [line(event.notification.readAt, 'read', event.notification.title)]
    case 'read-all':
      return [line(event.readAt, 'read', `everything; ${event.unread} unread of ${event.total}`)]
    case 'resync':
      return [`-- what happened meanwhile is not known; ${event.unread} unread of ${event.total} now --`]
  }
}

function told({ createdAt, title, body, url, category }: Notification, state: string): string[] {
  const marks = [category === null ? '' : ` [${category}]`, url === null ? '' : ` ${url}`].join('')
  const lines = body === null ? [] : body.split(/\r\n|[\r\n]/).map((text) => `${indent}${plain(text)}`)
  return [line(createdAt, state, `${title}${marks}`), ...lines]
}

function line(time: string | null, state: string, text: string): string {
  const at = time === null ? '' : new Date(time).toLocaleTimeString('sv-SE')
  return `${at.padEnd(indent.length)}${state.padEnd(8)}${plain(text)}`
}

/** What was sent is text: nothing in it commands the terminal (ECMA-48 control functions, and marks that turn lines about). */
function plain(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, '\ufffd')
}
