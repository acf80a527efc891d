// What every write has to know about a notification: whether it is unread, and whether an undo would make it unread (decision 0030).
import { get, send, type Write } from '../store/statements/statements.ts'
import { Part, type UserKey } from '../store/statements/templates.ts'

/** A notification, with the columns of its inbox that say whether it is unread. */
export type ReadState = {
  user: UserKey
  seq: number
  category: string | null
  read_at: string | null
  unread_version: number | null
  version: number
  read_through: number
  read_version: number
  undo_version: number | null
  category_through: number
}

/** Of the notification `n` and its inbox `i`. */
export const readState =
  new Part(`n.seq, n.category, n.read_at, n.unread_version, i.version, i.read_through, i.read_version,
  i.undo_version, i.category_through`)

/** No read-all of its category covers the notification `n`, or it was marked as unread since. */
export const isUncovered = new Part(`not exists (
  select 1 from category_read_mark m
  where m.user_id = n.user_id and m.category = n.category and m.through_seq >= n.seq
    and m.version > coalesce(n.unread_version, -1)
)`)

export function* isUnreadNow(found: ReadState): Write<boolean> {
  const { seq, read_at, unread_version, read_through, read_version } = found
  const isAbove = seq > read_through || (unread_version ?? -1) >= read_version
  return read_at === null && isAbove && !(yield* isCoveredByCategory(found))
}

/** Whether a read-all of its category covers it, other than the one at the version `except`. */
function* isCoveredByCategory(found: ReadState, except = -1): Write<boolean> {
  const { user, category, seq, unread_version, category_through } = found
  if (category === null || seq > category_through) return false
  const mark = yield* get`
    select 1 as is_there from category_read_mark
    where user_id = ${user} and category = ${category} and through_seq >= ${seq}
      and version > ${unread_version ?? -1} and version <> ${except} limit 1`
  return mark !== undefined
}

type Mark = { version: number; through_seq: number; at: string; before_through: number; before_version: number } & {
  categories: string | null
}

/** The time of the last read-all, if an undo would make this notification unread. */
export function* readByLastReadAll(found: ReadState): Write<string | undefined> {
  const { user, seq, read_at, unread_version, undo_version } = found
  if (undo_version === null || read_at !== null) return undefined
  const mark = yield* get<Mark>`
    select version, through_seq, at, before_through, before_version, categories from read_mark
    where user_id = ${user} and version = ${undo_version}`
  if (mark === undefined || (yield* isCoveredByCategory(found, undo_version))) return undefined
  const isCovered =
    mark.categories === null
      ? seq <= mark.through_seq && (unread_version ?? 0) < undo_version
      : yield* isCoveredByCategory(found)
  const wasUnread = seq > mark.before_through || (unread_version ?? -1) >= mark.before_version
  return isCovered && wasUnread ? mark.at : undefined
}

/** From now on an undo leaves this notification, which `readByLastReadAll` found, as it is. */
export function* leaveUndo({ user, undo_version, category }: ReadState): Write<void> {
  yield* send`
    update read_mark set made_read = made_read - 1 where user_id = ${user} and version = ${undo_version}`
  yield* countMadeRead({ user, category, more: -1 })
}

/** The notification is about to move to another category, whose read-alls are others: its read state becomes its own. */
export function* keepReadState(found: ReadState): Write<void> {
  const { user, seq, category, read_at, unread_version, version } = found
  if (read_at !== null) return
  const marked = unread_version ?? -1
  if (yield* isUnreadNow(found)) {
    yield* send`update notification set unread_version = ${version + 1} where user_id = ${user} and seq = ${seq}`
    return
  }
  if ((yield* readByLastReadAll(found)) !== undefined) yield* leaveUndo(found)
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

type Count = { user: UserKey; category: string | null; more: number }

export function* countMadeRead({ user, category, more }: Count): Write<void> {
  if (category === null) return
  yield* send`
    update inbox_category set made_read = made_read + ${more} where user_id = ${user} and category = ${category}`
}
