// The steps of places.store.ts, retention.store.ts and the changes by key: each moves a notification that was found and whose inbox is locked
// to the archive, to the snoozed ones, to the newest place, or out of the inbox.
import { iso } from '../basics/clock.ts'
import { inNumbers, rowsOf, send, type Write } from '../store/statements.ts'
import type { RemovalReason } from './inbox-state.ts'
import {
  archivedAt,
  type Found,
  isArchivedByLast,
  isUndoable,
  leaveUndo,
  placeOf,
  readAt,
  recount,
  recountAll,
  type Standing,
  standingOf,
} from './notification-state.ts'

/** False if it was archived before. */
export function* archiveFound(found: Found, at: number): Write<boolean> {
  const isArchived = placeOf(found) === 'archived'
  if (isArchived && !(yield* isArchivedByLast(found))) return false
  const before = yield* standingOf(found)
  yield* leaveUndo(found)
  yield* moveAway(found, { to: 'archived', at, changedVersion: isArchived ? null : found.version + 1 })
  if (!isArchived) yield* recount(found, before, { ...before, place: 'archived', isUnread: false })
  return !isArchived
}

/** Until then it is in no list but that of the snoozed ones. */
export function* snoozeFound(found: Found, { until, at }: { until: number; at: number }): Write<void> {
  const before = yield* standingOf(found)
  yield* leaveUndo(found)
  yield* moveAway(found, { to: 'snoozed', at, until: iso(until), changedVersion: found.version + 1 })
  yield* recount(found, before, { ...before, place: 'snoozed', isUnread: false })
}

/** The notification becomes the newest, and unread, as if it had just arrived. */
export function* wakeFound(found: Found): Write<void> {
  const before = yield* standingOf(found)
  yield* makeNewest(found)
  yield* recount(found, before, { ...before, place: 'list', isUnread: true, seq: found.last_seq + 1 })
}

type Move = { to: 'archived' | 'snoozed'; at: number; until?: string; changedVersion: number | null }

function* moveAway({ user, seq }: Found, { to, at, until, changedVersion }: Move): Write<void> {
  yield* send`
    update notification as n set away = ${to}, away_at = coalesce(${until ?? null}, ${archivedAt}, ${iso(at)}),
      read_at = coalesce(${readAt}, ${iso(at)}), unread_version = null, kept_version = null,
      changed_version = coalesce(${changedVersion}, changed_version)
    where n.user_id = ${user} and n.seq = ${seq}`
}

/** Gives it the next sequence number and makes it unread. The caller counts it. */
export function* makeNewest({ user, seq, version, last_seq }: Found): Write<void> {
  yield* send`
    update notification set seq = ${last_seq + 1}, version = ${version + 1}, read_at = null, unread_version = null,
      changed_version = null, away = null, away_at = null, kept_version = null
    where user_id = ${user} and seq = ${seq}`
}

/** The newest of an inbox that changes send: a client that is behind more changes begins again. */
const maxRemovals = 10_000

type Removal = { at: number; reason: RemovalReason }

/** Removes notifications of one inbox. */
export function* removeAll(found: readonly Found[], { at, reason }: Removal): Write<void> {
  const [first] = found
  if (first === undefined) return
  const { user, version } = first
  const canUndo = yield* isUndoable(first, at)
  const changes: { before: Standing }[] = []
  for (const one of found) {
    changes.push({ before: yield* standingOf(one) })
    if (canUndo) yield* leaveUndo(one)
  }
  yield* send`delete from notification where user_id = ${user} and seq ${inNumbers(found.map(({ seq }) => seq))}`
  yield* recountAll(first, changes)
  const rows = found.map(({ id }, n) => ({ id, version: version + n + 1 }))
  yield* send`
    insert into removal (user_id, version, id, at, reason)
    select ${user}, cast(given.value ->> 'version' as bigint), given.value ->> 'id', ${iso(at)}, ${reason} from ${rowsOf(rows)}`
  if (version > maxRemovals)
    yield* send`delete from removal where user_id = ${user} and version <= ${version - maxRemovals}`
}
