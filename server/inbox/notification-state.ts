// What every write has to know about a notification: its state, and what it counts for.
import { get, lock, onPostgres, Part, send, signal, type Write } from '../store/statements.ts'
import { type InboxState, inboxFields, type OneNotification, type State } from './inbox-state.ts'
import { watchChange } from './reminders.store.ts'
import { type UserKey, userKey } from './user-key.ts'

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

/** Each column costs a mark of SQLite a hundredth. */
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

/** SQLite would take the key, and pass over those of other states. */
export const byState = new Part('indexed by notification_by_state', '')
export const byCategory = new Part('indexed by notification_by_category', '')

export function* lockInbox(userId: string): Write<LockedInbox | undefined> {
  const user = userKey(userId)
  const inbox = yield* lock<
    Omit<LockedInbox, 'user'>
  >`select ${lockedColumns} from inbox i where i.user_id = ${user}`
  return inbox && { ...inbox, user }
}

export function* findOne(userId: string, id: string): Write<Found | undefined> {
  const user = userKey(userId)
  yield* onPostgres`select 1 from inbox where user_id = ${user} for update`
  const found = yield* get<Omit<Found, 'user'>>`
    select ${foundColumns} from notification n join inbox i on i.user_id = n.user_id
    where n.id = ${id} and n.user_id = ${user}`
  return found && { ...found, user }
}

/** `change` returns whether it changed something, which is signalled. */
export function* changeOne(
  { userId, id }: OneNotification,
  change: (found: Found) => Write<boolean>,
): Write<'done' | 'absent'> {
  const found = yield* findOne(userId, id)
  if (found === undefined) return 'absent'
  if (yield* change(found)) yield* signal({ about: 'inbox', userId })
  return 'done'
}

/** An undo of the last bulk act leaves it. No client can see this. */
export function* leaveUndo({ user, seq, bulk_version }: Found): Write<void> {
  if (!bulk_version) return
  yield* send`update notification set bulk_version = 0 where user_id = ${user} and seq = ${seq}`
}

type Standing = Pick<Found, 'state' | 'seq' | 'category'>

export function* recount(found: Found, after: Partial<Standing>): Write<void> {
  yield* recountAll(found, [{ before: found, after: { ...found, ...after } }])
}

export type Counts = Readonly<Record<'total' | 'unread' | 'archived' | 'snoozed', number>>
type Difference = (isCounted: (one: Standing) => boolean) => number

const countsOf = (difference: Difference): Counts => ({
  total: difference(isListed),
  unread: difference(({ state }) => state === 'unread'),
  archived: difference(({ state }) => state === 'archived'),
  snoozed: difference(({ state }) => state === 'snoozed'),
})

const isListed = ({ state }: Standing) => state === 'unread' || state === 'read'

/** A notification without `after` is removed. */
export function* recountAll(
  found: Found,
  changes: readonly { before: Standing; after?: Standing }[],
): Write<void> {
  const { user, seenThrough, firstSeq } = found
  const difference: Difference = (isCounted) =>
    changes.reduce(
      (sum, { before, after }) =>
        sum + Number(after !== undefined && isCounted(after)) - Number(isCounted(before)),
      0,
    )
  const { total, unread, archived, snoozed } = countsOf(difference)
  yield* send`
    update inbox set version = version + ${changes.length}, total = total + ${total}, unread = unread + ${unread},
      archived = archived + ${archived}, snoozed = snoozed + ${snoozed},
      unseen = unseen + ${difference((one) => isListed(one) && one.seq > seenThrough)},
      last_seq = ${Math.max(found.lastSeq, ...changes.map(({ after }) => after?.seq ?? 0))}
    where user_id = ${user}`
  yield* watchChange(found)
  if (changes.some(({ before, after }) => before.seq === firstSeq && after?.seq !== firstSeq))
    yield* send`
      update inbox set first_seq = coalesce((select min(seq) from notification where user_id = ${user}), last_seq + 1)
      where user_id = ${user}`
  for (const category of new Set(
    changes.flatMap(({ before, after }) => [before.category, after?.category]),
  ))
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

export function* countIn(
  { user, category }: { user: UserKey; category: string },
  { total, unread, archived, snoozed }: Counts,
): Write<void> {
  if (total === 0 && unread === 0 && archived === 0 && snoozed === 0) return
  yield* send`
    insert into inbox_category (user_id, category, total, unread, archived, snoozed)
    values (${user}, ${category}, ${total}, ${unread}, ${archived}, ${snoozed})
    on conflict (user_id, category) do update set
      total = inbox_category.total + excluded.total, unread = inbox_category.unread + excluded.unread,
      archived = inbox_category.archived + excluded.archived, snoozed = inbox_category.snoozed + excluded.snoozed`
}
