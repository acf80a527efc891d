// No event can control the terminal (ECMA-48, changes of direction).
import type { Notification, StreamEvent } from 'carillon-client'
import { withoutControls } from '../../basics/control-characters.ts'

/** A `listed` notification existed before the stream began. */
export type TailEvent = StreamEvent | { type: 'listed'; notification: Notification }

const indent = ' '.repeat(12)
const countsOf = ({ unread, total }: { unread: number; total: number }) =>
  `${unread} unread of ${total}`

export function linesOf(event: TailEvent, now: Date): string[] {
  const line = (time: string | null, state: string, text: string) =>
    `${(time === null ? '' : formatTime(new Date(time), now)).padEnd(indent.length)}${state.padEnd(7)} ${withoutControls(text)}`
  const described = (notification: Notification, state: string, time = notification.createdAt) => {
    const { title, body, url, category } = notification
    const ofCategory = category === null ? '' : ` [${category}]`
    const ofUrl = url === null ? '' : ` ${url}`
    const more =
      body === null
        ? []
        : body.split(/\r\n|[\r\n]/).map((text) => `${indent}${withoutControls(text)}`)
    return [line(time, state, `${title}${ofCategory}${ofUrl}`), ...more]
  }
  switch (event.type) {
    case 'listed':
      return described(event.notification, event.notification.read ? 'read' : 'unread')
    case 'hello':
      return [`-- live: ${countsOf(event)} --`]
    case 'created':
      return described(event.notification, 'new')
    case 'replaced':
      return described(event.notification, 'changed', event.notification.updatedAt)
    case 'read':
      return [line(event.notification.readAt, 'read', event.notification.title)]
    case 'unread':
    case 'archived':
    case 'unarchived':
    case 'snoozed':
      return [line(null, event.type, event.notification.title)]
    case 'read-all': {
      const what = event.categories?.length
        ? `everything of ${event.categories.join(', ')}`
        : 'everything'
      return [line(event.readAt, 'read', `${what}; ${countsOf(event)}`)]
    }
    case 'archive-read':
      return [line(event.archivedAt, 'archived', `everything that was read; ${event.total} left`)]
    case 'seen':
      return [line(null, 'seen', `${event.unseen} unseen`)]
    case 'removed':
      return [line(null, 'removed', `${event.id} (${event.reason})`)]
    case 'resync':
      return [`-- a bulk change was undone, or some events were missed; now ${countsOf(event)} --`]
  }
}

function formatTime(time: Date, now: Date): string {
  const day = (date: Date) => date.toLocaleDateString('sv-SE')
  return day(time) === day(now) ? time.toLocaleTimeString('sv-SE') : day(time)
}
