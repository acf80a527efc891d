// Decides by the rules of now, when a timer is due. A bit of the notification says what was sent,
// so a mark, mute or erasure needs no code for mails.
import {
  afterQuiet,
  type Hours,
  type MailRule,
  mailDueAt,
  type PushRule,
  ruleFor,
  usualHours,
} from '../inbox/mail-rules.ts'
import { byState } from '../inbox/marks.store.ts'
import { hoursIn, mailBit, reachBits } from '../inbox/reminders.store.ts'
import { ofService } from '../inbox/security-notices.store.ts'
import { userKey } from '../inbox/user-key.ts'
import { all, inNumbers, Part, type Read, send, type Write } from '../store/statements.ts'
import { findUser, type User } from '../users/users.store.ts'
import { addToOutbox } from './outbox.store.ts'
import { dueTimer, moveTimer } from './timers.store.ts'

/** What is beyond waits for the next decision. */
export const maxRead = 1_000

export type Rules = {
  hours: Hours
  ruleOf: (category: string | null) => MailRule
  isMandatory: (category: string) => boolean
  isPushed: (category: string | null) => boolean
}

type Chosen = {
  category: string
  mail: MailRule | null
  push: PushRule | null
  hours: string | null
}

export function* rulesOf({ id, application }: User, mailUnread: MailRule): Read<Rules> {
  const chosen = yield* all<Chosen>`
    select category, mail, push, hours from preference
    where user_id = ${userKey(id)} and (mail is not null or push is not null or hours is not null)`
  const rows = yield* all<{ name: string; mail: MailRule | null; mandatory: number }>`
    select name, mail, mandatory from category where application in ('', ${application}) order by application`
  const declared = new Map(rows.map((row) => [row.name, row]))
  const own = new Map(chosen.map((choice) => [choice.category, choice]))
  const isMandatory = (category: string) => declared.get(category)?.mandatory === 1
  const ruleOf = (category: string | null) => {
    const choice = {
      own: (category !== null && own.get(category)?.mail) || null,
      ofAll: own.get('')?.mail ?? null,
      declared: declared.get(category ?? '')?.mail ?? null,
      isMandatory: category !== null && isMandatory(category),
    }
    return ruleFor(choice, mailUnread)
  }
  const isPushed = (category: string | null) => {
    if (category !== null && isMandatory(category)) return true
    const choice = category === null ? null : own.get(category)?.push
    return (choice ?? own.get('')?.push) !== 'off'
  }
  return { hours: hoursIn(chosen), ruleOf, isMandatory, isPushed }
}

type Decision = { userId: string; at: number; mailUnread: MailRule; rowId: string }
export type Waiting = { seq: number; id: string; category: string | null; sent_at: string }
export const waitingColumns = new Part(
  'seq, id, category, case when count > 1 then coalesce(updated_at, created_at) else created_at end as sent_at',
)
const noRules = { hours: usualHours, ruleOf: () => 'off' as const }

/**
 * Puts what is due into one row of the outbox and notes it, and moves the timer to what still
 * waits. Returns how many are in the row.
 */
export function* decideMail({ userId, at, mailUnread, rowId }: Decision): Write<number> {
  const channel = 'mail' as const
  const timer = yield* dueTimer({ userId, channel, at })
  if (timer === undefined) return 0
  const reader = yield* findUser(userId)
  const isReached = (timer.reach & reachBits.address) > 0 && reader?.disabledAt === null
  const waiting = isReached ? yield* waitingSince(userId, timer.from) : []
  const { ruleOf, hours } = reader === undefined ? noRules : yield* rulesOf(reader, mailUnread)
  const dueAtOf = ({ category, sent_at }: Waiting) =>
    mailDueAt(ruleOf(category), Date.parse(sent_at), hours)
  const { due, next } = split(waiting, { dueAtOf, hours, at })
  if (due.length > 0) {
    const ids = JSON.stringify(due.map(({ id }) => id))
    yield* noteReached(userId, mailBit, due)
    const row = {
      id: rowId,
      kind: 'unread',
      dueAt: at,
      ownerId: userId,
      channel,
      target: '',
      ids,
      at,
    }
    yield* addToOutbox(row)
  }
  yield* moveTimer({ userId, channel }, next)
  return due.length
}

/** Notices of changes have mails of their own. */
function waitingSince(userId: string, from: number): Write<Waiting[]> {
  return all<Waiting>`
    select ${waitingColumns} from notification ${byState}
    where user_id = ${userKey(userId)} and state = 'unread' and seq >= ${from} and (reached & ${mailBit}) = 0 and not (${ofService})
    order by seq limit ${maxRead}`
}

export function* noteReached(userId: string, bit: number, sent: readonly Waiting[]): Write<void> {
  yield* send`
    update notification set reached = reached | ${bit}
    where user_id = ${userKey(userId)} and seq ${inNumbers(sent.map(({ seq }) => seq))}`
}

/** `dueAtOf`: undefined for never. */
type Rule<One> = { dueAtOf: (one: One) => number | undefined; hours: Hours; at: number }

/**
 * Says which is due, and when the timer looks again, from which number on; infinite for never.
 * Quiet hours send nothing of what is due already: the service may have been down.
 */
export function split<One extends Waiting>(
  waiting: readonly One[],
  { dueAtOf, hours, at }: Rule<One>,
) {
  const earliest = afterQuiet(at, hours)
  const timed = waiting.flatMap((one) => {
    const dueAt = dueAtOf(one)
    if (dueAt === undefined) return []
    return [{ one, dueAt: dueAt <= at ? earliest : dueAt }]
  })
  const due = timed.filter((entry) => entry.dueAt <= at).map(({ one }) => one)
  const rest = timed.filter((entry) => entry.dueAt > at)
  const hasMore = waiting.length === maxRead
  // If all of them wait, the next look would read the same again.
  const goesOn = hasMore && (due.length > 0 || rest.length === 0)
  const dueAt = goesOn ? at : Math.min(...rest.map((one) => one.dueAt))
  const beyond = hasMore ? (waiting.at(-1)?.seq ?? 0) + 1 : Number.POSITIVE_INFINITY
  return { due, next: { dueAt, from: Math.min(...rest.map(({ one }) => one.seq), beyond) } }
}

export type Item = {
  id: string
  title: string
  url: string | null
  category: string | null
  look: string | null
  key: string | null
}

export const itemColumns = new Part('id, title, url, category, look, key')

/** Lists the newest first. `decideMail` wrote the `ids`. */
export function* stillUnread({
  userId,
  ids,
}: {
  userId: string
  ids: readonly string[]
}): Read<Item[]> {
  const wanted = new Set(ids)
  const rows = yield* all<Item>`
    select ${itemColumns} from notification ${byState} where user_id = ${userKey(userId)} and state = 'unread'
    order by seq desc limit ${maxRead}`
  return rows.filter(({ id }) => wanted.has(id))
}

export function* labelsOf({
  application,
}: Pick<User, 'application'>): Read<{ name: string; label: string }[]> {
  return yield* all`
    select name, label from category where application in ('', ${application}) order by application`
}
