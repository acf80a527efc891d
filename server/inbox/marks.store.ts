// The state of notifications, and acts on one. On PostgreSQL, postgres/marks.ts runs most.
import { iso } from '../basics/clock.ts'
import {
  exists,
  get,
  inList,
  lock,
  onPostgres,
  Part,
  rowsOf,
  send,
  signal,
  type Write,
} from '../store/statements.ts'
import {
  type InboxState,
  inboxFields,
  type MarkRead,
  type OneNotification,
  type RemovalReason,
  type Snooze,
  type State,
} from './inbox-state.ts'
import { changeTogether } from './postgres/marks.ts'
import { reachBits, remindOfWoken, watchChange } from './reminders.store.ts'
import { isHeld } from './security-notices.store.ts'
import { givenUser, inUsers, type UserKey, userKey } from './user-key.ts'

export type LockedInbox = InboxState & {
  user: UserKey
  seenThrough: number
  undoVersion: number | null
  archiveVersion: number
  reach: number
}
const lockedColumns = new Part(
  `${inboxFields()}, ${inboxFields(['seenThrough', 'undoVersion', 'archiveVersion', 'reach'])}`,
)

/** Each column costs 1 % of a mark of SQLite. */
const ofFound = ['version', 'firstSeq', 'lastSeq', 'seenThrough', 'reach'] as const

export type Found = Pick<LockedInbox, (typeof ofFound)[number] | 'user'> & {
  id: string
  seq: number
  category: string | null
  state: State
  snoozed_until: string | null
  bulk_version: number | null
}
export const foundColumns = new Part(
  `n.id, n.seq, n.category, n.state, n.snoozed_until, n.bulk_version, ${inboxFields(ofFound)}`,
)

/** SQLite would take the primary key, and pass over other states. */
export const byState = new Part('indexed by notification_by_state', '')
const byId = new Part('indexed by notification_by_id', '')
export const byCategory = new Part('indexed by notification_by_category', '')

export function* lockInbox(userId: string): Write<LockedInbox | undefined> {
  const user = userKey(userId)
  const inbox = yield* lock<
    Omit<LockedInbox, 'user'>
  >`select ${lockedColumns} from inbox i where i.user_id = ${user}`
  return inbox && { ...inbox, user }
}

function* findOne(userId: string, id: string): Write<Found | undefined> {
  const user = userKey(userId)
  yield* onPostgres`select 1 from inbox where user_id = ${user} for update`
  const found = yield* get<Omit<Found, 'user'>>`
    select ${foundColumns} from notification n join inbox i on i.user_id = n.user_id
    where n.id = ${id} and n.user_id = ${user}`
  return found && { ...found, user }
}

export type Outcome = 'done' | 'absent' | 'held'

function* changeOne(
  { userId, id }: OneNotification,
  change: (found: Found) => Write<boolean | 'held'>,
): Write<Outcome> {
  const found = yield* findOne(userId, id)
  if (found === undefined) return 'absent'
  const changed = yield* change(found)
  if (changed === 'held') return changed
  if (changed) yield* signal({ about: 'inbox', userId })
  return 'done'
}

function putAway({ at, ...one }: MarkRead, change: (found: Found) => Write<boolean>) {
  return changeOne(one, function* (found) {
    return (yield* isHeld(found, at)) ? 'held' : yield* change(found)
  })
}

/** An undo of the last bulk act leaves this notification. Clients do not see this. */
function* leaveUndo({ user, seq, bulk_version }: Found): Write<void> {
  if (bulk_version === null || bulk_version <= 0) return
  yield* send`update notification set bulk_version = ${-bulk_version} where user_id = ${user} and seq = ${seq}`
}

type Standing = Pick<Found, 'state' | 'seq' | 'category'>
/** `found`: as it was before. Without `after` it is removed. */
type Changed = { found: Found; after?: Standing }

export type StateCounts = Readonly<Record<'total' | 'unread' | 'archived' | 'snoozed', number>>
type Difference = (isCounted: (one: Standing) => boolean) => number

const differenceOf =
  (changes: readonly Changed[]): Difference =>
  (isCounted) =>
    changes.reduce(
      (sum, { found, after }) =>
        sum + Number(after !== undefined && isCounted(after)) - Number(isCounted(found)),
      0,
    )

const countsOf = (difference: Difference): StateCounts => ({
  total: difference(isListed),
  unread: difference(({ state }) => state === 'unread'),
  archived: difference(({ state }) => state === 'archived'),
  snoozed: difference(({ state }) => state === 'snoozed'),
})

const isZero = ({ total, unread, archived, snoozed }: StateCounts) =>
  total === 0 && unread === 0 && archived === 0 && snoozed === 0

const isListed = ({ state }: Standing) => state === 'unread' || state === 'read'

/** Lists would make a mark 10 % slower on SQLite. */
export function* recount(found: Found, different: Partial<Standing>): Write<void> {
  const after = { ...found, ...different }
  const { user, seenThrough, firstSeq, seq, category } = found
  const difference = differenceOf([{ found, after }])
  const { total, unread, archived, snoozed } = countsOf(difference)
  yield* send`
    update inbox set version = version + 1, total = total + ${total}, unread = unread + ${unread},
      archived = archived + ${archived}, snoozed = snoozed + ${snoozed},
      unseen = unseen + ${difference((one) => isListed(one) && one.seq > seenThrough)},
      last_seq = ${Math.max(found.lastSeq, after.seq)}
    where user_id = ${user}`
  if (found.reach & reachBits.marks) yield* watchChange(found)
  if (seq === firstSeq && after.seq !== firstSeq) yield* findFirst([user.id])
  for (const one of new Set([category, after.category]))
    if (one !== null)
      yield* countIn(
        { user, category: one },
        countsOf((isCounted) => difference((it) => it.category === one && isCounted(it))),
      )
  if (category !== null && category !== after.category) yield* removeEmpty([user.id], [category])
}

/** The changes may be in several inboxes: each table has one statement. */
export function* recountAll(changes: readonly Changed[]): Write<void> {
  const ofUsers = [...Map.groupBy(changes, ({ found }) => found.user.id)]
  const inboxes = ofUsers.map(([userId, ones]) => {
    const { seenThrough } = (ones[0] as Changed).found
    const difference = differenceOf(ones)
    const unseen = difference((one) => isListed(one) && one.seq > seenThrough)
    return { userId, changes: ones.length, ...countsOf(difference), unseen }
  })
  yield* send`
    update inbox set version = version + cast(given.value ->> 'changes' as bigint), ${andGivenCounts},
      unseen = unseen + cast(given.value ->> 'unseen' as bigint)
    from ${rowsOf(inboxes)} where user_id = ${givenUser}`
  for (const [, [one]] of ofUsers)
    if (one && one.found.reach & reachBits.marks) yield* watchChange(one.found)
  const withoutFirst = changes.filter(
    ({ found, after }) => found.seq === found.firstSeq && after?.seq !== found.firstSeq,
  )
  if (withoutFirst.length > 0) yield* findFirst(withoutFirst.map(({ found }) => found.user.id))
  yield* recountCategories(ofUsers)
}

const andGivenCounts = new Part(`total = total + cast(given.value ->> 'total' as bigint),
  unread = unread + cast(given.value ->> 'unread' as bigint),
  archived = archived + cast(given.value ->> 'archived' as bigint),
  snoozed = snoozed + cast(given.value ->> 'snoozed' as bigint)`)

function* recountCategories(ofUsers: readonly (readonly [string, Changed[]])[]): Write<void> {
  const counts = ofUsers.flatMap(([userId, ones]) => {
    const difference = differenceOf(ones)
    const names = ones.flatMap(({ found, after }) => [found.category, after?.category ?? null])
    return [...new Set(names)].flatMap((category) => {
      if (category === null) return []
      const ofCategory = countsOf((isCounted) =>
        difference((one) => one.category === category && isCounted(one)),
      )
      return isZero(ofCategory) ? [] : { userId, category, ...ofCategory }
    })
  })
  if (counts.length === 0) return
  yield* send`
    insert into inbox_category (user_id, category, total, unread, archived, snoozed)
    select ${givenUser}, given.value ->> 'category', cast(given.value ->> 'total' as bigint), cast(given.value ->> 'unread' as bigint),
      cast(given.value ->> 'archived' as bigint), cast(given.value ->> 'snoozed' as bigint)
    from ${rowsOf(counts)} where true ${andCounts}`
  yield* removeEmpty(
    ofUsers.map(([userId]) => userId),
    [...new Set(counts.map(({ category }) => category))],
  )
}

function* findFirst(userIds: readonly string[]): Write<void> {
  yield* send`
    update inbox set first_seq = coalesce((select min(n.seq) from notification n where n.user_id = inbox.user_id), last_seq + 1)
    where user_id ${inUsers(userIds)}`
}

function* removeEmpty(userIds: readonly string[], categories: readonly string[]): Write<void> {
  yield* send`
    delete from inbox_category
    where user_id ${inUsers(userIds)} and category ${inList(categories)} and total + archived + snoozed = 0`
}

const andCounts = new Part(`on conflict (user_id, category) do update set
  total = inbox_category.total + excluded.total, unread = inbox_category.unread + excluded.unread,
  archived = inbox_category.archived + excluded.archived, snoozed = inbox_category.snoozed + excluded.snoozed`)

export function* countIn(
  { user, category }: { user: UserKey; category: string },
  counts: StateCounts,
): Write<void> {
  if (isZero(counts)) return
  const { total, unread, archived, snoozed } = counts
  yield* send`
    insert into inbox_category (user_id, category, total, unread, archived, snoozed)
    values (${user}, ${category}, ${total}, ${unread}, ${archived}, ${snoozed}) ${andCounts}`
}

type Move = { state: State; readAt?: string; archivedAt?: string; snoozedUntil?: string }

/** A read one keeps `readAt` until it is unread again. */
function* moveTo(found: Found, move: Move): Write<boolean> {
  const { state, readAt = null, archivedAt = null, snoozedUntil = null } = move
  const version = found.version + 1
  yield* send`
    update notification set state = ${state}, read_at = case when ${state} = 'unread' then null else coalesce(read_at, ${readAt}) end,
      archived_at = ${archivedAt}, snoozed_until = ${snoozedUntil}, bulk_version = 0, changed_version = ${version},
      unarchived_version = ${state === 'read' ? version : null}
    where user_id = ${found.user} and seq = ${found.seq}`
  yield* recount(found, { state })
  return true
}

/**
 * Marks a notification as read. Repeating changes nothing and keeps the first `readAt`. After a
 * read-all, an undo then leaves this one read.
 */
export const markRead = { name: 'markRead', write: markReadAlone, postgres: changeTogether('read') }

function markReadAlone({ at, ...one }: MarkRead): Write<Outcome> {
  return changeOne(one, function* (found) {
    if (found.state === 'read') yield* leaveUndo(found)
    if (found.state !== 'unread') return false
    // SQLite looks into the indexes of each column that it sets, and `moveTo` sets more.
    yield* send`
      update notification set state = 'read', read_at = ${iso(at)}, bulk_version = 0, changed_version = ${found.version + 1}
      where user_id = ${found.user} and seq = ${found.seq}`
    yield* recount(found, { state: 'read' })
    return true
  })
}

/**
 * Marks a notification as unread, until it is marked as read or a read-all covers it. An archived
 * or snoozed one returns to the list. Repeating changes nothing.
 */
export const markUnread = {
  name: 'markUnread',
  write: markUnreadAlone,
  postgres: changeTogether('unread'),
}

function markUnreadAlone(one: OneNotification): Write<Outcome> {
  return changeOne(one, function* (found) {
    return found.state !== 'unread' && (yield* moveTo(found, { state: 'unread' }))
  })
}

/** Archives a notification and marks it as read. A repeated call only makes an undo leave it. */
export const archive = { name: 'archive', write: archiveAlone, postgres: changeTogether('archive') }

function archiveAlone(one: MarkRead): Write<Outcome> {
  return putAway(one, (found) => archiveFound(found, one.at))
}

function* archiveFound(found: Found, at: number): Write<boolean> {
  if (found.state !== 'archived')
    return yield* moveTo(found, { state: 'archived', readAt: iso(at), archivedAt: iso(at) })
  yield* leaveUndo(found)
  return false
}

/** Archives one notification of each inbox, as `archive`. The caller has locked the inboxes. */
export function* archiveAll(found: readonly Found[], at: number): Write<void> {
  for (const one of found) if (one.state === 'archived') yield* leaveUndo(one)
  const moved = found.filter(({ state }) => state !== 'archived')
  const rows = moved.map(({ user, seq, version }) => ({
    userId: user.id,
    seq,
    version: version + 1,
  }))
  if (rows.length === 0) return
  yield* send`
    update notification set state = 'archived', read_at = coalesce(read_at, ${iso(at)}), archived_at = ${iso(at)},
      snoozed_until = null, bulk_version = 0, changed_version = cast(given.value ->> 'version' as bigint), unarchived_version = null
    from ${rowsOf(rows)} where user_id = ${givenUser} and seq = cast(given.value ->> 'seq' as bigint)`
  yield* recountAll(moved.map((one) => ({ found: one, after: { ...one, state: 'archived' } })))
}

/** Until a time, only the list of the snoozed has a notification; then it is newest and unread. */
export const snooze = { name: 'snooze', write: snoozeAlone, postgres: changeTogether('snooze') }

function snoozeAlone({ until, ...one }: Snooze): Write<Outcome> {
  const place: Move = { state: 'snoozed', readAt: iso(one.at), snoozedUntil: iso(until) }
  return putAway(one, function* (found) {
    return found.snoozed_until !== place.snoozedUntil && (yield* moveTo(found, place))
  })
}

/** Puts a notification back at its place in the list, still read. Repeating changes nothing. */
export const unarchive = {
  name: 'unarchive',
  write: unarchiveAlone,
  postgres: changeTogether('unarchive'),
}

function unarchiveAlone(one: OneNotification): Write<Outcome> {
  return changeOne(one, function* (found) {
    return !isListed(found) && (yield* moveTo(found, { state: 'read' }))
  })
}

/** Ends a snooze: the notification is newest and unread. Returns false if it is not due. */
export function* wake({ userId, id, at }: MarkRead): Write<boolean> {
  const found = yield* findOne(userId, id)
  if (found === undefined || found.snoozed_until === null || found.snoozed_until > iso(at))
    return false
  yield* makeNewest(found)
  yield* recount(found, { state: 'unread', seq: found.lastSeq + 1 })
  yield* remindOfWoken({ user: found.user, seq: found.lastSeq + 1, version: found.version + 1 }, at)
  yield* signal({ about: 'inbox', userId })
  return true
}

export function* makeNewest({ user, seq, version, lastSeq }: Found): Write<void> {
  yield* send`
    update notification set seq = ${lastSeq + 1}, version = ${version + 1}, state = 'unread', read_at = null, archived_at = null, snoozed_until = null,
      bulk_version = null, changed_version = null, unarchived_version = null, reached = 0
    where user_id = ${user} and seq = ${seq}`
}

export const remove = { name: 'remove', write: removeAlone, postgres: changeTogether('delete') }

function* removeAlone({ userId, id, at }: MarkRead): Write<Outcome> {
  const outcome = yield* putAway({ userId, id, at }, function* (found) {
    yield* removeAll([found], { at, reason: 'deleted' })
    return true
  })
  if (outcome !== 'absent') return outcome
  const isRemoved =
    yield* exists`select 1 from removal where user_id = ${userKey(userId)} and id = ${id}`
  return isRemoved ? 'done' : 'absent'
}

/** A client that missed more begins again. mark-together.sql has the number, too. */
const maxRemovals = 10_000

type Removal = { at: number; reason: RemovalReason }

/** `found` may be in several inboxes, which the caller has locked. */
export function* removeAll(found: readonly Found[], { at, reason }: Removal): Write<void> {
  if (found.length === 0) return
  const ofUsers = Map.groupBy(found, ({ user }) => user.id)
  const rows = [...ofUsers].flatMap(([userId, ones]) =>
    ones.map(({ seq, version }, n) => ({ userId, seq, version: version + n + 1 })),
  )
  yield* send`
    insert into removal (user_id, version, id, at, reason, producer, category)
    select n.user_id, cast(given.value ->> 'version' as bigint), n.id, ${iso(at)}, ${reason}, n.producer, n.category
    from ${rowsOf(rows)} join notification n on n.user_id = ${givenUser} and n.seq = cast(given.value ->> 'seq' as bigint)`
  yield* send`
    delete from notification ${byId}
    where user_id ${inUsers([...ofUsers.keys()])} and id ${inList(found.map(({ id }) => id))}`
  yield* recountAll(found.map((one) => ({ found: one })))
  for (const [one] of ofUsers.values())
    if (one && one.version > maxRemovals)
      yield* send`delete from removal where user_id = ${one.user} and version <= ${one.version - maxRemovals}`
}

/** A lower `throughSeq` than before changes nothing. */
export function* markSeen({
  userId,
  throughSeq,
}: {
  userId: string
  throughSeq: number
}): Write<void> {
  const inbox = yield* lockInbox(userId)
  const through = Math.min(throughSeq, inbox?.lastSeq ?? 0)
  if (inbox === undefined || through <= inbox.seenThrough) return
  const { user } = inbox
  const later = yield* get<{ count: number }>`
    select count(*) as count from notification ${byState} where user_id = ${user} and state in ('unread', 'read') and seq > ${through}`
  yield* send`
    update inbox set version = version + 1, seen_through = ${through}, seen_version = version + 1, unseen = ${later?.count ?? 0}
    where user_id = ${user}`
  yield* signal({ about: 'inbox', userId })
}
