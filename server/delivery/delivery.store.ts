// How deliveries are stored: each engine runs them in a form of its own.
import type { WriteForms } from '../store/operations.ts'
import * as onPostgres from './delivery.postgres.ts'
import * as onSqlite from './delivery.sqlite.ts'
import type { Delivery, DeliveryOutcome, UnknownRecipients } from './delivery.ts'

/**
 * Delivers to every known recipient or to none, and records the idempotency key in the same step. A recipient that is
 * named twice, also in two ways, gets one notification. The same key with the same body returns the first outcome and changes
 * nothing; the same key with another body returns 'mismatch'.
 *
 * If no recipient is known, or one is unknown and `unknownRecipients` is 'refuse', it stores nothing, not even the
 * idempotency key, and returns the unknown ones. A recipient with an unknown external id and a `newUserId` is a
 * new user, who is created in the same step. Of deliveries at the same time, one creates the user, and all deliver to that user.
 *
 * If the producer's key no longer has `secretHash` or was revoked, it stores nothing and returns 'refused', also for a repeated
 * idempotency key.
 */
export const deliver: WriteForms<Delivery, DeliveryOutcome | 'mismatch' | 'refused' | UnknownRecipients> = {
  name: 'deliver',
  sqlite: onSqlite.deliver,
  postgres: onPostgres.deliver,
  weightOf: ({ recipients }) => recipients.length,
}

/** Removes the idempotency keys that were used before `before`. */
export const removeOldDeliveries: WriteForms<number, void> = {
  name: 'removeOldDeliveries',
  sqlite: onSqlite.removeOldDeliveries,
  postgres: onPostgres.removeOldDeliveries,
}
