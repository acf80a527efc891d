// Deliveries and their idempotency keys on PostgreSQL. How a delivery writes is in functions/deliveries.sql.
import type { Delivery, DeliveryOutcome } from '../store.ts'
import type { Database } from './connection/connection.ts'

export async function deliver(db: Database, delivery: Delivery): Promise<DeliveryOutcome | 'mismatch'> {
  const { id, producerId, idempotency, recipients, content, category, key, again = false, at } = delivery
  const usernames = recipients.map(({ to }) => ('username' in to ? to.username : null))
  const userIds = recipients.map(({ to }) => ('userId' in to ? to.userId : null))
  const notificationIds = recipients.map(({ notificationId }) => notificationId)
  const keyed = [idempotency?.key ?? null, idempotency?.bodyHash ?? null]
  const values = [id, producerId, ...keyed, usernames, userIds, notificationIds, content, category, key, again, at]
  const row = await db.one(
    'deliver',
    'select deliver_notification($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)',
    values,
  )
  if (row?.[0] === 'mismatch') return 'mismatch'
  const outcome = JSON.parse(row?.[0] as string) as DeliveryOutcome
  // Another id is the first outcome of a repeated idempotency key: nothing has changed now.
  if (outcome.deliveryId === id)
    for (const userId of new Set(outcome.results.map((result) => result.userId)))
      if (userId !== null) db.changeSignals.send({ about: 'inbox', userId })
  return outcome
}

export async function removeOldDeliveries(db: Database, before: number): Promise<void> {
  const text = `delete from delivery where ctid = any (array(
      select ctid from delivery where at < $1 order by at limit $2 for update skip locked
    ))`
  await db.removeInBatches('removeOldDeliveries', text, [before])
}
