// The producers, applications that send notifications, and the secrets of their keys.
import type { Audited } from '../audit/audit.promise.ts'

export type Producer = {
  id: string
  name: string
  /** The application whose users the producer reaches, and no others; '' for every user. */
  application: string
  secretHash: string
  scopes: readonly string[]
  createdAt: number
  expiresAt: number | null
  revokedAt: number | null
  lastUsedAt: number | null
  /** The secret before the last rotation, which is accepted until `previousUntil`; null without one. */
  previousSecretHash: string | null
  previousUntil: number | null
}

type FreshProducer = Omit<
  Producer,
  'application' | 'revokedAt' | 'lastUsedAt' | 'previousSecretHash' | 'previousUntil'
> & { application?: string }

export interface Producers {
  addProducer(producer: FreshProducer & Audited): Promise<void>
  findProducer(producerId: string): Promise<Producer | undefined>
  /** Lists producers, oldest first, including revoked ones. */
  listProducers(): Promise<Producer[]>
  /** Revokes a producer's key. Repeating the call keeps the first `revokedAt`. */
  revokeProducer(change: { producerId: string; at: number } & Audited): Promise<'done' | 'absent'>
  touchProducer(change: { producerId: string; at: number }): Promise<void>
  /**
   * Gives a producer a new secret; the one before becomes the previous one, and one before that is forgotten. If the producer is
   * unknown or revoked, it changes nothing and returns 'absent'.
   */
  rotateProducer(
    change: { producerId: string; secretHash: string; previousUntil: number } & Audited,
  ): Promise<'done' | 'absent'>
}
