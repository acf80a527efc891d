// Marks all as read, or archives all that is read, in steps, oldest first. Each step is one
// transaction with its event: a kill leaves nothing to repair.
import { iso } from '../../basics/clock.ts'
import { all, get, inNumbers, send, signal, type Write } from '../../store/statements.ts'
import type { MarkAllRead, Rest } from '../inbox-state.ts'
import {
  byCategory,
  byState,
  countIn,
  type LockedInbox,
  lockInbox,
  type StateCounts,
} from '../marks.store.ts'
import { markAllReadTogether } from '../postgres/marks.ts'
import { reachBits, watchChange } from '../reminders.store.ts'
import { heldSince, ofService } from '../security-notices.store.ts'
import type { UserKey } from '../user-key.ts'

const inFirstStep = 100
const inLaterSteps = 1_000

export const stepSize = (rest: Rest | undefined) =>
  rest === undefined ? inFirstStep : inLaterSteps
export const weightOf = ({ rest }: { rest?: Rest | undefined }) => (rest === undefined ? 10 : 100)

type ReadAllStep = MarkAllRead & { rest?: Rest | undefined }
type ArchiveReadStep = { userId: string; at: number; rest?: Rest | undefined }

/**
 * Marks as read what has arrived, or up to and including `throughId` or `throughSeq`; with
 * `categories`, what has one of these now. Later arrivals stay unread. Returns what may be left.
 */
export const markAllRead = {
  name: 'markAllRead',
  write: readAllStep,
  postgres: markAllReadTogether,
  weightOf,
}

function* readAllStep(step: ReadAllStep): Write<'done' | 'absent' | Rest> {
  const { userId, throughId, throughSeq = Number.POSITIVE_INFINITY, categories, at, rest } = step
  const inbox = yield* lockInbox(userId)
  if (inbox === undefined) return throughId === null ? 'done' : 'absent'
  const { user, lastSeq } = inbox
  const through =
    rest?.through ??
    (throughId === null ? Math.min(lastSeq, throughSeq) : yield* seqOf(user, throughId))
  if (through === undefined) return 'absent'
  const size = stepSize(rest)
  const range = { user, through, limit: size + 1 }
  const found = yield* categories === undefined
    ? unreadIn(range)
    : unreadOfCategories(range, categories)
  const act = yield* stepOf(inbox, { kind: 'read', categories, found, size, through, rest })
  if (act === undefined) return 'done'
  yield* send`
    update notification set state = 'read', read_at = ${iso(at)}, bulk_version = ${act.act}
    where user_id = ${user} and state = 'unread' and seq ${inNumbers(act.rows.map(seqOfRow))}`
  yield* addStep(inbox, act, { userId, at })
  return act.rest
}

/**
 * Archives what is read in the list, except security notices of the last 24 hours. An arrival
 * during the call stays. Returns what may be left.
 */
export const archiveRead = {
  name: 'archiveRead',
  write: archiveReadStep,
  weightOf,
}

function* archiveReadStep({ userId, at, rest }: ArchiveReadStep): Write<'done' | Rest> {
  const inbox = yield* lockInbox(userId)
  if (inbox === undefined) return 'done'
  const { user } = inbox
  const through = rest?.through ?? inbox.lastSeq
  const size = stepSize(rest)
  const found = yield* all<Row>`
    select seq, category from notification ${byState}
    where user_id = ${user} and state = 'read' and seq <= ${through} and not (${ofService} and created_at > ${heldSince(at)})
    order by seq limit ${size + 1}`
  const act = yield* stepOf(inbox, { kind: 'archive', found, size, through, rest })
  if (act === undefined) return 'done'
  yield* send`
    update notification set state = 'archived', archived_at = ${iso(at)}, bulk_version = ${act.act}
    where user_id = ${user} and state = 'read' and seq ${inNumbers(act.rows.map(seqOfRow))}`
  yield* addStep(inbox, act, { userId, at })
  yield* keepNotices(user, { version: act.version, through: act.through, at })
  return act.rest
}

/** A client would archive these notices at the step's event, so each gets its own change. */
function* keepNotices(
  user: UserKey,
  step: { version: number; through: number; at: number },
): Write<void> {
  let { version } = step
  const held = yield* all<{ seq: number }>`
    select seq from notification ${byState}
    where user_id = ${user} and state = 'read' and seq <= ${step.through} and ${ofService} and created_at > ${heldSince(step.at)}
    order by seq`
  for (const { seq } of held) {
    version++
    yield* send`
      update notification set changed_version = ${version}, unarchived_version = ${version} where user_id = ${user} and seq = ${seq}`
  }
  if (held.length > 0) yield* send`update inbox set version = ${version} where user_id = ${user}`
}

type Row = { seq: number; category: string | null }
type Range = { user: UserKey; through: number; limit: number }
const seqOfRow = ({ seq }: Row) => seq

function unreadIn({ user, through, limit }: Range): Write<Row[]> {
  return all`
    select seq, category from notification ${byState} where user_id = ${user} and state = 'unread' and seq <= ${through}
    order by seq limit ${limit}`
}

function* unreadOfCategories(
  { user, through, limit }: Range,
  categories: readonly string[],
): Write<Row[]> {
  const rows: Row[] = []
  for (const category of categories)
    rows.push(
      ...(yield* all<Row>`
        select seq, category from notification ${byCategory}
        where user_id = ${user} and category = ${category} and state = 'unread' and seq <= ${through}
        order by seq limit ${limit}`),
    )
  return rows.sort((one, other) => one.seq - other.seq).slice(0, limit)
}

type Kind = 'read' | 'archive'
type Act = {
  kind: Kind
  act: number
  version: number
  through: number
  goal: number
  categories: string | null
} & {
  rows: readonly Row[]
  rest: Rest | 'done'
}
type Bounds = { kind: Kind; categories?: readonly string[] | undefined; found: readonly Row[] } & {
  size: number
  through: number
  rest: Rest | undefined
}

function* stepOf(inbox: LockedInbox, bounds: Bounds): Write<Act | undefined> {
  const { kind, categories, found, size, through } = bounds
  const rows = found.slice(0, size)
  const last = rows.at(-1)
  if (last === undefined) return undefined
  const changed = categories?.filter((category) => rows.some((row) => row.category === category))
  const act = (yield* begunAct(inbox, bounds)) ?? inbox.version + 1
  const isLast = found.length <= size
  return {
    kind,
    act,
    version: inbox.version + 1,
    through: isLast ? through : last.seq,
    goal: through,
    categories: changed === undefined ? null : JSON.stringify(changed),
    rows,
    rest: isLast ? 'done' : { act, through },
  }
}

/**
 * The act that a repeated request continues after a kill, so that an undo takes back all of it.
 * Undefined if another act or undo began since.
 */
function* begunAct(
  { user, undoVersion }: LockedInbox,
  { kind, categories, rest }: Bounds,
): Write<number | undefined> {
  if (undoVersion === null || undoVersion <= 0) return undefined
  if (rest !== undefined) return rest.act === undoVersion ? undoVersion : undefined
  const last = yield* get<{ kind: Kind; categories: string | null; through: number; goal: number }>`
    select kind, categories, through_seq as through, goal_seq as goal from bulk
    where user_id = ${user} and version >= ${undoVersion} and act = ${undoVersion} order by version desc limit 1`
  if (last === undefined || last.through >= last.goal || last.kind !== kind) return undefined
  const before: readonly string[] | null =
    last.categories === null ? null : JSON.parse(last.categories)
  const isSame =
    before === null ? categories === undefined : before.every((one) => categories?.includes(one))
  return isSame ? undoVersion : undefined
}

function* addStep(
  inbox: LockedInbox,
  step: Act,
  { userId, at }: { userId: string; at: number },
): Write<void> {
  const { user, seenThrough, resetVersion, archiveVersion, reach } = inbox
  const { kind, act, version, through, goal, categories, rows } = step
  const isRead = kind === 'read'
  const { total, unread, archived } = countsOf(kind, rows)
  const unseen = isRead ? 0 : rows.filter(({ seq }) => seq > seenThrough).length
  // A client that missed the last archive-read would archive too much: it loads the list again.
  const reset = isRead ? Math.max(resetVersion, archiveVersion) : resetVersion
  yield* send`
    update inbox set version = ${version}, total = total + ${total}, unread = unread + ${unread},
      archived = archived + ${archived}, unseen = unseen - ${unseen}, undo_version = ${act}, reset_version = ${reset},
      archive_version = ${isRead ? archiveVersion : version}
    where user_id = ${user}`
  for (const [category, ones] of Map.groupBy(rows, (row) => row.category))
    if (category !== null) yield* countIn({ user, category }, countsOf(kind, ones))
  yield* send`
    insert into bulk (user_id, version, act, kind, categories, from_seq, through_seq, goal_seq, at)
    values (${user}, ${version}, ${act}, ${kind}, ${categories}, ${rows[0]?.seq ?? through}, ${through}, ${goal}, ${iso(at)})`
  if (reach & reachBits.marks) yield* watchChange(inbox)
  yield* signal({ about: 'inbox', userId })
}

function countsOf(kind: Kind, { length }: readonly Row[]): StateCounts {
  if (kind === 'read') return { total: 0, unread: -length, archived: 0, snoozed: 0 }
  return { total: -length, unread: 0, archived: length, snoozed: 0 }
}

function* seqOf(user: UserKey, id: string): Write<number | undefined> {
  return (yield* get<{
    seq: number
  }>`select seq from notification where id = ${id} and user_id = ${user}`)?.seq
}
