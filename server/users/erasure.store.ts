// Erases a user: every row of the user, and the user in the outcomes of deliveries. One write, so that nothing is left half done.
import {
  all,
  lock,
  lockUsers,
  onCitus,
  record,
  send,
  sendOnPostgres,
  signal,
  userKey,
  type Write,
} from '../store/statements.ts'
import { erasedKey, revoke, type UserChange } from '../tokens/tokens.store.ts'
import { macOf, type Named, type Recognition } from './erased-ids.store.ts'

const tables = 'session token_cutoff known_device one_time_link factor recovery_code challenge'
const ofUser = tables.split(' ').map(deletionFrom)
const inboxTables = 'inbox_category notification category_read_mark read_mark archive_mark removal preference inbox'
const ofInbox = inboxTables.split(' ').map(deletionFrom)

/** A statement is known by its template, so each table has one of its own. Its value is the user. */
function deletionFrom(table: string): TemplateStringsArray {
  const strings = [`delete from ${table} where user_id = `, '']
  return Object.assign(strings, { raw: strings })
}

/**
 * In one step it removes every row of a user, and takes the user out of the outcomes of deliveries. It revokes every token by one
 * row that names the user by `erasedKey` only. A delivery at the same time is erased with the user, or does not find the user.
 * `erased`: the user's external id is recognised from `at` on.
 */
export function* deleteUser(change: UserChange & { erased?: Recognition | undefined }): Write<'done' | 'absent'> {
  const { userId, at, erased } = change
  // On Citus the table of deliveries is copied to every node, and an update locks the whole copy. A delivery with an idempotency key
  // writes to it before it locks an inbox, and an erasure after that. So an erasure waits for these deliveries first.
  yield* onCitus`select pg_advisory_xact_lock(hashtext('carillon outcomes'))`
  yield* lockUsers()
  const user = yield* lock<Named>`
    select issuer as namespace, external_id as "externalId" from "user" where id = ${userId}`
  if (user === undefined) return 'absent'
  yield* eraseInbox(userId)
  for (const deletion of ofUser) yield* send(deletion, userId)
  yield* send`delete from audit where user_id = ${userId}`
  yield* send`delete from provider_account where owner_id = ${userId}`
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

/** Waits for the deliveries that have locked the inbox, also those that create it. Later ones find no user. */
function* eraseInbox(userId: string): Write<void> {
  const user = userKey(userId)
  yield* sendOnPostgres`insert into inbox (user_id) values (${userId}) on conflict do nothing`
  yield* sendOnPostgres`select 1 from inbox where user_id = ${userId} for update`
  for (const deletion of ofInbox) yield* send(deletion, user)
}

/** One caller at a time: two could change the same outcomes in different orders. */
function* removeFromOutcomes(userId: string): Write<void> {
  yield* sendOnPostgres`select pg_advisory_xact_lock(hashtext('carillon outcomes'))`
  const outcomes = yield* all<{ producerId: string; idempotencyKey: string; answer: string }>`
    select producer_id as "producerId", idempotency_key as "idempotencyKey", answer from delivery
    where answer like ${`%${userId}%`}`
  for (const { producerId, idempotencyKey, answer } of outcomes) {
    const { deliveryId, results } = JSON.parse(answer) as { deliveryId: string; results: { userId: string | null }[] }
    const others = results.map((result) =>
      result.userId === userId ? { userId: null, id: null, status: 'unknown_recipient' } : result,
    )
    yield* send`
      update delivery set answer = ${JSON.stringify({ deliveryId, results: others })}
      where producer_id = ${producerId} and idempotency_key = ${idempotencyKey}`
  }
}
