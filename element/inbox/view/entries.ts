// The entries of the menus: of one notification, and of the list.
import type { Notification } from 'carillon-client'
import type { Strings } from '../../languages/en/inbox.ts'
import type { Times } from '../../times.ts'
import type { Acts } from './acts.ts'
import type { Categories } from './categories.ts'
import type { Entry } from './menu.ts'

const hour = 3_600_000
/** Of the morning to which a notification is snoozed. */
const morning = 8

type Setting = { acts: Acts; strings: Strings; times: Times; categories: Categories; now: number }

/** `onDelete` asks first. */
export function entriesOf(
  one: Notification,
  { acts, strings, times, categories, now }: Setting,
  onDelete: () => void,
): Entry[] {
  const { category } = one
  const isMuted = categories.isMuted(category, now)
  const snoozes = snoozeTimes(now).map(([name, until]) => ({
    label: strings[name],
    detail: times.moment(until, now),
    act: () => acts.snooze(one, until),
  }))
  const mute = {
    label: isMuted ? strings.unmute : strings.mute,
    detail: categories.known.get(category ?? '')?.label ?? '',
    act: () => acts.mute(category ?? '', !isMuted),
  }
  return [...snoozes, ...(isMuted === undefined ? [] : [mute]), { label: strings.delete, isFinal: true, act: onDelete }]
}

/** A deletion cannot be taken back. */
export function deleteEntries(one: Notification, { acts, strings }: Setting): Entry[] {
  return [
    { label: strings.deleteForGood, isFinal: true, act: () => acts.remove(one) },
    { label: strings.keep, act: () => {} },
  ]
}

/** In the time zone of the reader. On a Sunday, tomorrow is in the next week. */
export function snoozeTimes(now: number): ['snoozeHour' | 'snoozeTomorrow' | 'snoozeWeek', number][] {
  const date = new Date(now)
  const morningIn = (days: number) =>
    new Date(date.getFullYear(), date.getMonth(), date.getDate() + days, morning).getTime()
  const toMonday = (8 - date.getDay()) % 7 || 7
  return [
    ['snoozeHour', now + hour],
    ['snoozeTomorrow', morningIn(1)],
    ...(toMonday === 1 ? [] : [['snoozeWeek', morningIn(toMonday)] as ['snoozeWeek', number]]),
  ]
}
