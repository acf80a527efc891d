// An event of an inbox as lines for a person at a terminal, and as one line for a program. Either way nothing in it commands
// the terminal (ECMA-48 control functions, and marks that turn lines about).
import type { Notification, StreamEvent } from 'carillon-client'

/** `listed` was there before. */
export type Shown = StreamEvent | { type: 'listed'; notification: Notification }

const indent = ' '.repeat(12)
const commanding = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu

/** What JSON leaves as it is among these is escaped too. */
export function jsonOf(event: Shown): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(event).replaceAll(commanding, escaped)
}

/** Of what did not happen on the day of `now` the day is shown. */
export function linesOf(event: Shown, now: Date): string[] {
  const line = (time: string | null, state: string, text: string) =>
    `${(time === null ? '' : shownTime(new Date(time), now)).padEnd(indent.length)}${state.padEnd(8)}${plain(text)}`
  const told = ({ createdAt, title, body, url, category }: Notification, state: string) => {
    const marks = [category === null ? '' : ` [${category}]`, url === null ? '' : ` ${url}`].join('')
    const more = body === null ? [] : body.split(/\r\n|[\r\n]/).map((text) => `${indent}${plain(text)}`)
    return [line(createdAt, state, `${title}${marks}`), ...more]
  }
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

/** As the machine's clock has it, in the form of ISO 8601. */
function shownTime(time: Date, now: Date): string {
  const day = (date: Date) => date.toLocaleDateString('sv-SE')
  return day(time) === day(now) ? time.toLocaleTimeString('sv-SE') : day(time)
}

function plain(text: string): string {
  return text.replaceAll(commanding, '\ufffd')
}
