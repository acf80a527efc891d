// Deliveries on PostgreSQL. Concurrent ones are written together, by functions/deliver-together.sql, and one alone by the same. What is rare
// runs alone as on SQLite (delivery.store.ts): a repeated idempotency key, a key of notifications, a new user, many recipients, Citus.
import type { Database } from '../store/postgres/connection/connection.ts'
import { alone, type Together } from '../store/postgres/connection/gathering.ts'
import { namespaceOf } from '../users/users.store.ts'
import { type Delivery, type DeliveryOutcome, maxUnknown, type UnknownRecipients } from './delivery.ts'

type Outcome = DeliveryOutcome | 'refused' | UnknownRecipients

/** A larger delivery gains nothing, and those beside it would wait for it. */
const maxGathered = 100

export async function deliverTogether(db: Database, delivery: Delivery): Promise<Outcome | typeof alone> {
  if (delivery.key !== null || delivery.recipients.length > maxGathered) return alone
  const answer = await db.together(deliveriesTogether, delivery)
  if (answer === alone || answer === 'refused') return answer
  const outcome = JSON.parse(answer) as DeliveryOutcome | UnknownRecipients
  if ('results' in outcome)
    for (const userId of new Set(outcome.results.map((result) => result.userId)))
      if (userId !== null) db.changeSignals.send({ about: 'inbox', userId })
  return outcome
}

const deliveriesTogether: Together<Delivery, string> = {
  async run(read, deliveries) {
    const rows = await read('deliverTogether', 'select deliver_together($1)', [JSON.stringify(batchOf(deliveries))])
    const answers = rows[0]?.[0] as unknown as readonly (string | null)[]
    return answers.map((answer) => answer ?? alone)
  },
  weightOf: ({ recipients }) => recipients.length,
  keyOf: ({ producerId, idempotency }) => (idempotency === null ? undefined : `${producerId} ${idempotency.key}`),
}

function batchOf(deliveries: readonly Delivery[]) {
  return {
    deliveries: deliveries.map((delivery, n) => ({
      n,
      id: delivery.id,
      producer: delivery.producerId,
      application: delivery.application ?? '',
      secret_hash: delivery.secretHash,
      idempotency_key: delivery.idempotency?.key,
      body_hash: delivery.idempotency?.bodyHash,
      max_unknown: maxUnknown(delivery),
      ...delivery.content,
      category: delivery.category,
      created_at: delivery.createdAt,
      at: delivery.at,
    })),
    recipients: deliveries.flatMap((delivery, n) =>
      delivery.recipients.map(({ to, notificationId, newUserId }, place) => ({
        n,
        place,
        ...('username' in to && { username: to.username }),
        ...('userId' in to && { user_id: to.userId }),
        ...('externalId' in to && { external_id: to.externalId }),
        // The namespace of a user who is named by username or id only has to begin with this.
        issuer: namespaceOf({ application: delivery.application, issuer: 'issuer' in to ? to.issuer : undefined }),
        is_new: newUserId !== undefined && 'externalId' in to,
        id: notificationId,
      })),
    ),
  }
}
