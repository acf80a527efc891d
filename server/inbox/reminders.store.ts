// A delivery writes a timer unless an earlier one is due. reach/ decides and sends.
import { all, exists, get, inList, type Read, send, type Write } from '../store/statements.ts'
import { type Hours, type MailRule, mailDueAt, ruleFor, usualHours } from './mail-rules.ts'
import { type UserKey, userKey } from './user-key.ts'

/** The bits of `inbox.reach` and `notification.reached`. */
export const reachBits = { address: 1, push: 2, ownRules: 4, marks: 8 } as const
export const mailBit = 1
export const pushBit = 2
export const eventBit = 4

/** How a timer reaches the reader; 'unread' and 'webhook' are events for the application. */
export type ReminderChannel = 'mail' | 'push' | 'unread' | 'webhook'

export type Unseen = { userId: string; seq: number; version: number; reach: number }
/** Either is undefined if the service sends none. */
export type ReachRules = { mailUnread?: MailRule | undefined; pushDelayMs?: number | undefined }
type Sent = { category: string | null; application: string; at: number } & ReachRules

type Declared = { mail: MailRule | null; mandatory: number }
type Chosen = { category: string; mail: MailRule | null; hours: string | null }

/** Writes timers for what is newly unread, for reachable users with locked inboxes. */
export function* remind(
  { mailUnread, pushDelayMs, ...sent }: Sent,
  unseen: readonly Unseen[],
): Write<void> {
  const withAddress = unseen.filter(({ reach }) => reach & reachBits.address)
  if (mailUnread !== undefined && withAddress.length > 0)
    yield* remindByMail({ ...sent, mailUnread }, withAddress)
  if (pushDelayMs === undefined) return
  for (const { userId, seq, version, reach } of unseen)
    if (reach & reachBits.push)
      yield* remindAt({ user: userKey(userId), seq, version }, 'push', sent.at + pushDelayMs)
}

type SentByMail = Omit<Sent, keyof ReachRules> & { mailUnread: MailRule }

function* remindByMail(
  { category, application, at, mailUnread }: SentByMail,
  unseen: readonly Unseen[],
): Write<void> {
  const declared = yield* get<Declared>`
    select mail, mandatory from category where application = ${application} and name = ${category}`
  for (const { userId, seq, version, reach } of unseen) {
    const user = userKey(userId)
    const chosen = (reach & reachBits.ownRules) === 0 ? [] : yield* choicesOf(user, category)
    const own = (name: string | null) => chosen.find((one) => one.category === name)?.mail ?? null
    const choice = {
      own: category === null ? null : own(category),
      ofAll: own(''),
      declared: declared?.mail ?? null,
      isMandatory: declared?.mandatory === 1,
    }
    const dueAt = mailDueAt(ruleFor(choice, mailUnread), at, hoursIn(chosen))
    if (dueAt !== undefined) yield* remindAt({ user, seq, version }, 'mail', dueAt)
  }
}

function choicesOf(user: UserKey, category: string | null): Write<Chosen[]> {
  return all<Chosen>`
    select category, mail, hours from preference where user_id = ${user} and category ${inList(['', category ?? ''])}`
}

export function hoursIn(chosen: readonly Pick<Chosen, 'category' | 'hours'>[]): Hours {
  const hours = chosen.find(({ category }) => category === '')?.hours
  return hours == null ? usualHours : { ...usualHours, ...JSON.parse(hours) }
}

/** Null means UTC. After a change of zone, what waits is decided again. The user is locked. */
export function* chooseTimeZone(userId: string, timeZone: string | null): Write<void> {
  const user = userKey(userId)
  const before = hoursIn(yield* choicesOf(user, null))
  if (before.timeZone === timeZone) return
  yield* send`
    insert into inbox (user_id, reach) values (${user}, ${reachBits.ownRules})
    on conflict (user_id) do update set reach = inbox.reach | ${reachBits.ownRules}`
  yield* send`
    insert into preference (user_id, category, hours) values (${user}, '', ${JSON.stringify({ ...before, timeZone })})
    on conflict (user_id, category) do update set hours = excluded.hours`
  yield* decideAgain(userId)
}

type Place = { user: UserKey; seq: number; version: number }

/** Most deliveries find an earlier timer, and write none. The inbox is locked. */
function* remindAt(
  { user, seq, version }: Place,
  channel: ReminderChannel,
  dueAt: number,
): Write<void> {
  const isEarlier = yield* exists`
    select 1 from reminder where user_id = ${user} and channel = ${channel} and due_at <= ${dueAt}`
  if (isEarlier) return
  yield* send`
    insert into reminder (user_id, channel, due_at, from_seq, from_version)
    values (${user}, ${channel}, ${dueAt}, ${seq}, ${version})
    on conflict (user_id, channel) do update set due_at = excluded.due_at`
}

/** The reader has chosen the time. The inbox is locked. */
export function* remindOfWoken({ user, seq, version }: Place, at: number): Write<void> {
  const inbox = yield* get<{ reach: number }>`select reach from inbox where user_id = ${user}`
  const reach = inbox?.reach ?? 0
  if (reach & reachBits.address) yield* remindAt({ user, seq, version }, 'mail', at)
  if (reach & reachBits.push) yield* remindAt({ user, seq, version }, 'push', at)
  if (yield* exists`select 1 from webhook where disabled_at is null`)
    yield* remindAt({ user, seq, version }, 'unread', at)
  if (
    yield* exists`
      select 1 from webhook where disabled_at is null and events like ${'%notification.created%'}`
  )
    yield* lookAfter({ user, seq, version: version - 1 })
}

/** The reader's choice or address has changed. */
export function* decideAgain(userId: string): Write<void> {
  yield* send`update reminder set due_at = 0 where user_id = ${userKey(userId)} and channel in ('mail', 'push')`
}

/** 'refused': the mail server refuses the verified address for good. */
export const mailWays = ['on', 'no-address', 'refused'] as const

export function* mailWayOf(userId: string): Read<(typeof mailWays)[number]> {
  const inbox = yield* get<{ reach: number; refusedAt: number | null }>`
    select reach, mail_refused_at as "refusedAt" from inbox where user_id = ${userKey(userId)}`
  if (((inbox?.reach ?? 0) & reachBits.address) > 0) return 'on'
  return inbox?.refusedAt == null ? 'no-address' : 'refused'
}

/**
 * Call it when a write changes whether the user has a verified address. It creates the row of the
 * inbox, and forgets refusals of another address.
 */
export function* reachAddress(userId: string, isVerified: boolean): Write<void> {
  const user = userKey(userId)
  if (isVerified)
    yield* send`
      insert into inbox (user_id, reach) values (${user}, ${reachBits.address})
      on conflict (user_id) do update set reach = inbox.reach | ${reachBits.address}, mail_refused_at = null`
  else
    yield* send`
      update inbox set reach = reach - (reach & ${reachBits.address}), mail_refused_at = null
      where user_id = ${user} and ((reach & ${reachBits.address}) > 0 or mail_refused_at is not null)`
  yield* decideAgain(userId)
}

/** `unreadAfterMs`: null if no webhook waits for what is unread. */
export type Watch = { marks: boolean; arrivals: boolean; unreadAfterMs: number | null }

/** Writes timers for the newly unread from applications with webhooks. The inboxes are locked. */
export function* watchArrived(watch: Watch, at: number, arrived: readonly Unseen[]): Write<void> {
  for (const { userId, seq, version, reach } of arrived) {
    const user = userKey(userId)
    if (watch.marks && (reach & reachBits.marks) === 0)
      yield* send`update inbox set reach = reach + ${reachBits.marks} where user_id = ${user}`
    if (watch.arrivals) yield* lookAfter({ user, seq, version: version - 1 })
    if (watch.unreadAfterMs !== null)
      yield* remindAt({ user, seq, version }, 'unread', at + watch.unreadAfterMs)
  }
}

/** A webhook waits for a change of the locked inbox, given as it was before. */
export function* watchChange(before: {
  user: UserKey
  lastSeq: number
  version: number
}): Write<void> {
  yield* lookAfter({ user: before.user, seq: before.lastSeq + 1, version: before.version })
}

function* lookAfter({ user, seq, version }: Place): Write<void> {
  yield* send`
    insert into reminder (user_id, channel, due_at, from_seq, from_version)
    values (${user}, 'webhook', 0, ${seq}, ${version}) on conflict (user_id, channel) do nothing`
}
