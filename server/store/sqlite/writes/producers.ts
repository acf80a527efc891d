// Adds producers, revokes their keys and records when a key was used. Each write runs in the writer thread's transaction.
import type { Input } from '../../store.ts'
import type { WriteContext } from './context.ts'

export function addProducer({ sql }: WriteContext, producer: Input<'addProducer'>): void {
  sql.run`
    insert into producer (id, name, secret_hash, scopes, created_at, expires_at)
    values (${producer.id}, ${producer.name}, ${producer.secretHash}, ${producer.scopes.join(',')},
      ${producer.createdAt}, ${producer.expiresAt})`
}

export function revokeProducer({ sql }: WriteContext, { producerId, at }: Input<'revokeProducer'>): 'done' | 'absent' {
  const { changes } = sql.run`
    update producer set revoked_at = coalesce(revoked_at, ${at}) where id = ${producerId}`
  return changes === 1 ? 'done' : 'absent'
}

export function touchProducer({ sql }: WriteContext, { producerId, at }: Input<'touchProducer'>): void {
  sql.run`update producer set last_used_at = ${at} where id = ${producerId}`
}
