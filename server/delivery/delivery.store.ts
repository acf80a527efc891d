// Delivers notifications, once per idempotency key: to all known recipients or none. PostgreSQL runs the usual deliveries by a function of
// its own (delivery.postgres.ts). Both take their locks in one order, so that they cannot deadlock: idempotency keys, users who are created,
// inboxes, each sorted.
import {
  countMade,
  type Found,
  foundColumns,
  isArchivedByLast,
  keepReadState,
  leaveUndo,
  readByLastReadAll,
  recount,
  standingOf,
} from '../inbox/notification-state.ts'
import { makeNewest } from '../inbox/places.store.ts'
import {
  all,
  digitsOf,
  exists,
  get,
  givenUser,
  inUsers,
  lockDeliveries,
  lockUsers,
  onCitus,
  Part,
  type Read,
  rowsOf,
  send,
  sendOnPostgres,
  signal,
  userDigits,
  userKey,
  valuesOf,
  type Write,
} from '../store/statements.ts'
import type { WriteForms } from '../store/store.ts'
import { addUnlessErased } from '../users/put-users.store.ts'
import { keyColumns, namespaceOf, prefixOf } from '../users/users.store.ts'
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
 * Delivers to every known recipient or to none, and records the idempotency key in the same step. A recipient that is
 * named twice, also in two ways, gets one notification. The same key with the same body returns the first outcome and changes
 * nothing; the same key with another body returns 'mismatch'.
 *
 * If no recipient is known, or one is unknown and `unknownRecipients` is 'refuse', it stores nothing, not even the
 * idempotency key, and returns the unknown ones. A recipient with an unknown external id and a `newUserId` is a
 * new user, who is created in the same step, unless `unknownRecipients` is 'refuse' or the id is that of an erased user: then it is unknown.
 * Of deliveries at the same time, one creates the user, and all deliver to that user.
 *
 * If the stored secret hash of the producer's key differs from `secretHash`, or the key was revoked, it stores nothing and
 * returns 'refused', also for a repeated idempotency key.
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
  // biome-ignore lint/plugin/secrets: the hash of a body that the same producer sent
  if (earlier?.answer) return earlier.body_hash === idempotency?.bodyHash ? JSON.parse(earlier.answer) : 'mismatch'
  let users = yield* findRecipients(delivery)
  if (users.includes(null)) {
    users = yield* createRecipients(delivery, users)
    const unknown = [...users.keys()].filter((n) => users[n] === null)
    if (unknown.length > maxUnknown(delivery)) {
      if (earlier !== undefined) yield* forgetOutcome(delivery)
      return { unknown }
    }
  }
  const outcome = { deliveryId: id, results: yield* deliverToUsers({ ...delivery, producer }, users) }
  yield* keepOutcome(delivery, outcome)
  return outcome
}

/** `producer`: the number of the producer; null for the service itself. */
type Sent = Delivery & { producer: number | null }

/** The number of the producer, or undefined if its key is not valid. */
function* producerOf({ producerId, secretHash }: Delivery): Write<number | null | undefined> {
  const found = yield* get<{ number: number; is_valid: unknown }>`
    select number, secret_hash = ${secretHash ?? ''} and revoked_at is null as is_valid from producer where id = ${producerId}`
  if (secretHash === undefined) return found?.number ?? null
  return found?.is_valid ? found.number : undefined
}

type UsedKey = { producerId: string; key: string; bodyHash: string }
type Earlier = { body_hash: string; answer: string }

/** On PostgreSQL it takes the key, with an empty answer, or locks it, and waits for another delivery with it. */
function* earlierOutcome({ producerId, idempotency, at }: Delivery): Write<Earlier | undefined> {
  if (idempotency === null) return undefined
  const { key, bodyHash } = idempotency
  // An erasure waits for it (erasure.store.ts).
  yield* onCitus`select pg_advisory_xact_lock_shared(hashtext('carillon outcomes'))`
  yield* sendOnPostgres`
    insert into delivery (producer_id, idempotency_key, body_hash, answer, at)
    values (${producerId}, ${key}, ${bodyHash}, '', ${at})
    on conflict (producer_id, idempotency_key) do update set at = delivery.at where false`
  return yield* get<Earlier>`
    select body_hash, answer from delivery where producer_id = ${producerId} and idempotency_key = ${key}`
}

/** The outcome of the delivery that used the key with this body; undefined if none did. */
export function* findOutcome({ producerId, key, bodyHash }: UsedKey): Read<DeliveryOutcome | undefined> {
  const found = yield* get<{ answer: string }>`
    select answer from delivery
    where producer_id = ${producerId} and idempotency_key = ${key} and body_hash = ${bodyHash} and answer <> ''`
  return found && JSON.parse(found.answer)
}

function* forgetOutcome({ producerId, idempotency }: Delivery): Write<void> {
  yield* send`delete from delivery where producer_id = ${producerId} and idempotency_key = ${idempotency?.key ?? null}`
}

function* keepOutcome({ producerId, idempotency, at }: Delivery, outcome: DeliveryOutcome): Write<void> {
  if (idempotency === null) return
  yield* send`
    insert into delivery (producer_id, idempotency_key, body_hash, answer, at)
    values (${producerId}, ${idempotency.key}, ${idempotency.bodyHash}, ${JSON.stringify(outcome)}, ${at})
    on conflict (producer_id, idempotency_key) do update set answer = excluded.answer`
}

/** Removes the oldest idempotency keys of those that were used before `before`, some 1,000. Returns whether there are more. */
export function* removeOldDeliveries(before: number): Write<boolean> {
  const last = yield* get<{ at: number }>`
    select at from delivery where at < ${before} order by at limit 1 offset 999`
  yield* send`delete from delivery where at <= ${last?.at ?? before - 1}`
  return last !== undefined
}

/** The id of each recipient's user, or null, in the order of the recipients. */
function* findRecipients({ recipients, application }: Delivery): Write<(string | null)[]> {
  const [one, another] = recipients
  if (one !== undefined && another === undefined) return [yield* findRecipient(one.to, application)]
  const prefix = prefixOf(application)
  const wanted = recipients.map(({ to }) =>
    'externalId' in to ? { externalId: to.externalId, issuer: namespaceOf({ application, issuer: to.issuer }) } : to,
  )
  const found = yield* all<{ id: string | null }>`
    select coalesce(
      (select id from "user" where id = given.value ->> 'userId' and substr(issuer, 1, ${prefix.length}) = ${prefix}),
      (select id from "user" where username = given.value ->> 'username' and substr(issuer, 1, ${prefix.length}) = ${prefix}),
      (select id from "user" where external_id = given.value ->> 'externalId' and issuer = given.value ->> 'issuer')
    ) as id from ${rowsOf(wanted)}`
  return found.map(({ id }) => id)
}

/** Finds one recipient without a list. A list costs a tenth of a delivery on SQLite. */
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

/** Returns the users who are there then. If another delivery creates one at the same time, this one waits and finds that user. */
function* createRecipients(delivery: Delivery, users: (string | null)[]): Write<(string | null)[]> {
  const { recipients, application } = delivery
  const created = recipients.flatMap(({ to, newUserId: id }, n): Created[] => {
    if (users[n] !== null || id === undefined || !('externalId' in to)) return []
    return [{ id, externalId: to.externalId, namespace: namespaceOf({ application, issuer: to.issuer }) }]
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

/** A user, and the id of the notification for the user. */
type Wanted = { userId: string; id: string }

function* deliverToUsers(delivery: Sent, users: readonly (string | null)[]): Write<DeliveryResult[]> {
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
  const arrived = yield* insertNotifications(delivery, earlier.length === 0 ? wanted : wanted.filter(isNew))
  const newest: Arrived[] = []
  for (const one of earlier) {
    yield* replace(delivery, one)
    if (delivery.again && one.mutes) newest.push({ userId: one.userId, id: one.id, seq: one.lastSeq + 1 })
  }
  // Usually there are none.
  if (arrived.length + newest.length > 0)
    for (const { userId, id } of yield* archiveMuted(delivery, [...arrived, ...newest]))
      results.set(userId, { userId, id, status: 'muted' })
  // On PostgreSQL a user can be erased after the delivery found the user and before it locked the inbox; from then on an erasure waits.
  yield* sendOnPostgres`select refuse_erased(array(select given.value from ${valuesOf(wanted.map(({ userId }) => userId))}))`
  return users.map((userId) => results.get(userId ?? '') ?? { userId: null, id: null, status: 'unknown_recipient' })
}

/** Each known user once, with the id that the delivery gave first, in the order in which inboxes are locked. */
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

/** The notifications with the key. Their inboxes, and those of the others, are locked from now on. */
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
  // The users of both tables, because PostgreSQL would read all inboxes to join them.
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
  expires_at, producer`)
/** After the insert of an inbox, or of a category in it, with its first notification. */
const orOneMore = new Part(`
  on conflict (user_id) do update set version = inbox.version + 1, last_seq = inbox.last_seq + 1,
    total = inbox.total + 1, unread = inbox.unread + 1, unseen = inbox.unseen + 1`)
const orOneMoreOfCategory = new Part(`
  on conflict (user_id, category) do update set total = inbox_category.total + 1, unread = inbox_category.unread + 1`)

/** Inserts one notification without lists, which cost a tenth of such a delivery on SQLite. Returns it if the user has muted something. */
function* insertOne(delivery: Sent, { userId, id }: Wanted): Write<readonly Arrived[]> {
  const { content, category, createdAt, producer } = delivery
  const { key, application } = keyColumns(delivery)
  const user = userKey(userId)
  const inbox = yield* get<{ version: number; last_seq: number; mutes: number }>`
    insert into inbox (user_id, version, last_seq, total, unread, unseen) values (${user}, 1, 1, 1, 1, 1)
    ${orOneMore} returning version, last_seq, mutes`
  yield* send`
    insert into notification (${columns})
    values (${user}, ${inbox?.last_seq ?? 0}, ${id}, ${inbox?.version ?? 0}, ${content.title}, ${content.body}, ${content.url},
      ${category}, ${content.data}, ${key}, ${application}, ${createdAt}, ${content.look}, ${content.expires_at},
      ${producer})`
  if (category !== null)
    yield* send`
    insert into inbox_category (user_id, category, total, unread) values (${user}, ${category}, 1, 1)
    ${orOneMoreOfCategory}`
  return inbox?.mutes ? [{ userId, id, seq: inbox.last_seq }] : []
}

const listedUser = new Part("unhex(given.value, '-')", 'given.value')

/** Writes each table once for all users. Returns the notifications of those who have muted something. */
function* insertNotifications(delivery: Sent, wanted: readonly Wanted[]): Write<readonly Arrived[]> {
  const [one, another] = wanted
  if (one === undefined) return []
  if (another === undefined) return yield* insertOne(delivery, one)
  const { content, category, createdAt, producer } = delivery
  const { key, application } = keyColumns(delivery)
  const listed = valuesOf(wanted.map(({ userId }) => userId))
  const inboxes = yield* all<{ user: string; version: number; seq: number; mutes: number }>`
    insert into inbox (user_id, version, last_seq, total, unread, unseen)
    select ${listedUser}, 1, 1, 1, 1, 1 from ${listed} where true
    ${orOneMore} returning ${userDigits} as "user", version, last_seq as seq, mutes`
  const places = new Map(inboxes.map((inbox) => [inbox.user, inbox]))
  const rows = wanted.map(({ userId, id }) => {
    const { version, seq = 0, mutes } = places.get(digitsOf(userId)) ?? {}
    return { userId, id, version, seq, mutes }
  })
  yield* send`
    insert into notification (${columns})
    select ${givenUser}, cast(given.value ->> 'seq' as bigint), given.value ->> 'id', cast(given.value ->> 'version' as bigint),
      ${content.title}, ${content.body}, ${content.url}, ${category}, ${content.data}, ${key}, ${application}, ${createdAt},
      ${content.look}, ${content.expires_at}, cast(${producer} as bigint)
    from ${rowsOf(rows)}`
  if (category !== null)
    yield* send`
    insert into inbox_category (user_id, category, total, unread)
    select ${listedUser}, ${category}, 1, 1 from ${listed} where true
    ${orOneMoreOfCategory}`
  return rows.filter(({ mutes }) => mutes)
}

type Replacement = Pick<Sent, 'content' | 'category' | 'createdAt' | 'producer' | 'again'>

/**
 * Id and createdAt stay. Without `again` so do the sequence number and the read state: the notification keeps its place in the list, the
 * archive or among the snoozed ones. With `again` it becomes the newest in the list and unread, as if it had just arrived.
 */
export function* replace(
  { content, category: to, createdAt, producer, again = false }: Replacement,
  { userId, ...keyed }: Omit<Keyed, 'mutes'>,
): Write<void> {
  const user = userKey(userId)
  const found = { ...keyed, user }
  const { seq, category: from } = found
  const version = found.version + 1
  const before = yield* standingOf(found)
  const isKept = !again && from !== to && seq <= found.categoryThrough
  if (isKept) yield* keepReadState(found)
  if (again) yield* leaveUndo(found)
  const isMade =
    !again && ((yield* isArchivedByLast(found)) || (!isKept && (yield* readByLastReadAll(found)) !== undefined))
  yield* send`
    update notification set title = ${content.title}, body = ${content.body}, url = ${content.url}, category = ${to},
      data = ${content.data}, look = ${content.look}, expires_at = ${content.expires_at},
      producer = ${producer}, updated_at = ${createdAt}, changed_version = ${version}, replaced_version = ${version},
      count = count + ${again ? 1 : 0}
    where user_id = ${user} and seq = ${seq}`
  if (again) yield* makeNewest(found)
  const newest = { place: 'list', isUnread: true, seq: found.lastSeq + 1 } as const
  yield* recount(found, before, { ...before, ...(again && newest), category: to })
  if (!isMade) return
  yield* countMade(found, -1)
  yield* countMade({ user, category: to }, 1)
}

/** A notification that has just arrived. */
type Arrived = { userId: string; id: string; seq: number }

/**
 * Archives those of `arrived` whose users have muted the category or everything, unless the category is mandatory in the producer's
 * application: they arrive archived and read, and do not come back when the mute ends. Returns them.
 */
function* archiveMuted(delivery: Delivery, arrived: readonly Arrived[]): Write<readonly Arrived[]> {
  const { category, application = '', createdAt, producerId } = delivery
  // What the service itself reports about the account.
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
    update notification set read_at = ${createdAt}, away = 'archived', away_at = ${createdAt}
    from ${rowsOf(muted)} where user_id = ${givenUser} and seq = cast(given.value ->> 'seq' as bigint)`
  yield* send`
    update inbox set total = total - 1, unread = unread - 1, unseen = unseen - 1, archived = archived + 1
    where user_id ${users}`
  yield* send`
    update inbox_category set total = total - 1, unread = unread - 1, archived = archived + 1
    where user_id ${users} and category = ${category}`
}
