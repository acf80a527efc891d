// Erases a user in one write, so nothing is left half done.

import { record } from '../../audit/audit.store.ts'
import { userKey } from '../../inbox/user-key.ts'
import { addEvent, receiversOf, wants } from '../../inbox/webhook-events.store.ts'
import {
  all,
  lock,
  onCitus,
  send,
  sendOnPostgres,
  signal,
  type Write,
} from '../../store/statements.ts'
import { erasedKey, revoke, type UserChange } from '../../tokens/tokens.store.ts'
import { isLastOperator } from '../access/roles.store.ts'
import { lockUsers } from '../users.store.ts'
import { macOf, type Named, type Recognition } from './erased-ids.store.ts'

/** `prefixOf` of users.store.ts has it, too. */
const endOfApplication = '\u0001'
const tables = 'session revocation known_device one_time_link factor recovery_code challenge'
const ofUser = tables.split(' ').map(deletionFrom)
const inboxTables = 'inbox_category notification bulk removal preference reminder inbox'
const ofInbox = inboxTables.split(' ').map(deletionFrom)

/** A template identifies its statement, so each table has one. */
function deletionFrom(table: string): TemplateStringsArray {
  const strings = [`delete from ${table} where user_id = `, '']
  return Object.assign(strings, { raw: strings })
}

type Erasure = UserChange & { erased?: Recognition | undefined }

/**
 * Removes every row of a user, and takes the user out of deliveries' outcomes. One row revokes the
 * tokens by `erasedKey`. A simultaneous delivery is erased too, or does not find the user.
 * `erased`: the external id is recognised from `at` on. Returns 'last-operator', and changes
 * nothing, for the last operator.
 */
export function* deleteUser(change: Erasure): Write<'done' | 'absent' | 'last-operator'> {
  const { userId, at, erased } = change
  // On Citus, an update of deliveries locks every copy. A delivery writes there before it locks an
  // inbox, so the erasure first waits for it.
  yield* onCitus`select pg_advisory_xact_lock(hashtext('carillon outcomes'))`
  yield* lockUsers()
  if (yield* isLastOperator(userId)) return 'last-operator'
  const user = yield* lock<Named>`
    select issuer as namespace, external_id as "externalId" from "user" where id = ${userId}`
  if (user === undefined) return 'absent'
  yield* eraseInbox(userId)
  for (const deletion of ofUser) yield* send(deletion, userId)
  yield* send`delete from audit where user_id = ${userId}`
  yield* send`delete from provider_account where owner_id = ${userId}`
  yield* send`delete from outbox where owner_id = ${userId}`
  yield* send`delete from push_subscription where owner_id = ${userId}`
  yield* tellWebhooks(change, user)
  yield* send`delete from guess_count where key >= ${`user ${userId} `} and key < ${`user ${userId}!`}`
  yield* send`delete from "user" where id = ${userId}`
  if (erased !== undefined && user.externalId !== null)
    yield* send`
      insert into erased_id (mac, erased_at) values (${macOf(erased, user)}, ${at})
      on conflict (mac) do update set erased_at = excluded.erased_at`
  yield* removeFromOutcomes(userId)
  yield* revoke({ userId: erasedKey(userId), signInId: '', at })
  yield* record(change.audit)
  yield* signal({ about: 'session', userId })
  yield* signal({ about: 'inbox', userId })
  return 'done'
}

/** Applications know the user by external id, so the row has it until it is sent. */
function* tellWebhooks({ userId, at }: Erasure, { namespace, externalId }: Named): Write<void> {
  const [application = '', issuer] = namespace.split(endOfApplication)
  for (const webhook of yield* receiversOf(['', issuer === undefined ? '' : application])) {
    if (!wants(webhook, 'user.erased')) continue
    const user = { id: userId, username: null, externalId }
    const row = { id: `erased-${userId}-${webhook.id}`, webhook, ownerId: '', at }
    yield* addEvent(row, { type: 'user.erased', user })
  }
}

function* eraseInbox(userId: string): Write<void> {
  const user = userKey(userId)
  yield* sendOnPostgres`insert into inbox (user_id) values (${userId}) on conflict do nothing`
  yield* sendOnPostgres`select 1 from inbox where user_id = ${userId} for update`
  for (const deletion of ofInbox) yield* send(deletion, user)
}

/** Two callers could change the same outcomes in different order. */
function* removeFromOutcomes(userId: string): Write<void> {
  yield* sendOnPostgres`select pg_advisory_xact_lock(hashtext('carillon outcomes'))`
  const outcomes = yield* all<{ producerId: string; idempotencyKey: string; answer: string }>`
    select producer_id as "producerId", idempotency_key as "idempotencyKey", answer from delivery
    where answer like ${`%${userId}%`}`
  for (const { producerId, idempotencyKey, answer } of outcomes) {
    const { deliveryId, results } = JSON.parse(answer) as {
      deliveryId: string
      results: { userId: string | null }[]
    }
    const others = results.map((result) =>
      result.userId === userId ? { userId: null, id: null, status: 'unknown_recipient' } : result,
    )
    yield* send`
      update delivery set answer = ${JSON.stringify({ deliveryId, results: others })}
      where producer_id = ${producerId} and idempotency_key = ${idempotencyKey}`
  }
}
