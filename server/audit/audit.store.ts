// Each change records its own entries.
import { firstIdAt } from '../basics/ids.ts'
import type { AuditEntry } from '../store/events.ts'
import {
  all,
  exists,
  get,
  inList,
  Part,
  type Read,
  rowsOf,
  run,
  send,
  signal,
  type Write,
} from '../store/statements.ts'
import { eventsForOperators } from './events.ts'

export type AuditQuery = {
  userId?: string
  actor?: string
  since?: number
  before?: string | undefined
  limit: number
}

export function* record(entries: readonly AuditEntry[] = []): Write<void> {
  if (entries.length === 0) return
  yield* insert(entries)
  // Commands have no log: the services write their lines.
  if (entries.some(({ actor }) => actor === 'operator')) yield* signal({ about: 'audit' })
  yield { kind: 'record', entries }
}

/** The log already has these lines: listeners get only what notifies operators. */
export function* recordLogged(entries: readonly AuditEntry[]): Write<void> {
  yield* insert(entries)
  const ofOperators = entries.filter(({ event }) => eventsForOperators.has(event))
  if (ofOperators.length > 0)
    yield { kind: 'record', entries: ofOperators.map((entry) => ({ ...entry, isLogged: true })) }
}

/** An entry about a user erased by then names no user (U2). */
function* insert(entries: readonly AuditEntry[]): Write<void> {
  const rows = entries.map(({ detail, ...entry }) => ({
    ...entry,
    detail: detail && JSON.stringify(detail),
  }))
  yield* send`
    insert into audit (user_id, id, at, event, actor, address, user_agent, request_id, sign_in_id, name_hash, detail, count)
    select coalesce((select id from "user" where id = given.value ->> 'userId'), ''), given.value ->> 'id',
      cast(given.value ->> 'at' as bigint), given.value ->> 'event', given.value ->> 'actor', given.value ->> 'address',
      given.value ->> 'userAgent', given.value ->> 'requestId', given.value ->> 'signInId', given.value ->> 'nameHash',
      given.value ->> 'detail', cast(given.value ->> 'count' as bigint)
    from ${rowsOf(rows)}`
}

export type OfSignIn = { userId: string; signInId: string; event: string }

/** A sign-in's id has the time of its beginning. */
export function* isRecorded({ userId, signInId, event }: OfSignIn): Read<boolean> {
  return yield* exists`
    select 1 from audit where user_id = ${userId} and id >= ${signInId.slice(0, 13)}
      and sign_in_id = ${signInId} and event = ${event} limit 1`
}

const columns =
  new Part(`id, at, event, actor, nullif(user_id, '') as "userId", address, user_agent as "userAgent",
  request_id as "requestId", sign_in_id as "signInId", name_hash as "nameHash", detail, count`)

type Row = Omit<AuditEntry, 'detail'> & { detail: string | null }

export function* listAudit(query: AuditQuery): Read<AuditEntry[]> {
  const { userId, actor = null, since = 0, before = 'g', limit } = query
  const rows =
    userId === undefined
      ? yield* all<Row>`
          select ${columns} from audit
          where id >= ${firstIdAt(since)} and id < ${before} and (cast(${actor} as text) is null or actor = ${actor})
          order by id desc limit ${limit}`
      : yield* all<Row>`
          select ${columns} from audit
          where user_id = ${userId} and id >= ${firstIdAt(since)} and id < ${before}
            and (cast(${actor} as text) is null or actor = ${actor})
          order by id desc limit ${limit}`
  return rows.map(toEntry)
}

export function* entriesOf({
  userId,
  ids,
}: {
  userId: string
  ids: readonly string[]
}): Read<AuditEntry[]> {
  const rows = yield* all<Row>`
    select ${columns} from audit where user_id = ${userId} and id ${inList(ids)} order by id`
  return rows.map(toEntry)
}

export function* lastSettingsEntry(): Read<AuditEntry | undefined> {
  const row = yield* get<Row>`
    select ${columns} from audit where event = 'settings-changed' order by id desc limit 1`
  return row && toEntry(row)
}

/** The newest 100. */
export function* settingsChangedSince(since: number): Read<number[]> {
  const rows = yield* all<{ at: number }>`
    select at from audit where event = 'settings-changed' and id >= ${firstIdAt(since)} order by id desc limit 100`
  return rows.map(({ at }) => at)
}

function toEntry({ detail, ...entry }: Row): AuditEntry {
  return { ...entry, detail: detail === null ? null : JSON.parse(detail) }
}

export function* removeOldAudit(before: number): Write<number> {
  // Citus locks no rows if a subquery reads every node.
  const oldest = yield* get<{ last: string | null }>`
    select max(id) as last from (select id from audit where id < ${firstIdAt(before)} order by id limit 1000) oldest`
  return oldest?.last ? yield* run`delete from audit where id <= ${oldest.last}` : 0
}
