// What a delivery is: its recipients and content, and the outcome that is kept by idempotency key.
import type { Content } from '../inbox/notification-json.ts'
import type { Recognition } from '../users/erased-ids.store.ts'

/** An external id without an issuer is a plain one. */
export type Recipient = { username: string } | { userId: string } | { externalId: string; issuer?: string }

export type Delivery = {
  id: string
  producerId: string
  /** The application of the producer: users who are not of it are unknown recipients. Without one, every user is known. */
  application?: string | undefined
  /** The hash of the producer's key, as the caller checked it; without one, nothing is checked. */
  secretHash?: string | undefined
  idempotency: { key: string; bodyHash: string } | null
  content: Content
  category: string | null
  /** ISO 8601. */
  createdAt: string
  /**
   * At most one notification of an inbox has this key of the application (of none is one more): a later delivery replaces the content of
   * the earlier one.
   */
  key: string | null
  /**
   * Default false. If the delivery replaces a notification: true makes that one unread and the newest, with a new sequence number and a
   * `count` raised by one; false leaves its place, read state and `count`. Both keep id and createdAt, and set updatedAt.
   */
  again?: boolean | undefined
  /** With `newUserId`, an unknown external id becomes a user of the application, with this id. */
  recipients: readonly { to: Recipient; notificationId: string; newUserId?: string }[]
  /** Recognises the external ids of erased users, who are not created. */
  erased?: Recognition | undefined
  /** Default 'report'. With 'refuse', no user is created, and one unknown recipient is enough to deliver nothing. */
  unknownRecipients?: 'report' | 'refuse' | undefined
  at: number
}

/** The positions of the unknown recipients, counted from 0. Nothing was stored. */
export type UnknownRecipients = { unknown: readonly number[] }

/** 'muted': it arrived archived and read, because the user has muted its category or everything. */
export type DeliveryResult = {
  userId: string | null
  id: string | null
  status: 'delivered' | 'updated' | 'muted' | 'unknown_recipient'
}

export type DeliveryOutcome = { deliveryId: string; results: readonly DeliveryResult[] }

/** How many recipients may be unknown. At least one must be known. */
export function maxUnknown({ unknownRecipients, recipients }: Delivery): number {
  return unknownRecipients === 'refuse' ? 0 : recipients.length - 1
}
