// Delivers notifications, once per idempotency key: to all known recipients or none (the writer thread's transaction).

import {
  countMadeRead,
  isMarkedUnread,
  isUnreadNow,
  keepReadState,
  leaveUndo,
  type ReadState,
  readByLastReadAll,
} from '../inbox/sqlite/undoable.ts'
import type { WriteContext } from '../store/sqlite/context.ts'
import { type UserKey, userKey } from '../store/sqlite/user-key.ts'
import { keyColumns, namespaceOf, prefixOf } from '../users/namespaces.ts'
import {
  type Delivery,
  type DeliveryOutcome,
  type DeliveryResult,
  maxUnknown,
  type Recipient,
  type UnknownRecipients,
} from './delivery.ts'

type Outcome = DeliveryOutcome | 'mismatch' | 'refused' | UnknownRecipients

export function deliver(context: WriteContext, delivery: Delivery): Outcome {
  const { sql } = context
  const { idempotency, producerId, secretHash } = delivery
  if (secretHash !== undefined && !hasKey(context, { producerId, secretHash })) return 'refused'
  if (idempotency !== null) {
    const earlier = sql.get`
      select body_hash, answer from delivery
      where producer_id = ${producerId} and idempotency_key = ${idempotency.key}`
    if (earlier !== undefined)
      return earlier.body_hash === idempotency.bodyHash ? JSON.parse(earlier.answer as string) : 'mismatch'
  }
  const found = delivery.recipients.map(({ to }) => findRecipient(context, delivery, to))
  const unknown = [...found.keys()].filter((n) => found[n] === undefined && !isNew(delivery.recipients[n]))
  if (unknown.length > maxUnknown(delivery)) return { unknown }
  const outcome = { deliveryId: delivery.id, results: deliverToEach(context, delivery, found) }
  if (idempotency !== null)
    sql.run`
      insert into delivery (producer_id, idempotency_key, body_hash, answer, at)
      values (${producerId}, ${idempotency.key}, ${idempotency.bodyHash}, ${JSON.stringify(outcome)}, ${delivery.at})`
  return outcome
}

function hasKey(
  { sql }: WriteContext,
  { producerId, secretHash }: { producerId: string; secretHash: string },
): boolean {
  const found = sql.get`
    select 1 from producer where id = ${producerId} and secret_hash = ${secretHash} and revoked_at is null`
  return found !== undefined
}

export function removeOldDeliveries({ sql }: WriteContext, before: number): void {
  sql.run`delete from delivery where at < ${before}`
}

type To = Delivery['recipients'][number]
/** The ids of the users who are recipients. */
type Found = readonly (string | undefined)[]

/** Whether a recipient that was not found becomes a user. */
function isNew(recipient: To | undefined): boolean {
  return recipient?.newUserId !== undefined && 'externalId' in recipient.to
}

function deliverToEach(context: WriteContext, delivery: Delivery, found: Found): DeliveryResult[] {
  const results = new Map<string, DeliveryResult>()
  return delivery.recipients.map((recipient, n) => {
    const userId = found[n] ?? createRecipient(context, delivery, recipient)
    if (userId === undefined) return { userId: null, id: null, status: 'unknown_recipient' }
    const { notificationId } = recipient
    const one = { delivery, user: userKey(userId), userId, notificationId }
    const result = results.get(userId) ?? deliverToOne(context, one)
    results.set(userId, result)
    return result
  })
}

function findRecipient({ sql }: WriteContext, { application }: Delivery, to: Recipient): string | undefined {
  const prefix = prefixOf(application)
  const user =
    'userId' in to
      ? sql.get`select id from user
            where id = ${to.userId} and instr(issuer, ${prefix}) = 1`
      : 'username' in to
        ? sql.get`select id from user
            where username = ${to.username} and instr(issuer, ${prefix}) = 1`
        : sql.get`
            select id from user
            where external_id = ${to.externalId} and issuer = ${namespaceOf({ application, issuer: to.issuer })}`
  return user?.id as string | undefined
}

/** An earlier recipient of the same delivery may have the same external id. */
function createRecipient(context: WriteContext, delivery: Delivery, { to, newUserId }: To): string | undefined {
  if (newUserId === undefined || !('externalId' in to)) return undefined
  const { application, at } = delivery
  const added = context.sql.get`
    insert into user (id, external_id, issuer, created_at)
    values (${newUserId}, ${to.externalId}, ${namespaceOf({ application, issuer: to.issuer })}, ${at})
    on conflict (external_id, issuer) where external_id is not null do nothing
    returning id`
  return (added?.id as string | undefined) ?? findRecipient(context, delivery, to)
}

type OneDelivery = { delivery: Delivery; user: UserKey; userId: string; notificationId: string }

function deliverToOne(context: WriteContext, one: OneDelivery): DeliveryResult {
  const { delivery, user, userId } = one
  const { key, application } = keyColumns(delivery)
  const earlier =
    key === null
      ? undefined
      : context.sql.get`
          select n.user_id, n.id, n.seq, n.category, n.read_at, n.unread_version, i.read_through,
            i.read_version, i.undo_version, i.category_through
          from notification n join inbox i on i.user_id = n.user_id
          where n.user_id = ${user} and n.key = ${key} and n.application = ${application}`
  context.signal({ about: 'inbox', userId })
  if (earlier === undefined) return insertNotification(context, one)
  const replace = delivery.again ? sendAgain : replaceInPlace
  return replace(context, one, earlier as unknown as Earlier)
}

function insertNotification({ sql }: WriteContext, one: OneDelivery): DeliveryResult {
  const { delivery, user, userId, notificationId } = one
  const { content, category, createdAt } = delivery
  const { key, application } = keyColumns(delivery)
  const inbox = sql.get`
    insert into inbox (user_id, version, first_seq, last_seq, total, unread, read_through) values (${user}, 1, 1, 1, 1, 1, 0)
    on conflict (user_id) do update set
      version = version + 1, last_seq = last_seq + 1, total = total + 1, unread = unread + 1
    returning version, last_seq`
  sql.run`
    insert into notification (user_id, seq, id, version, title, body, url, category, data, key, application, created_at)
    values (${user}, ${inbox?.last_seq as number}, ${notificationId}, ${inbox?.version as number}, ${content.title},
      ${content.body}, ${content.url}, ${category}, ${content.data}, ${key}, ${application}, ${createdAt})`
  countInCategory(sql, { user, category, total: 1, unread: 1 })
  return { userId, id: notificationId, status: 'delivered' }
}

type Earlier = ReadState & { id: string }

/** Id, sequence number, createdAt and read state stay, so the notification keeps its place in the list. */
function replaceInPlace(
  { sql }: WriteContext,
  { delivery, user, userId }: OneDelivery,
  earlier: Earlier,
): DeliveryResult {
  const { id, seq, category } = earlier
  const unread = isUnreadNow(sql, earlier) ? 1 : 0
  const isKept = category !== delivery.category && seq <= earlier.category_through
  if (isKept) keepReadState(sql, earlier)
  const isMadeRead = !isKept && readByLastReadAll(sql, earlier) !== undefined
  const { content, createdAt } = delivery
  const inbox = sql.get`
    update inbox set version = version + 1 where user_id = ${user} returning version`
  sql.run`
    update notification set title = ${content.title}, body = ${content.body}, url = ${content.url},
      category = ${delivery.category}, data = ${content.data}, updated_at = ${createdAt}, changed_version = ${inbox?.version as number},
      replaced_version = ${inbox?.version as number}
    where user_id = ${user} and seq = ${seq}`
  if (isMadeRead) countMadeRead(sql, { user, category, more: -1 })
  moveCategory(sql, { user, from: category, to: delivery.category, wasUnread: unread, isUnread: unread })
  if (isMadeRead) countMadeRead(sql, { user, category: delivery.category, more: 1 })
  return { userId, id, status: 'updated' }
}

/** The notification becomes the newest and unread, as if it had just arrived; id and createdAt stay. */
function sendAgain({ sql }: WriteContext, { delivery, user, userId }: OneDelivery, earlier: Earlier): DeliveryResult {
  const { id, seq, category } = earlier
  const wasUnread = isUnreadNow(sql, earlier) ? 1 : 0
  if (readByLastReadAll(sql, earlier) !== undefined) leaveUndo(sql, earlier)
  const { content, createdAt } = delivery
  const inbox = sql.get`
    update inbox set version = version + 1, last_seq = last_seq + 1, unread = unread + ${1 - wasUnread},
      marked_unread = marked_unread - ${isMarkedUnread(sql, earlier) ? 1 : 0}
    where user_id = ${user} returning version, first_seq, last_seq`
  sql.run`
    update notification set title = ${content.title}, body = ${content.body}, url = ${content.url},
      category = ${delivery.category}, data = ${content.data}, updated_at = ${createdAt}, seq = ${inbox?.last_seq as number}, count = count + 1, read_at = null, unread_version = null,
      version = ${inbox?.version as number}, changed_version = null, replaced_version = ${inbox?.version as number}
    where user_id = ${user} and seq = ${seq}`
  if (inbox?.first_seq === seq)
    sql.run`
      update inbox set first_seq = (select min(seq) from notification where user_id = ${user})
      where user_id = ${user}`
  moveCategory(sql, { user, from: category, to: delivery.category, wasUnread, isUnread: 1 })
  return { userId, id, status: 'updated' }
}

type Move = { user: UserKey; from: string | null; to: string | null; wasUnread: number; isUnread: number }

function moveCategory(sql: WriteContext['sql'], { user, from, to, wasUnread, isUnread }: Move): void {
  countInCategory(sql, { user, category: from, total: -1, unread: -wasUnread })
  sql.run`delete from inbox_category where user_id = ${user} and total = 0`
  countInCategory(sql, { user, category: to, total: 1, unread: isUnread })
}

type Count = { user: UserKey; category: string | null; total: number; unread: number }

function countInCategory(sql: WriteContext['sql'], { user, category, total, unread }: Count): void {
  if (category === null) return
  sql.run`
    insert into inbox_category (user_id, category, total, unread) values (${user}, ${category}, ${total}, ${unread})
    on conflict (user_id, category) do update set total = total + excluded.total, unread = unread + excluded.unread`
}
