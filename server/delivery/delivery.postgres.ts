// Deliveries and their idempotency keys on PostgreSQL. Concurrent ones are written together by functions/deliveries-together.sql; the
// rest is in functions/deliveries.sql, and who receives it in functions/recipients.sql.

import type { Database } from '../store/postgres/connection/connection.ts'
import { sqlState } from '../store/postgres/connection/failures.ts'
import { alone, briefly, type Read, type Together } from '../store/postgres/connection/gathering.ts'
import { keyColumns, namespaceOf, prefixOf } from '../users/namespaces.ts'
import { type Delivery, type DeliveryOutcome, maxUnknown, type Recipient, type UnknownRecipients } from './delivery.ts'

/** A recipient was erased between two statements of the delivery, which was rolled back. */
const recipientErased = 'CA002'

type Outcome = DeliveryOutcome | 'mismatch' | 'refused' | UnknownRecipients

export async function deliver(db: Database, delivery: Delivery): Promise<Outcome> {
  const gathered = isGathered(db, delivery) ? await db.together(deliveriesTogether, delivery) : alone
  const answer = gathered === alone ? await deliverAlone(db, delivery) : gathered
  if (answer === 'mismatch' || answer === 'refused') return answer
  const outcome = JSON.parse(answer) as DeliveryOutcome | UnknownRecipients
  // Another id is the first outcome of a repeated idempotency key: nothing has changed now.
  if ('results' in outcome && outcome.deliveryId === delivery.id)
    for (const userId of new Set(outcome.results.map((result) => result.userId)))
      if (userId !== null) db.changeSignals.send({ about: 'inbox', userId })
  return outcome
}

/** A larger delivery gains nothing, and those beside it would wait for it. */
const maxGathered = 100

function isGathered(db: Database, { key, recipients }: Delivery): boolean {
  return key === null && recipients.length <= maxGathered && !db.isDistributed
}

const deliveriesTogether: Together<Delivery, string> = {
  async run(read, deliveries) {
    const [one, another] = deliveries
    // The statement for many costs a third more for one.
    if (one !== undefined && another === undefined)
      return [(await read(...briefly(statementOf(one))))[0]?.[1] as string]
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
        issuer: namespaceOfRecipient(delivery, to),
        is_new: newUserId !== undefined && 'externalId' in to,
        id: notificationId,
      })),
    ),
  }
}

async function deliverAlone(db: Database, delivery: Delivery): Promise<string> {
  const row = await db.one(...statementOf(delivery)).catch((error: unknown) => {
    if (sqlState(error) !== recipientErased) throw error
  })
  return row === undefined ? deliverAlone(db, delivery) : (row[0] as string)
}

function statementOf(delivery: Delivery): Parameters<Read> {
  const given = 'json_populate_record(null::notification, $13)'
  const text = `select deliver_checked($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, ${given}, $14, $15)`
  return ['deliver', text, [delivery.secretHash ?? null, ...valuesOf(delivery)]]
}

/** The namespace of an external id. If a username or an id names the user, what the user's namespace has to begin with. */
function namespaceOfRecipient({ application }: Delivery, to: Recipient): string | undefined {
  if ('externalId' in to) return namespaceOf({ application, issuer: to.issuer })
  return application ? prefixOf(application) : undefined
}

function valuesOf(delivery: Delivery) {
  const { id, producerId, idempotency, recipients, content, category, createdAt, again = false, at } = delivery
  const recipientsBy = (read: (to: Recipient) => string | undefined) => recipients.map(({ to }) => read(to) ?? null)
  return [
    id,
    producerId,
    idempotency?.key ?? null,
    idempotency?.bodyHash ?? null,
    recipientsBy((to) => ('username' in to ? to.username : undefined)),
    recipientsBy((to) => ('userId' in to ? to.userId : undefined)),
    recipientsBy((to) => ('externalId' in to ? to.externalId : undefined)),
    recipientsBy((to) => namespaceOfRecipient(delivery, to)),
    recipients.map(({ newUserId }) => newUserId ?? null),
    recipients.map(({ notificationId }) => notificationId),
    maxUnknown(delivery),
    JSON.stringify({ ...content, category, created_at: createdAt, ...keyColumns(delivery) }),
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
