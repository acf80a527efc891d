// functions/deliver-together.sql writes deliveries together. Rare ones run as on SQLite.
import { usualDueTimes } from '../inbox/mail-rules.ts'
import type { Database } from '../store/postgres/connection/connection.ts'
import { alone, type Together } from '../store/postgres/connection/gathering.ts'
import { namespaceOf } from '../users/users.store.ts'
import {
  type Delivery,
  type DeliveryOutcome,
  maxUnknown,
  type UnknownRecipients,
} from './delivery.ts'

type Outcome = DeliveryOutcome | 'refused' | UnknownRecipients

/** A larger delivery gains nothing, and those beside it would wait. */
const maxGathered = 100

export async function deliverTogether(
  db: Database,
  delivery: Delivery,
): Promise<Outcome | typeof alone> {
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
    const rows = await read('deliverTogether', 'select deliver_together($1)', [
      JSON.stringify(batchOf(deliveries)),
    ])
    const answers = rows[0]?.[0] as unknown as readonly (string | null)[]
    return answers.map((answer) => answer ?? alone)
  },
  weightOf: ({ recipients }) => recipients.length,
  keyOf: ({ producerId, idempotency }) =>
    idempotency === null ? undefined : `${producerId} ${idempotency.key}`,
}

/** Calculating a digest takes 0.1 ms, so it is kept for a second. */
let dueTimes = { second: Number.NaN, times: usualDueTimes(0) }

function dueTimesAt(at: number) {
  const second = Math.floor(at / 1_000)
  if (second !== dueTimes.second) dueTimes = { second, times: usualDueTimes(at) }
  return dueTimes.times
}

function batchOf(deliveries: readonly Delivery[]) {
  const [first] = deliveries
  return {
    mail_unread: first?.mailUnread,
    is_watched: deliveries.some(({ watch }) => watch !== undefined),
    push_delay: first?.pushDelayMs,
    due: dueTimesAt(first?.at ?? 0),
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
      ...watchOf(delivery),
    })),
    recipients: deliveries.flatMap((delivery, n) =>
      delivery.recipients.map(({ to, notificationId, newUserId }, place) => ({
        n,
        place,
        ...('username' in to && { username: to.username }),
        ...('userId' in to && { user_id: to.userId }),
        ...('externalId' in to && { external_id: to.externalId }),
        // If a username or id names the recipient, the namespace only has to begin with this.
        issuer: namespaceOf({
          application: delivery.application,
          issuer: 'issuer' in to ? to.issuer : undefined,
        }),
        is_new: newUserId !== undefined && 'externalId' in to,
        id: notificationId,
      })),
    ),
  }
}

function watchOf({ watch, at }: Delivery) {
  if (watch === undefined) return {}
  const { marks, arrivals, unreadAfterMs } = watch
  return { watch: { marks, arrivals, due: unreadAfterMs === null ? null : at + unreadAfterMs } }
}
