// Against deadlocks, both engines lock in order: idempotency keys, new users, inboxes, each sorted.
import { type Found, foundColumns, makeNewest, recount } from '../inbox/marks.store.ts'
import { remind, type Unseen, watchArrived } from '../inbox/reminders.store.ts'
import {
  digitsOf,
  givenUser,
  inUsers,
  lockDeliveries,
  userDigits,
  userKey,
} from '../inbox/user-key.ts'
import {
  all,
  exists,
  get,
  onCitus,
  Part,
  type Read,
  rowsOf,
  send,
  sendOnPostgres,
  signal,
  valuesOf,
  type Write,
} from '../store/statements.ts'
import type { WriteForms } from '../store/store.ts'
import { addUnlessErased } from '../users/put-users.store.ts'
import { keyColumns, lockUsers, namespaceOf, prefixOf } from '../users/users.store.ts'
import { deliverTogether } from './delivery.postgres.ts'
import {
  type Delivery,
  type DeliveryOutcome,
  type DeliveryResult,
  maxUnknown,
  type Recipient,
  type UnknownRecipients,
} from './delivery.ts'

type Outcome = DeliveryOutcome | 'mismatch' | 'refused' | UnknownRecipients

/**
 * Delivers to every known recipient or to none, and records the idempotency key in the same step. A
 * recipient named twice gets one notification. The same key and body return the first outcome;
 * another body returns 'mismatch'.
 *
 * If no recipient is known, or one is unknown and `unknownRecipients` is 'refuse', it stores
 * nothing, not even the key. An unknown external id with a `newUserId` becomes a user, except with
 * 'refuse' or for an erased user's id. Of simultaneous deliveries, one creates the user.
 *
 * If the producer's stored hash is not `secretHash`, it returns 'refused', also for a repetition.
 */
export const deliver: WriteForms<Delivery, Outcome> = {
  name: 'deliver',
  write: deliverAlone,
  postgres: deliverTogether,
  weightOf: ({ recipients }) => recipients.length,
}

function* deliverAlone(delivery: Delivery): Write<Outcome> {
  const { id, idempotency } = delivery
  const producer = yield* producerOf(delivery)
  if (producer === undefined) return 'refused'
  const earlier = yield* earlierOutcome(delivery)
  if (earlier?.answer)
    // biome-ignore lint/plugin/secrets: the hash of a body that the same producer sent
    return earlier.body_hash === idempotency?.bodyHash ? JSON.parse(earlier.answer) : 'mismatch'
  let users = yield* findRecipients(delivery)
  if (users.includes(null)) {
    users = yield* createRecipients(delivery, users)
    const unknown = [...users.keys()].filter((n) => users[n] === null)
    if (unknown.length > maxUnknown(delivery)) {
      if (earlier !== undefined) yield* forgetOutcome(delivery)
      return { unknown }
    }
  }
  const outcome = {
    deliveryId: id,
    results: yield* deliverToUsers({ ...delivery, producer }, users),
  }
  yield* keepOutcome(delivery, outcome)
  return outcome
}

type Sent = Delivery & { producer: number | null }

function* producerOf({ producerId, secretHash }: Delivery): Write<number | null | undefined> {
  const found = yield* get<{ number: number; is_valid: unknown }>`
    select number, secret_hash = ${secretHash ?? ''} and revoked_at is null as is_valid from producer where id = ${producerId}`
  if (secretHash === undefined) return found?.number ?? null
  return found?.is_valid ? found.number : undefined
}

type UsedKey = { producerId: string; key: string; bodyHash: string }
type Earlier = { body_hash: string; answer: string }

/** On PostgreSQL it takes the key with an empty answer, or waits for another delivery. */
function* earlierOutcome({ producerId, idempotency, at }: Delivery): Write<Earlier | undefined> {
  if (idempotency === null) return undefined
  const { key, bodyHash } = idempotency
  yield* onCitus`select pg_advisory_xact_lock_shared(hashtext('carillon outcomes'))`
  yield* sendOnPostgres`
    insert into delivery (producer_id, idempotency_key, body_hash, answer, at)
    values (${producerId}, ${key}, ${bodyHash}, '', ${at})
    on conflict (producer_id, idempotency_key) do update set at = delivery.at where false`
  return yield* get<Earlier>`
    select body_hash, answer from delivery where producer_id = ${producerId} and idempotency_key = ${key}`
}

export function* findOutcome({
  producerId,
  key,
  bodyHash,
}: UsedKey): Read<DeliveryOutcome | undefined> {
  const found = yield* get<{ answer: string }>`
    select answer from delivery
    where producer_id = ${producerId} and idempotency_key = ${key} and body_hash = ${bodyHash} and answer <> ''`
  return found && JSON.parse(found.answer)
}

function* forgetOutcome({ producerId, idempotency }: Delivery): Write<void> {
  yield* send`delete from delivery where producer_id = ${producerId} and idempotency_key = ${idempotency?.key ?? null}`
}

function* keepOutcome(
  { producerId, idempotency, at }: Delivery,
  outcome: DeliveryOutcome,
): Write<void> {
  if (idempotency === null) return
  yield* send`
    insert into delivery (producer_id, idempotency_key, body_hash, answer, at)
    values (${producerId}, ${idempotency.key}, ${idempotency.bodyHash}, ${JSON.stringify(outcome)}, ${at})
    on conflict (producer_id, idempotency_key) do update set answer = excluded.answer`
}

/** Removes about 1,000. Returns whether more are left. */
export function* removeOldDeliveries(before: number): Write<boolean> {
  const last = yield* get<{ at: number }>`
    select at from delivery where at < ${before} order by at limit 1 offset 999`
  yield* send`delete from delivery where at <= ${last?.at ?? before - 1}`
  return last !== undefined
}

function* findRecipients({ recipients, application }: Delivery): Write<(string | null)[]> {
  const [one, another] = recipients
  if (one !== undefined && another === undefined) return [yield* findRecipient(one.to, application)]
  const prefix = prefixOf(application)
  const wanted = recipients.map(({ to }) =>
    'externalId' in to
      ? { externalId: to.externalId, issuer: namespaceOf({ application, issuer: to.issuer }) }
      : to,
  )
  const found = yield* all<{ id: string | null }>`
    select coalesce(
      (select id from "user" where id = given.value ->> 'userId' and substr(issuer, 1, ${prefix.length}) = ${prefix}),
      (select id from "user" where username = given.value ->> 'username' and substr(issuer, 1, ${prefix.length}) = ${prefix}),
      (select id from "user" where external_id = given.value ->> 'externalId' and issuer = given.value ->> 'issuer')
    ) as id from ${rowsOf(wanted)}`
  return found.map(({ id }) => id)
}

/** Finds one recipient, because a list would cost a tenth of a delivery on SQLite. */
function* findRecipient(to: Recipient, application: string | undefined): Write<string | null> {
  return (yield* rowOf(to, application))?.id ?? null
}

function* rowOf(to: Recipient, application: string | undefined): Write<{ id: string } | undefined> {
  const prefix = prefixOf(application)
  if ('userId' in to)
    return yield* get`
      select id from "user" where id = ${to.userId} and substr(issuer, 1, ${prefix.length}) = ${prefix}`
  if ('username' in to)
    return yield* get`
      select id from "user" where username = ${to.username} and substr(issuer, 1, ${prefix.length}) = ${prefix}`
  return yield* get`
    select id from "user" where external_id = ${to.externalId} and issuer = ${namespaceOf({ application, issuer: to.issuer })}`
}

type Created = { id: string; externalId: string; namespace: string }

/** If another delivery is creating the user, this one waits and finds that user. */
function* createRecipients(delivery: Delivery, users: (string | null)[]): Write<(string | null)[]> {
  const { recipients, application } = delivery
  const created = recipients.flatMap(({ to, newUserId: id }, n): Created[] => {
    if (users[n] !== null || id === undefined || !('externalId' in to)) return []
    return [
      { id, externalId: to.externalId, namespace: namespaceOf({ application, issuer: to.issuer }) },
    ]
  })
  if (created.length === 0 || delivery.unknownRecipients === 'refuse') return users
  const sortKey = ({ externalId, namespace }: Created) => `${externalId}\0${namespace}`
  const sorted = created.toSorted((one, other) =>
    sortKey(one) < sortKey(other) ? -1 : Number(sortKey(one) !== sortKey(other)),
  )
  yield* lockUsers()
  yield* addUnlessErased(sorted, delivery)
  return yield* findRecipients(delivery)
}

type Wanted = { userId: string; id: string }

function* deliverToUsers(
  delivery: Sent,
  users: readonly (string | null)[],
): Write<DeliveryResult[]> {
  const wanted = wantedBy(delivery, users)
  if (wanted.length > 1) yield* lockDeliveries()
  const earlier = delivery.key === null ? [] : yield* findKeyed(delivery, wanted)
  const results = new Map<string, DeliveryResult>()
  for (const { userId, id } of wanted) {
    results.set(userId, { userId, id, status: 'delivered' })
    yield* signal({ about: 'inbox', userId })
  }
  for (const { userId, id } of earlier) results.set(userId, { userId, id, status: 'updated' })
  const isNew = ({ userId }: Wanted) => results.get(userId)?.status === 'delivered'
  const arrived = yield* insertNotifications(
    delivery,
    earlier.length === 0 ? wanted : wanted.filter(isNew),
  )
  for (const one of earlier) {
    yield* replace(delivery, one)
    const { userId, id, lastSeq, version, mutes, reach } = one
    if (delivery.renotify && (mutes || reach || delivery.watch))
      arrived.push({ userId, id, seq: lastSeq + 1, version: version + 1, mutes, reach })
  }
  const muting = arrived.filter(({ mutes }) => mutes)
  if (muting.length > 0)
    for (const { userId, id } of yield* archiveMuted(delivery, muting))
      results.set(userId, { userId, id, status: 'muted' })
  yield* remindOf(delivery, arrived, results)
  // A user can be erased before the inbox is locked; later erasures wait.
  yield* sendOnPostgres`select refuse_erased(array(select given.value from ${valuesOf(wanted.map(({ userId }) => userId))}))`
  return users.map(
    (userId) =>
      results.get(userId ?? '') ?? { userId: null, id: null, status: 'unknown_recipient' },
  )
}

/** A muted notification causes neither mail nor push. */
function* remindOf(
  delivery: Sent,
  arrived: readonly Arrived[],
  results: ReadonlyMap<string, DeliveryResult>,
): Write<void> {
  const { category, application = '', at, mailUnread, pushDelayMs, watch } = delivery
  const reached = arrived.filter(
    ({ userId, reach }) => reach && results.get(userId)?.status !== 'muted',
  )
  if (reached.length > 0)
    yield* remind({ category, application, at, mailUnread, pushDelayMs }, reached)
  if (watch !== undefined) yield* watchArrived(watch, at, arrived)
}

function wantedBy({ recipients }: Delivery, users: readonly (string | null)[]): Wanted[] {
  const [first, second] = recipients
  const [found] = users
  if (first !== undefined && second === undefined)
    return found == null ? [] : [{ userId: found, id: first.notificationId }]
  const ids = new Map<string, string>()
  for (const [n, { notificationId }] of recipients.entries()) {
    const userId = users[n]
    if (userId != null && !ids.has(userId)) ids.set(userId, notificationId)
  }
  const wanted = Array.from(ids, ([userId, id]) => ({ userId, id }))
  return wanted.sort((one, other) => (one.userId < other.userId ? -1 : 1))
}

type Keyed = Omit<Found, 'user'> & Wanted & { mutes: number }

/** Locks their inboxes. */
function* findKeyed(delivery: Delivery, wanted: readonly Wanted[]): Write<Keyed[]> {
  const { key, application } = keyColumns(delivery)
  yield* sendOnPostgres`
    insert into inbox (user_id) select ${givenUser} from ${rowsOf(wanted)} where true
    on conflict (user_id) do update set version = inbox.version where false`
  const [one, another] = wanted
  // On PostgreSQL a list reads every partition.
  if (one !== undefined && another === undefined) {
    const row = yield* get<Omit<Keyed, 'userId'>>`
      select ${foundColumns}, i.mutes
      from notification n join inbox i using (user_id)
      where n.user_id = ${userKey(one.userId)} and n.key = ${key} and n.application = ${application}`
    return row === undefined ? [] : [{ ...row, userId: one.userId }]
  }
  const users = inUsers(wanted.map(({ userId }) => userId))
  // A join would make PostgreSQL read all inboxes.
  const rows = yield* all<Omit<Keyed, 'userId'> & { user: string }>`
    select ${userDigits} as "user", ${foundColumns}, i.mutes
    from notification n join inbox i using (user_id)
    where n.user_id ${users} and i.user_id ${users} and n.key = ${key} and n.application = ${application}`
  const found = new Map(rows.map(({ user, ...row }) => [user, row]))
  return wanted.flatMap(({ userId }) => {
    const row = found.get(digitsOf(userId))
    return row === undefined ? [] : [{ ...row, userId }]
  })
}

const columns =
  new Part(`user_id, seq, id, version, title, body, url, category, data, key, application, created_at, look,
  expires_at, priority, producer`)
const orOneMore = new Part(`
  on conflict (user_id) do update set version = inbox.version + 1, last_seq = inbox.last_seq + 1,
    total = inbox.total + 1, unread = inbox.unread + 1, unseen = inbox.unseen + 1`)
const orOneMoreOfCategory = new Part(`
  on conflict (user_id, category) do update set total = inbox_category.total + 1, unread = inbox_category.unread + 1`)

function* insertOne(delivery: Sent, { userId, id }: Wanted): Write<Arrived[]> {
  const { content, category, createdAt, producer } = delivery
  const { key, application } = keyColumns(delivery)
  const user = userKey(userId)
  const inbox = yield* get<{ version: number; last_seq: number; mutes: number; reach: number }>`
    insert into inbox (user_id, version, last_seq, total, unread, unseen) values (${user}, 1, 1, 1, 1, 1)
    ${orOneMore} returning version, last_seq, mutes, reach`
  yield* send`
    insert into notification (${columns})
    values (${user}, ${inbox?.last_seq ?? 0}, ${id}, ${inbox?.version ?? 0}, ${content.title}, ${content.body}, ${content.url},
      ${category}, ${content.data}, ${key}, ${application}, ${createdAt}, ${content.look}, ${content.expires_at},
      ${content.priority}, ${producer})`
  if (category !== null)
    yield* send`
    insert into inbox_category (user_id, category, total, unread) values (${user}, ${category}, 1, 1)
    ${orOneMoreOfCategory}`
  if (inbox === undefined || ((inbox.mutes | inbox.reach) === 0 && delivery.watch === undefined))
    return []
  const { last_seq: seq, version, mutes, reach } = inbox
  return [{ userId, id, seq, version, mutes, reach }]
}

const listedUser = new Part("unhex(given.value, '-')", 'given.value')

/** Writes each table once. */
function* insertNotifications(delivery: Sent, wanted: readonly Wanted[]): Write<Arrived[]> {
  const [one, another] = wanted
  if (one === undefined) return []
  if (another === undefined) return yield* insertOne(delivery, one)
  const { content, category, createdAt, producer } = delivery
  const { key, application } = keyColumns(delivery)
  const listed = valuesOf(wanted.map(({ userId }) => userId))
  const inboxes = yield* all<{
    user: string
    version: number
    seq: number
    mutes: number
    reach: number
  }>`
    insert into inbox (user_id, version, last_seq, total, unread, unseen)
    select ${listedUser}, 1, 1, 1, 1, 1 from ${listed} where true
    ${orOneMore} returning ${userDigits} as "user", version, last_seq as seq, mutes, reach`
  const places = new Map(inboxes.map((inbox) => [inbox.user, inbox]))
  const rows = wanted.map(({ userId, id }) => {
    const { version = 0, seq = 0, mutes = 0, reach = 0 } = places.get(digitsOf(userId)) ?? {}
    return { userId, id, version, seq, mutes, reach }
  })
  yield* send`
    insert into notification (${columns})
    select ${givenUser}, cast(given.value ->> 'seq' as bigint), given.value ->> 'id', cast(given.value ->> 'version' as bigint),
      ${content.title}, ${content.body}, ${content.url}, ${category}, ${content.data}, ${key}, ${application}, ${createdAt},
      ${content.look}, ${content.expires_at}, ${content.priority}, cast(${producer} as bigint)
    from ${rowsOf(rows)}`
  if (category !== null)
    yield* send`
    insert into inbox_category (user_id, category, total, unread)
    select ${listedUser}, ${category}, 1, 1 from ${listed} where true
    ${orOneMoreOfCategory}`
  return rows.filter(({ mutes, reach }) => mutes || reach || delivery.watch)
}

type Replacement = Pick<Sent, 'content' | 'category' | 'createdAt' | 'producer' | 'renotify'>

/** Id and createdAt stay. With `renotify` the notification becomes the newest and unread. */
function* replace(
  { content, category: to, createdAt, producer, renotify = false }: Replacement,
  { userId, ...keyed }: Omit<Keyed, 'mutes'>,
): Write<void> {
  const user = userKey(userId)
  const found = { ...keyed, user }
  const { seq } = found
  const version = found.version + 1
  yield* send`
    update notification set title = ${content.title}, body = ${content.body}, url = ${content.url}, category = ${to},
      data = ${content.data}, look = ${content.look}, expires_at = ${content.expires_at},
      priority = ${content.priority}, producer = ${producer}, updated_at = ${createdAt}, changed_version = ${version}, replaced_version = ${version},
      count = count + ${renotify ? 1 : 0}
    where user_id = ${user} and seq = ${seq}`
  if (renotify) yield* makeNewest(found)
  const newest = { state: 'unread', seq: found.lastSeq + 1 } as const
  yield* recount(found, { category: to, ...(renotify && newest) })
}

/** A notification whose user has muted something or is reached, or for which a webhook waits. */
type Arrived = Unseen & { id: string; mutes: number }

/** A mandatory category cannot be muted. What arrives muted is read and archived, and stays so. */
function* archiveMuted(delivery: Delivery, arrived: readonly Arrived[]): Write<readonly Arrived[]> {
  const { category, application = '', createdAt, producerId } = delivery
  // These are the service's own reports about the account.
  if (producerId === 'carillon' && category === 'security') return []
  if (
    yield* exists`
    select 1 from category where application = ${application} and name = ${category} and mandatory = 1`
  )
    return []
  const rows = yield* all<{ user: string }>`
    select ${userDigits} as "user" from preference
    where user_id ${inUsers(arrived.map(({ userId }) => userId))} and category in ('', ${category ?? ''})
      and muted_until > ${createdAt}`
  const users = new Set(rows.map(({ user }) => user))
  const muted = arrived.filter(({ userId }) => users.has(digitsOf(userId)))
  if (muted.length > 0) yield* archiveAll(delivery, muted)
  return muted
}

function* archiveAll({ category, createdAt }: Delivery, muted: readonly Arrived[]): Write<void> {
  const users = inUsers(muted.map(({ userId }) => userId))
  yield* send`
    update notification set state = 'archived', read_at = ${createdAt}, archived_at = ${createdAt}
    from ${rowsOf(muted)} where user_id = ${givenUser} and seq = cast(given.value ->> 'seq' as bigint)`
  yield* send`
    update inbox set total = total - 1, unread = unread - 1, unseen = unseen - 1, archived = archived + 1
    where user_id ${users}`
  yield* send`
    update inbox_category set total = total - 1, unread = unread - 1, archived = archived + 1
    where user_id ${users} and category = ${category}`
}
