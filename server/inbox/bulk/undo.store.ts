// Takes back the last read-all or archive-read, in steps, the newest first.
import { iso } from '../../basics/clock.ts'
import { all, get, inNumbers, send, signal, type Write } from '../../store/statements.ts'
import { type Rest, type Undo, undoableFor } from '../inbox-state.ts'
import { byState, countIn, type LockedInbox, lockInbox, type StateCounts } from '../marks.store.ts'
import { stepSize, weightOf } from './bulk.store.ts'

const undone = 0
/** The user may have read others in between. */
const readForEach = 5

type UndoStep = Undo & { rest?: Rest | undefined }

/**
 * Takes back the last bulk act with an effect, for ten minutes, except what was marked, moved or
 * sent again by itself since. Repeating changes nothing. Returns 'nothing', or what is left.
 */
export const undo = {
  name: 'undo',
  write: undoStep,
  weightOf,
}

type Steps = { kind: 'read' | 'archive'; first: number; last: number; at: string }

function* undoStep({ userId, at, rest }: UndoStep): Write<'done' | 'nothing' | Rest> {
  const inbox = yield* lockInbox(userId)
  const version = inbox?.undoVersion
  // Another node may have taken back the rest.
  if (version === undone) return 'done'
  if (inbox === undefined || version == null) return 'nothing'
  const act = Math.abs(version)
  // Another node began another act.
  if (rest !== undefined && rest.act !== act) return 'done'
  const steps = yield* get<Steps>`
    select kind, min(from_seq) as first, max(through_seq) as last, max(at) as at from bulk
    where user_id = ${inbox.user} and version >= ${act} and act = ${act} group by kind`
  if (steps === undefined || (rest === undefined && steps.at < iso(at - undoableFor)))
    return 'nothing'
  const below = yield* takeBack(inbox, {
    ...steps,
    act,
    last: rest?.through ?? steps.last,
    size: stepSize(rest),
  })
  // The version is negative, so that a step on another node begins a new act.
  yield* send`update inbox set undo_version = ${below === undefined ? undone : -act} where user_id = ${inbox.user}`
  if (below !== undefined) return { act, through: below }
  // At the signal, clients load their lists again.
  yield* signal({ about: 'inbox', userId })
  return 'done'
}

type Row = { seq: number; category: string | null; bulk_version: number | null }
type Range = Steps & { act: number; size: number }

/** Returns up to where the act may have changed others. */
function* takeBack({ user, seenThrough }: LockedInbox, range: Range): Write<number | undefined> {
  const { kind, first, last, act, size } = range
  const atMost = size * readForEach
  const found = yield* all<Row>`
    select seq, category, bulk_version from notification ${byState}
    where user_id = ${user} and state = ${kind === 'read' ? 'read' : 'archived'} and seq >= ${first} and seq <= ${last}
    order by seq desc limit ${atMost}`
  const ofAct = found.filter(({ bulk_version }) => bulk_version === act)
  const rows = ofAct.slice(0, size)
  const seqs = rows.map(({ seq }) => seq)
  if (kind === 'read')
    yield* send`
      update notification set state = 'unread', read_at = null, bulk_version = 0 where user_id = ${user} and state = 'read' and seq ${inNumbers(seqs)}`
  else
    yield* send`
      update notification set state = 'read', archived_at = null, bulk_version = 0 where user_id = ${user} and state = 'archived' and seq ${inNumbers(seqs)}`
  const { total, unread, archived } = countsOf(kind, rows)
  const unseen = kind === 'read' ? 0 : seqs.filter((seq) => seq > seenThrough).length
  yield* send`
    update inbox set version = version + 1, reset_version = version + 1, total = total + ${total}, unread = unread + ${unread},
      archived = archived + ${archived}, unseen = unseen + ${unseen}
    where user_id = ${user}`
  for (const [category, ones] of Map.groupBy(rows, (row) => row.category))
    if (category !== null) yield* countIn({ user, category }, countsOf(kind, ones))
  if (ofAct.length > size) return (seqs.at(-1) ?? first) - 1
  return found.length === atMost ? (found.at(-1)?.seq ?? first) - 1 : undefined
}

function countsOf(kind: Steps['kind'], { length }: readonly Row[]): StateCounts {
  if (kind === 'read') return { total: 0, unread: length, archived: 0, snoozed: 0 }
  return { total: length, unread: 0, archived: -length, snoozed: 0 }
}
