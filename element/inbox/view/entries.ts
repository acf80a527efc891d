// The entries of the menu of one notification: snooze, mute, delete.
import type { Notification } from 'carillon-client'
import type { Strings } from '../../languages/en/inbox.ts'
import type { Times } from '../../times.ts'
import type { Acts } from './acts.ts'
import type { Categories } from './categories.ts'
import type { Entry } from './menu.ts'

type Setting = { acts: Acts; strings: Strings; times: Times; categories: Categories; now: number }

/** `onDelete` asks first: a deletion cannot be undone. */
export function entriesOf(one: Notification, setting: Setting, onDelete: () => void): Entry[] {
  const { acts, strings, times, categories, now } = setting
  const category = one.category ?? ''
  const isMuted = categories.isMuted(category, now)
  const mute = isMuted ? strings.unmute : strings.mute
  const label = categories.known.get(category)?.label
  return [
    ...snoozeTimes(now).map(([name, until]) => ({
      label: strings.snooze[name],
      detail: times.moment(until, now),
      act: () => acts.move('snooze', one, until),
    })),
    ...(isMuted === undefined ? [] : [{ label: mute, detail: label, act: () => acts.mute(category, !isMuted) }]),
    { label: strings.delete, isFinal: true, act: onDelete },
  ]
}

/** In the time zone of the reader: in an hour, and at 8 in the morning of tomorrow and of Monday. On a Sunday, these are the same. */
export function snoozeTimes(now: number): (readonly ['hour' | 'tomorrow' | 'week', number])[] {
  const date = new Date(now)
  const toMonday = (8 - date.getDay()) % 7 || 7
  const morning = (days: number) => new Date(date.getFullYear(), date.getMonth(), date.getDate() + days, 8).getTime()
  const times = [['hour', now + 3_600_000] as const, ['tomorrow', morning(1)] as const]
  return toMonday === 1 ? times : [...times, ['week', morning(toMonday)]]
}
