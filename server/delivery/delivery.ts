import type { Content } from '../inbox/notification-json.ts'
import type { ReachRules, Watch } from '../inbox/reminders.store.ts'
import type { Recognition } from '../users/erasure/erased-ids.store.ts'

export type Recipient =
  | { username: string }
  | { userId: string }
  | { externalId: string; issuer?: string }

export type Delivery = {
  id: string
  producerId: string
  /** Other users are unknown recipients. */
  application?: string | undefined
  secretHash?: string | undefined
  idempotency: { key: string; bodyHash: string } | null
  content: Content
  category: string | null
  createdAt: string
  /** A later delivery of the application with this key replaces the notification. */
  key: string | null
  renotify?: boolean | undefined
  recipients: readonly { to: Recipient; notificationId: string; newUserId?: string }[]
  /** Erased users are not created. */
  erased?: Recognition | undefined
  /** Default 'report'. */
  unknownRecipients?: 'report' | 'refuse' | undefined
  at: number
  watch?: Watch | undefined
} & ReachRules

/** Positions count from 0. Nothing was stored. */
export type UnknownRecipients = { unknown: readonly number[] }

/** 'muted': it arrived archived and read. */
export type DeliveryResult = {
  userId: string | null
  id: string | null
  status: 'delivered' | 'updated' | 'muted' | 'unknown_recipient'
}

export type DeliveryOutcome = { deliveryId: string; results: readonly DeliveryResult[] }

export function maxUnknown({ unknownRecipients, recipients }: Delivery): number {
  return unknownRecipients === 'refuse' ? 0 : recipients.length - 1
}
