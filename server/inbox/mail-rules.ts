// When is an unread notification mailed? reminders.store.ts has the timers, reach/ sends.

import { mailRules } from '../config/values.ts'

// Node 24 has no Temporal.
if (globalThis.Temporal === undefined) await import('temporal-polyfill/global')

export type MailRule = (typeof mailRules)[number]

export const pushRules = ['on', 'off'] as const
export type PushRule = (typeof pushRules)[number]

/** `to` may be the next day. */
export type Hours = {
  timeZone: string | null
  digestAt: number | null
  quietHours: { from: string; to: string } | null
}

export const usualHours: Hours = { timeZone: null, digestAt: null, quietHours: null }
export const usualDigestAt = 8

const minute = 60_000
const delays: Partial<Record<MailRule, number>> = {
  '5m': 5 * minute,
  '15m': 15 * minute,
  '1h': 60 * minute,
}

/** In milliseconds; undefined for never. The weekly digest is Monday's. */
export function mailDueAt(
  rule: MailRule,
  at: number,
  hours: Hours = usualHours,
): number | undefined {
  if (rule === 'off') return undefined
  const delayMs = delays[rule]
  return afterQuiet(delayMs === undefined ? digestAfter(rule, at, hours) : at + delayMs, hours)
}

export const timeZoneFault = 'must be a time zone such as Europe/Berlin, or null'

/** Intl knows zones that Temporal refuses, such as PST, and Temporal finds one in a longer text. */
export function isTimeZone(name: string): boolean {
  try {
    Temporal.Now.zonedDateTimeISO(name)
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

function zoned(at: number, { timeZone }: Hours): Temporal.ZonedDateTime {
  const moment = Temporal.Instant.fromEpochMilliseconds(at)
  try {
    return moment.toZonedDateTimeISO(timeZone ?? 'UTC')
  } catch {
    // A node with other data knew the zone. One reader's must not fail a delivery to many.
    return moment.toZonedDateTimeISO('UTC')
  }
}

function digestAfter(rule: MailRule, at: number, hours: Hours): number {
  const now = zoned(at, hours)
  if (rule === 'hourly')
    return now.add({ hours: 1 }).round({ smallestUnit: 'hour', roundingMode: 'floor' })
      .epochMilliseconds
  const hour = hours.digestAt ?? usualDigestAt
  const onDay = (day: Temporal.ZonedDateTime) => day.withPlainTime({ hour }).epochMilliseconds
  const next = onDay(now) > at ? now : now.add({ days: 1 })
  return onDay(rule === 'daily' ? next : next.add({ days: (8 - next.dayOfWeek) % 7 }))
}

export function afterQuiet(at: number, hours: Hours): number {
  const { quietHours } = hours
  if (quietHours === null) return at
  const { from, to } = quietHours
  const now = zoned(at, hours)
  const time = now.toPlainTime().toString({ smallestUnit: 'minute' })
  const isQuiet = from <= to ? from <= time && time < to : time >= from || time < to
  if (!isQuiet) return at
  const { hour, minute: ofHour } = Temporal.PlainTime.from(to)
  const end = { hour, minute: ofHour, second: 0, millisecond: 0 }
  // An hour comes twice at the end of summer time: `with` stays in its second.
  const endsOn = (day: Temporal.ZonedDateTime) => day.with(end).epochMilliseconds
  return endsOn(now) > at ? endsOn(now) : endsOn(now.add({ days: 1 }))
}

export function usualDueTimes(at: number): Partial<Record<MailRule, number>> {
  return Object.fromEntries(
    mailRules.flatMap((rule) => (rule === 'off' ? [] : [[rule, mailDueAt(rule, at)]])),
  )
}

type MailChoice = {
  own: MailRule | null
  ofAll: MailRule | null
  declared: MailRule | null
  isMandatory: boolean
}

/** The reader decides, but cannot turn off a mandatory category. */
export function ruleFor(
  { own, ofAll, declared, isMandatory }: MailChoice,
  ofService: MailRule,
): MailRule {
  const usual = declared ?? ofService
  const chosen = own ?? ofAll ?? usual
  return chosen === 'off' && isMandatory ? usual : chosen
}
