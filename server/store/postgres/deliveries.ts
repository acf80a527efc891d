// Deliveries and their idempotency keys on PostgreSQL. How a delivery writes is in functions/deliveries.sql, and who receives it in
// functions/recipients.sql.

import { maxUnknown } from '../operations.ts'
import type { Delivery, DeliveryOutcome, Input, Recipient, UnknownRecipients } from '../store.ts'
import { type Database, sqlState } from './connection/connection.ts'

/** A recipient was erased between two statements of the delivery, which was rolled back. */
const recipientErased = 'CA002'

export async function deliver(
  db: Database,
  delivery: Delivery,
): Promise<DeliveryOutcome | 'mismatch' | UnknownRecipients> {
  const text = 'select deliver_notification($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)'
  const row = await db.one('deliver', text, valuesOf(delivery)).catch((error: unknown) => {
    if (sqlState(error) !== recipientErased) throw error
  })
  if (row === undefined) return deliver(db, delivery)
  if (row[0] === 'mismatch') return 'mismatch'
  const outcome = JSON.parse(row[0] as string) as DeliveryOutcome | UnknownRecipients
  // Another id is the first outcome of a repeated idempotency key: nothing has changed now.
  if ('results' in outcome && outcome.deliveryId === delivery.id)
    for (const userId of new Set(outcome.results.map((result) => result.userId)))
      if (userId !== null) db.changeSignals.send({ about: 'inbox', userId })
  return outcome
}

function valuesOf(delivery: Input<'deliver'>) {
  const { id, producerId, idempotency, recipients, content, category, key, again = false, at } = delivery
  const recipientsBy = (read: (to: Recipient) => string | undefined) => recipients.map(({ to }) => read(to) ?? null)
  return [
    id,
    producerId,
    idempotency?.key ?? null,
    idempotency?.bodyHash ?? null,
    recipientsBy((to) => ('username' in to ? to.username : undefined)),
    recipientsBy((to) => ('userId' in to ? to.userId : undefined)),
    recipientsBy((to) => ('externalId' in to ? to.externalId : undefined)),
    recipientsBy((to) => ('externalId' in to ? (to.issuer ?? '') : undefined)),
    recipients.map(({ newUserId }) => newUserId ?? null),
    recipients.map(({ notificationId }) => notificationId),
    maxUnknown(delivery),
    content,
    category,
    key,
    again,
    at,
  ]
}

export async function removeOldDeliveries(db: Database, before: number): Promise<void> {
  const text = `delete from delivery where ctid = any (array(
      select ctid from delivery where at < $1 order by at limit $2 for update skip locked
    ))`
  await db.removeInBatches('removeOldDeliveries', text, [before])
}
