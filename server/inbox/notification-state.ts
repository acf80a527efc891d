// What every write has to know about a notification: whether it is unread (decision 0030), where it is, what it counts for, and whether an
// undo would change it.
import { iso } from '../basics/clock.ts'
import {
  exists,
  get,
  lock,
  onPostgres,
  Part,
  send,
  signal,
  type UserKey,
  userKey,
  type Write,
} from '../store/statements.ts'
import { type InboxState, inboxFields, type OneNotification, undoableFor } from './inbox-state.ts'
import { anyPlaceSql, coversSql, readAtByAnyMarkSql } from './read-at.ts'

export type LockedInbox = InboxState & {
  user: UserKey
  archiveThrough: number
  seenThrough: number
  undoVersion: number | null
}
const ofInbox = ['archiveThrough', 'seenThrough', 'undoVersion'] as const
const lockedColumns = new Part(`${inboxFields()}, ${inboxFields(ofInbox)}`)

/** What says whether a notification is unread, where it is, and what it counts for. Each column costs a mark of SQLite a hundredth. */
const ofFound = [
  ...ofInbox,
  'version',
  'firstSeq',
  'lastSeq',
  'readThrough',
  'readVersion',
  'categoryThrough',
  'archiveVersion',
] as const

/** A notification with those fields of its inbox. */
export type Found = Pick<LockedInbox, (typeof ofFound)[number] | 'user'> & {
  id: string
  seq: number
  category: string | null
  read_at: string | null
  unread_version: number | null
  away: 'archived' | 'snoozed' | null
  away_at: string | null
  kept_version: number | null
}
/** The columns of `Found`, of a notification `n` and its inbox `i`. */
export const foundColumns = new Part(
  `n.id, n.seq, n.category, n.read_at, n.unread_version, n.away, n.away_at, n.kept_version, ${inboxFields(ofFound)}`,
)

/** The inbox stays locked until the end of the transaction. */
export function* lockInbox(userId: string): Write<LockedInbox | undefined> {
  const user = userKey(userId)
  const inbox = yield* lock<Omit<LockedInbox, 'user'>>`select ${lockedColumns} from inbox i where i.user_id = ${user}`
  return inbox && { ...inbox, user }
}

export const keptRead = new Part('indexed by notification_kept_read', '')
export const keptUnread = new Part('indexed by notification_kept_unread', '')

/** The inbox stays locked. */
export function* findOne(userId: string, id: string): Write<Found | undefined> {
  const user = userKey(userId)
  yield* onPostgres`select 1 from inbox where user_id = ${user} for update`
  const found = yield* get<Omit<Found, 'user'>>`
    select ${foundColumns} from notification n join inbox i on i.user_id = n.user_id
    where n.id = ${id} and n.user_id = ${user}`
  return found && { ...found, user }
}

/** Changes one notification of a user, whose inbox stays locked. `change`: whether it has changed, which is signalled. */
export function* changeOne(
  { userId, id }: OneNotification,
  change: (found: Found) => Write<boolean>,
): Write<'done' | 'absent'> {
  const found = yield* findOne(userId, id)
  if (found === undefined) return 'absent'
  if (yield* change(found)) yield* signal({ about: 'inbox', userId })
  return 'done'
}

/** When the notification `n` was read, in a statement of one user's notification. */
export const readAt = new Part(readAtByAnyMarkSql('n.user_id'))

/** When the notification `n` was archived, in the same statement. */
export const archivedAt = new Part(anyPlaceSql('n.user_id').archivedAt)

/** True if no read-all of its category covers the notification `n`, or it was marked as unread since. */
export const isUncovered = new Part(`not exists (select 1 from category_read_mark m where ${coversSql('n.user_id')})`)

/** Whether a notification is unread, by its own columns, the high-water mark, and the read-alls of its category. */
export function* isUnreadNow(found: Found): Write<boolean> {
  const { seq, read_at, unread_version, readThrough, readVersion } = found
  const isAbove = seq > readThrough || (unread_version ?? -1) >= readVersion
  return read_at === null && isAbove && !(yield* isCoveredByCategory(found))
}

/** Whether a read-all of its category covers it, other than the one at the version `except`. */
function* isCoveredByCategory(found: Found, except = -1): Write<boolean> {
  const { user, category, seq, unread_version, categoryThrough } = found
  if (category === null || seq > categoryThrough) return false
  return yield* exists`
    select 1 from category_read_mark
    where user_id = ${user} and category = ${category} and through_seq >= ${seq}
      and version > ${unread_version ?? -1} and version <> ${except} limit 1`
}

type Mark = { through_seq: number; at: string; before_through: number; before_version: number } & {
  categories: string | null
}

/** The time of the last read-all, if an undo would make this notification unread. */
export function* readByLastReadAll(found: Found): Write<string | undefined> {
  const { user, seq, read_at, unread_version, undoVersion } = found
  if (!undoVersion || read_at !== null) return undefined
  const mark = yield* get<Mark>`
    select version, through_seq, at, before_through, before_version, categories from read_mark
    where user_id = ${user} and version = ${undoVersion}`
  if (mark === undefined || (yield* isCoveredByCategory(found, undoVersion))) return undefined
  const isCovered =
    mark.categories === null
      ? seq <= mark.through_seq && (unread_version ?? 0) < undoVersion
      : yield* isCoveredByCategory(found)
  const wasUnread = seq > mark.before_through || (unread_version ?? -1) >= mark.before_version
  return isCovered && wasUnread ? mark.at : undefined
}

/** Whether the last read-all or archive-read can be undone at a time. The clock may go back by an hour. */
export function* isUndoable({ user, undoVersion }: Found, at: number): Write<boolean> {
  if (!undoVersion) return false
  const since = iso(at - undoableFor - 3_600_000)
  return yield* exists`
    select 1 from read_mark where user_id = ${user} and version = ${undoVersion} and at >= ${since}
    union all
    select 1 from archive_mark where user_id = ${user} and version = ${undoVersion} and at >= ${since}`
}

/** Takes the notification out of the undo of the last read-all or archive-read: that leaves it as it is. */
export function* leaveUndo(found: Found): Write<void> {
  const { user, undoVersion, seq, seenThrough } = found
  if (yield* isArchivedByLast(found)) {
    yield* send`
      update archive_mark set made = made - 1, made_unseen = made_unseen - ${seq > seenThrough ? 1 : 0}
      where user_id = ${user} and version = ${undoVersion}`
    yield* countMade(found, -1)
  } else if ((yield* readByLastReadAll(found)) !== undefined) yield* leaveReadAll(found)
}

/** An undo of the read-all leaves a notification that `readByLastReadAll` found. */
export function* leaveReadAll(found: Found): Write<void> {
  yield* send`
    update read_mark set made_read = made_read - 1 where user_id = ${found.user} and version = ${found.undoVersion}`
  yield* countMade(found, -1)
}

/** Whether the last archive-read archived it, and an undo would put it back. */
export function* isArchivedByLast(found: Found): Write<boolean> {
  const { user, seq, away, kept_version, undoVersion, archiveVersion } = found
  if (away !== null || placeOf(found) !== 'archived' || undoVersion !== archiveVersion) return false
  return yield* exists`
    select 1 from archive_mark where user_id = ${user} and version = ${undoVersion}
      and (before_through < ${seq} or before_version = ${kept_version ?? -1})`
}

export type Place = 'list' | 'archived' | 'snoozed'

/** Where a notification is: an archive-read covers it without a change of its row. */
export function placeOf({ seq, away, kept_version, archiveThrough, archiveVersion }: Found): Place {
  return away ?? (seq <= archiveThrough && kept_version !== archiveVersion ? 'archived' : 'list')
}

/** The `kept_version` of a notification that is in the list. */
export function keptIn({ seq, archiveThrough, archiveVersion }: Found): number | null {
  return seq <= archiveThrough ? archiveVersion : null
}

/** What a notification counts for. */
export type Standing = { place: Place; isUnread: boolean; seq: number; category: string | null }

/** What a notification counts for now. */
export function* standingOf(found: Found): Write<Standing> {
  const { seq, category } = found
  return { place: placeOf(found), isUnread: yield* isUnreadNow(found), seq, category }
}

/** Raises the version of the inbox, and counts the notification for what it is `after` in place of what it was `before`. */
export function* recount(found: Found, before: Standing, after: Standing): Write<void> {
  yield* recountAll(found, [{ before, after }])
}

type Counts = Readonly<Record<'total' | 'unread' | 'archived' | 'snoozed', number>>
/** How many more have a property than before. */
type Difference = (isCounted: (one: Standing) => boolean) => number

const countsOf = (difference: Difference): Counts => ({
  total: difference(isListed),
  unread: difference(({ isUnread }) => isUnread),
  archived: difference(({ place }) => place === 'archived'),
  snoozed: difference(({ place }) => place === 'snoozed'),
})

const isListed = ({ place }: Standing) => place === 'list'

/** Does what `recount` does for several notifications of the inbox of `found`. One without `after` is removed. */
export function* recountAll(found: Found, changes: readonly { before: Standing; after?: Standing }[]): Write<void> {
  const { user, readThrough, seenThrough, firstSeq } = found
  const difference: Difference = (isCounted) =>
    changes.reduce(
      (sum, { before, after }) => sum + Number(after !== undefined && isCounted(after)) - Number(isCounted(before)),
      0,
    )
  const { total, unread, archived, snoozed } = countsOf(difference)
  yield* send`
    update inbox set version = version + ${changes.length}, total = total + ${total}, unread = unread + ${unread},
      archived = archived + ${archived}, snoozed = snoozed + ${snoozed},
      marked_unread = marked_unread + ${difference(({ isUnread, seq }) => isUnread && seq <= readThrough)},
      unseen = unseen + ${difference((one) => isListed(one) && one.seq > seenThrough)},
      last_seq = ${Math.max(found.lastSeq, ...changes.map(({ after }) => after?.seq ?? 0))}
    where user_id = ${user}`
  if (changes.some(({ before, after }) => before.seq === firstSeq && after?.seq !== firstSeq))
    yield* send`
      update inbox set first_seq = coalesce((select min(seq) from notification where user_id = ${user}), last_seq + 1)
      where user_id = ${user}`
  for (const category of new Set(changes.flatMap(({ before, after }) => [before.category, after?.category])))
    if (category != null)
      yield* countIn(
        { user, category },
        countsOf((isCounted) => difference((one) => one.category === category && isCounted(one))),
      )
  const moved = changes.filter(({ before, after }) => before.category !== after?.category)
  for (const category of new Set(moved.map(({ before }) => before.category)))
    yield* send`
      delete from inbox_category where user_id = ${user} and category = ${category} and total + archived + snoozed = 0`
}

type OfCategory = { user: UserKey; category: string }

function* countIn({ user, category }: OfCategory, { total, unread, archived, snoozed }: Counts): Write<void> {
  if (total === 0 && unread === 0 && archived === 0 && snoozed === 0) return
  yield* send`
    insert into inbox_category (user_id, category, total, unread, archived, snoozed)
    values (${user}, ${category}, ${total}, ${unread}, ${archived}, ${snoozed})
    on conflict (user_id, category) do update set
      total = inbox_category.total + excluded.total, unread = inbox_category.unread + excluded.unread,
      archived = inbox_category.archived + excluded.archived, snoozed = inbox_category.snoozed + excluded.snoozed`
}

/** The notification is about to move to another category, whose read-alls are others: its read state becomes its own. */
export function* keepReadState(found: Found): Write<void> {
  const { user, seq, category, read_at, unread_version, version } = found
  if (read_at !== null) return
  const marked = unread_version ?? -1
  if (yield* isUnreadNow(found))
    return yield* send`update notification set unread_version = ${version + 1} where user_id = ${user} and seq = ${seq}`
  if ((yield* readByLastReadAll(found)) !== undefined) yield* leaveReadAll(found)
  const mark = yield* get<{ at: string }>`
    select at from (
      select version, at from read_mark
      where user_id = ${user} and through_seq >= ${seq} and version > ${marked}
      union all
      select version, at from category_read_mark
      where user_id = ${user} and category = ${category} and through_seq >= ${seq} and version > ${marked}
    ) as mark order by version limit 1`
  yield* send`
    update notification set unread_version = null, read_at = ${mark?.at ?? null}
    where user_id = ${user} and seq = ${seq}`
}

/** Counts by category how many notifications an undo would change. */
export function* countMade({ user, category }: Pick<Found, 'user' | 'category'>, more: number): Write<void> {
  if (category === null) return
  yield* send`
    update inbox_category set made = made + ${more} where user_id = ${user} and category = ${category}`
}
