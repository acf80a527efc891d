// A process claims due rows in a short write, sends them without a transaction, then deletes or
// delays them. If it dies, they are free again: on PostgreSQL with its advisory lock, on SQLite at
// the next start. A row can be sent twice but is never lost.
import { record, recordLogged } from '../audit/audit.store.ts'
import { type Audited, holderLock } from '../store/events.ts'
import {
  all,
  get,
  inList,
  Part,
  type Read,
  run,
  send,
  signal,
  type Write,
} from '../store/statements.ts'

export type Channel = 'mail' | 'push' | 'webhook'

/** 0001-schema.sql explains the columns. `target`: '' if the sending decides. */
export type NewRow = {
  id: string
  kind: string
  dueAt: number
  ownerId: string
  channel: Channel
  queue?: string
  target: string
  ids: string
  at: number
}
export type OutboxRow = Required<NewRow> & {
  tries: number
  holder: number | null
  reason: string | null
}

const columns = new Part(
  'id, kind, due_at as "dueAt", owner_id as "ownerId", channel, queue, target, ids, holder, tries, reason, at',
)
const living = new Part(
  '(1)',
  `(select objid::bigint from pg_locks where locktype = 'advisory' and classid = ${holderLock} and objsubid = 2 and granted
    and database = (select oid from pg_database where datname = current_database()))`,
)
const skipLocked = new Part('', 'for update skip locked')
const isFree = new Part(
  `(holder is null or holder not in ${living.sqlite})`,
  `(holder is null or holder not in ${living.postgres})`,
)

export function* addToOutbox({
  id,
  kind,
  dueAt,
  ownerId,
  channel,
  queue = '',
  target,
  ids,
  at,
}: NewRow): Write<void> {
  yield* send`
    insert into outbox (id, kind, due_at, owner_id, channel, queue, target, ids, at)
    values (${id}, ${kind}, ${dueAt}, ${ownerId}, ${channel}, ${queue}, ${target}, ${ids}, ${at})`
}

export function* addTestMail({
  id,
  target,
  at,
  audit,
}: { id: string; target: string; at: number } & Audited): Write<void> {
  yield* addToOutbox({
    id,
    kind: 'test',
    dueAt: at,
    ownerId: '',
    channel: 'mail',
    target,
    ids: '[]',
    at,
  })
  yield* record(audit)
}

export const maxJoined = 50

type Joining = Omit<NewRow, 'ids'> & {
  joined: readonly string[]
  most?: number
  isUntried?: boolean
}

/**
 * The waiting row gets the ids, so its mail has what happened since. Rows being sent get none.
 * `isUntried`: one that waits for a limit, of which nothing can have arrived. Beyond `most`, the
 * newest take the last places, as they may matter most.
 */
export function* joinOutbox(joining: Joining): Write<void> {
  const { id, joined, most = maxJoined, isUntried = false, ...row } = joining
  const waiting = yield* get<{ id: string; ids: string }>`
    select id, ids from outbox
    where owner_id = ${row.ownerId} and kind = ${row.kind} and target = ${row.target} and ${isFree}
      and (${isUntried ? 0 : 1} = 1 or tries = 0 and reason is not null)
    limit 1 ${skipLocked}`
  if (waiting === undefined) return yield* addToOutbox({ ...row, id, ids: JSON.stringify(joined) })
  const earlier = (JSON.parse(waiting.ids) as string[]).filter((one) => !joined.includes(one))
  const ids = [...earlier.slice(0, most - joined.length), ...joined]
  yield* send`update outbox set ids = ${JSON.stringify(ids)} where id = ${waiting.id}`
}

type Due = { channel: Channel; at: number }

/** The queues with a free due row, longest due first. */
export function* dueQueues({ channel, at }: Due): Read<string[]> {
  // Steps from queue to queue in the index, past their rows.
  const rows = yield* all<{ queue: string }>`
    with recursive found (queue) as (
      select min(queue) from outbox where channel = ${channel}
      union all
      select (select min(queue) from outbox where channel = ${channel} and queue > found.queue) from found where queue is not null
    ), first (queue, due_at) as (
      select queue, (
        select due_at from outbox where channel = ${channel} and queue = found.queue and ${isFree} order by due_at limit 1
      ) from found
    )
    select queue from first where due_at <= ${at} order by due_at`
  return rows.map(({ queue }) => queue)
}

type Claim = Due & { holder: number; places: readonly { queue: string; limit: number }[] }

/** Claims due rows that no living process has, of each queue the longest due. */
export function* claimOutbox({ holder, channel, at, places }: Claim): Write<OutboxRow[]> {
  const rows: OutboxRow[] = []
  for (const { queue, limit } of places)
    rows.push(
      ...(yield* all<OutboxRow>`
        select ${columns} from outbox where channel = ${channel} and queue = ${queue} and due_at <= ${at} and ${isFree}
        order by due_at limit ${limit} ${skipLocked}`),
    )
  if (rows.length > 0)
    // Nothing joins a row again that may have been sent.
    yield* send`
      update outbox set holder = ${holder}, reason = case when tries = 0 then null else reason end
      where id ${inList(rows.map(({ id }) => id))}`
  return rows
}

type Held = { id: string; holder: number }

/** Removes the row if the process still has it. The log has its entry's line. */
export function* removeFromOutbox({ id, holder, audit }: Held & Audited): Write<void> {
  if ((yield* run`delete from outbox where id = ${id} and holder = ${holder}`) > 0)
    yield* recordLogged([...(audit ?? [])])
}

/** Changes nothing if the process lost the row. */
export function* delayInOutbox({
  id,
  holder,
  dueAt,
  ids,
  tries,
  reason,
}: Held & Pick<OutboxRow, 'dueAt' | 'ids' | 'tries' | 'reason'>): Write<void> {
  yield* send`
    update outbox set holder = null, due_at = ${dueAt}, ids = ${ids}, tries = ${tries}, reason = ${reason}
    where id = ${id} and holder = ${holder}`
}

/** Frees rows of an ended process (on SQLite, the one before) and rows with no stored outcome. */
export function* freeOutbox({
  holder,
  channel,
  kept,
}: {
  holder: number
  channel: Channel
  kept: readonly string[]
}): Write<void> {
  yield* send`
    update outbox set holder = null where holder = ${holder} and channel = ${channel} and not (id ${inList(kept)})`
}

/** Ordered by due time; with `id` only that row. */
export function* listOutbox({
  limit,
  id = null,
}: {
  limit: number
  id?: string | null
}): Read<OutboxRow[]> {
  return yield* all<OutboxRow>`
    select ${columns} from outbox where (cast(${id} as text) is null or id = ${id}) order by due_at, id limit ${limit}`
}

export function displayedRow({ id, kind, tries, reason, dueAt, at, holder }: OutboxRow) {
  return {
    id,
    kind,
    // A row to be read has its cursor there.
    tries: kind === 'event-to-read' ? 0 : tries,
    reason,
    dueAt,
    since: at,
    sending: holder !== null,
  }
}

type Chosen = { ids: readonly string[] | null } & Audited

/**
 * Null means all. Returns how many. Rows being sent stay as they are, and so do events to be read,
 * which would be too old at once.
 */
export function* retryOutbox({ ids, at }: Chosen & { at: number }): Write<number> {
  // Webhooks that failed pause no longer.
  yield* signal({ about: 'webhook' })
  return yield* run`
    update outbox set due_at = ${at}
    where kind <> 'event-to-read' and ${isFree} and (${ids === null ? 1 : 0} = 1 or id ${inList(ids ?? [])})`
}

/** Null means all. Returns how many. A row being sent stays. */
export function* dropFromOutbox({ ids, audit }: Chosen): Write<number> {
  const removed = yield* run`
    delete from outbox where ${isFree} and (${ids === null ? 1 : 0} = 1 or id ${inList(ids ?? [])})`
  if (removed > 0) yield* record(audit)
  return removed
}
