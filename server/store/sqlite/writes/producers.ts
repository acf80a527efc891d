// Adds producers, revokes their keys and records when a key was used. Each write runs in the writer thread's transaction.
import type { Producer } from '../../store.ts'
import type { WriteContext } from './context.ts'

export function addProducer({ sql }: WriteContext, producer: Omit<Producer, 'revokedAt' | 'lastUsedAt'>): void {
  sql.run`
    insert into producer (id, name, secret_hash, scopes, created_at, expires_at)
    values (${producer.id}, ${producer.name}, ${producer.secretHash}, ${producer.scopes.join(',')},
      ${producer.createdAt}, ${producer.expiresAt})`
}

type ProducerChange = { producerId: string; at: number }

export function revokeProducer({ sql }: WriteContext, { producerId, at }: ProducerChange): 'done' | 'absent' {
  const { changes } = sql.run`
    update producer set revoked_at = coalesce(revoked_at, ${at}) where id = ${producerId}`
  return changes === 1 ? 'done' : 'absent'
}

export function touchProducer({ sql }: WriteContext, { producerId, at }: ProducerChange): void {
  sql.run`update producer set last_used_at = ${at} where id = ${producerId}`
}
