// Adds producers, revokes their keys and records when a key was used. Each write runs in the writer thread's transaction.
import type { Input } from '../../../store.ts'
import type { WriteContext } from '../context.ts'
import { recordAudit } from './audit.ts'

export function addProducer(context: WriteContext, producer: Input<'addProducer'>): void {
  context.sql.run`
    insert into producer (id, name, secret_hash, scopes, created_at, expires_at, application)
    values (${producer.id}, ${producer.name}, ${producer.secretHash}, ${producer.scopes.join(',')},
      ${producer.createdAt}, ${producer.expiresAt}, ${producer.application ?? ''})`
  recordAudit(context, producer.audit)
}

export function revokeProducer(context: WriteContext, change: Input<'revokeProducer'>): 'done' | 'absent' {
  const { changes } = context.sql.run`
    update producer set revoked_at = coalesce(revoked_at, ${change.at}) where id = ${change.producerId}`
  if (changes === 0) return 'absent'
  recordAudit(context, change.audit)
  return 'done'
}

export function touchProducer({ sql }: WriteContext, { producerId, at }: Input<'touchProducer'>): void {
  sql.run`update producer set last_used_at = ${at} where id = ${producerId}`
}

export function rotateProducer(context: WriteContext, change: Input<'rotateProducer'>): 'done' | 'absent' {
  const { changes } = context.sql.run`
    update producer
    set previous_secret_hash = secret_hash, previous_until = ${change.previousUntil}, secret_hash = ${change.secretHash}
    where id = ${change.producerId} and revoked_at is null`
  if (changes === 0) return 'absent'
  recordAudit(context, change.audit)
  return 'done'
}
