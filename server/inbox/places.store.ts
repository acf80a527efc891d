// Moves one notification between the list, the archive and the snoozed ones, and removes
// notifications. What is archived or snoozed is read. PostgreSQL runs the usual ones by a function
// (postgres/marks.ts).
import { iso } from '../basics/clock.ts'
import { exists, get, inNumbers, rowsOf, send, signal, type Write } from '../store/statements.ts'
import type { MarkRead, OneNotification, RemovalReason, Snooze } from './inbox-state.ts'
import {
  byState,
  changeOne,
  type Found,
  findOne,
  leaveUndo,
  lockInbox,
  recount,
  recountAll,
} from './notification-state.ts'
import { changeTogether } from './postgres/marks.ts'
import { remindOfWoken } from './reminders.store.ts'
import { isHeld } from './security-notices.store.ts'
import { userKey } from './user-key.ts'

type Outcome = 'done' | 'absent' | 'held'

function* putAway(
  { userId, id, at }: MarkRead,
  change: (found: Found) => Write<boolean>,
): Write<Outcome> {
  const found = yield* findOne(userId, id)
  if (found === undefined) return 'absent'
  if (yield* isHeld(found, at)) return 'held'
  if (yield* change(found)) yield* signal({ about: 'inbox', userId })
  return 'done'
}

/**
 * Archives one notification and marks it as read. Repeating the call changes nothing, and says that
 * an undo leaves it.
 */
export const archive = { name: 'archive', write: archiveAlone, postgres: changeTogether('archive') }

function archiveAlone(one: MarkRead): Write<Outcome> {
  return putAway(one, (found) => archiveFound(found, one.at))
}

export function* archiveFound(found: Found, at: number): Write<boolean> {
  if (found.state === 'archived') {
    yield* leaveUndo(found)
    return false
  }
  yield* send`
    update notification set state = 'archived', read_at = coalesce(read_at, ${iso(at)}), archived_at = ${iso(at)}, snoozed_until = null, bulk_version = 0,
      changed_version = ${found.version + 1}
    where user_id = ${found.user} and seq = ${found.seq}`
  yield* recount(found, { state: 'archived' })
  return true
}

/**
 * Snoozes one notification: until a time only the list of the snoozed has it; then it is the
 * newest, and unread.
 */
export const snooze = { name: 'snooze', write: snoozeAlone, postgres: changeTogether('snooze') }

function snoozeAlone({ until, ...one }: Snooze): Write<Outcome> {
  return putAway(one, function* (found) {
    if (found.snoozed_until === iso(until)) return false
    yield* send`
      update notification set state = 'snoozed', read_at = coalesce(read_at, ${iso(one.at)}), archived_at = null, snoozed_until = ${iso(until)},
        bulk_version = 0, changed_version = ${found.version + 1}
      where user_id = ${found.user} and seq = ${found.seq}`
    yield* recount(found, { state: 'snoozed' })
    return true
  })
}

/**
 * Puts one notification back at its place in the list. It stays read. Repeating the call changes
 * nothing.
 */
export const unarchive = {
  name: 'unarchive',
  write: unarchiveAlone,
  postgres: changeTogether('unarchive'),
}

function unarchiveAlone(one: OneNotification): Write<'done' | 'absent'> {
  return changeOne(one, function* (found) {
    if (found.state !== 'archived' && found.state !== 'snoozed') return false
    const version = found.version + 1
    yield* send`
      update notification set state = 'read', archived_at = null, snoozed_until = null, bulk_version = 0, changed_version = ${version},
        unarchived_version = ${version}
      where user_id = ${found.user} and seq = ${found.seq}`
    yield* recount(found, { state: 'read' })
    return true
  })
}

/** Ends a snooze: the notification is the newest, and unread. Returns false if it is not due. */
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

/** A client that is behind more changes begins again. mark-together.sql has the number, too. */
const maxRemovals = 10_000

type Removal = { at: number; reason: RemovalReason }

export function* removeAll(found: readonly Found[], { at, reason }: Removal): Write<void> {
  const [first] = found
  if (first === undefined) return
  const { user, version } = first
  const rows = found.map(({ seq }, n) => ({ seq, version: version + n + 1 }))
  yield* send`
    insert into removal (user_id, version, id, at, reason, producer, category)
    select n.user_id, cast(given.value ->> 'version' as bigint), n.id, ${iso(at)}, ${reason}, n.producer, n.category
    from ${rowsOf(rows)} join notification n on n.user_id = ${user} and n.seq = cast(given.value ->> 'seq' as bigint)`
  yield* send`delete from notification where user_id = ${user} and seq ${inNumbers(found.map(({ seq }) => seq))}`
  yield* recountAll(
    first,
    found.map((before) => ({ before })),
  )
  if (version > maxRemovals)
    yield* send`delete from removal where user_id = ${user} and version <= ${version - maxRemovals}`
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
