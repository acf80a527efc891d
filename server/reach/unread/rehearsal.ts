// Which mails would have been sent about what arrived, by the present rules? Removed ones are
// unknown, and snoozed ones count as handled.
import { mailDueAt } from '../../inbox/mail-rules.ts'
import type { Rules } from '../../preferences/preferences.store.ts'
import type { Arrived } from './rehearsal.store.ts'

/** 'waits': its mail will come. Each other word but 'mailed' is a reason for none. */
type Fate = 'mailed' | 'waits' | 'off' | 'muted' | 'read' | 'archived' | 'snoozed' | 'expired'
/** `dueAt`: when its mail was due, in milliseconds; null for the rule `off`. */
export type Rehearsed = Pick<Arrived, 'id' | 'category' | 'sentAt'> & {
  dueAt: number | null
  fate: Fate
}

export function rehearse(
  arrived: readonly Arrived[],
  { ruleOf, hours }: Rules,
  at: number,
): Rehearsed[] {
  return arrived.map((one) => {
    const { id, category, sentAt } = one
    const dueAt = mailDueAt(ruleOf(category), Date.parse(sentAt), hours) ?? null
    return { id, category, sentAt, dueAt, fate: dueAt === null ? 'off' : fateOf(one, dueAt, at) }
  })
}

function fateOf(
  { sentAt, readAt, archivedAt, snoozedUntil, expiresAt }: Arrived,
  dueAt: number,
  at: number,
): Fate {
  const isBefore = (time: string | null) => time !== null && Date.parse(time) <= Math.min(dueAt, at)
  if (archivedAt !== null && archivedAt === sentAt) return 'muted'
  if (snoozedUntil !== null) return 'snoozed'
  if (isBefore(readAt)) return 'read'
  if (isBefore(archivedAt)) return 'archived'
  if (isBefore(expiresAt)) return 'expired'
  return dueAt <= at ? 'mailed' : 'waits'
}

/** In milliseconds. What is due in one second is one mail, as the service looks every second. */
export function mailTimes(rehearsed: readonly Rehearsed[]): number[] {
  const times = rehearsed.flatMap(({ dueAt, fate }) =>
    fate === 'mailed' && dueAt !== null ? [dueAt] : [],
  )
  return [...new Set(times.map((time) => Math.ceil(time / 1_000) * 1_000))]
}
