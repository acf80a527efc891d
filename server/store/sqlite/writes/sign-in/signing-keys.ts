// Adds, drops, retires and re-seals the keys that sign access tokens. Each write runs in the writer thread's transaction.
import type { Input, NewSigningKey } from '../../../store.ts'
import type { WriteContext } from '../context.ts'
import { recordAudit } from './audit.ts'

export function addSigningKey(
  context: WriteContext,
  { key, after, audit }: Input<'addSigningKey'>,
): 'added' | 'refused' {
  const last = context.sql.get`
    select kid from signing_key order by starts_at desc, created_at desc, kid desc limit 1`
  if ((last?.kid ?? null) !== after) return 'refused'
  insert(context, key)
  recordAudit(context, audit)
  return 'added'
}

export function dropSigningKey(context: WriteContext, { kid, key, audit }: Input<'dropSigningKey'>): 'done' | 'absent' {
  const { changes } = context.sql.run`delete from signing_key where kid = ${kid}`
  if (changes === 0) return 'absent'
  insert(context, key)
  recordAudit(context, audit)
  return 'done'
}

function insert({ sql, signal }: WriteContext, key: NewSigningKey): void {
  sql.run`
    insert into signing_key (kid, public_jwk, sealed_private_jwk, created_at, starts_at)
    values (${key.kid}, ${key.publicJwk}, ${key.sealedPrivateJwk}, ${key.createdAt}, ${key.startsAt})`
  signal({ about: 'signing-key' })
}

export function retireSigningKeys({ sql }: WriteContext, { kids, at }: Input<'retireSigningKeys'>): void {
  for (const kid of kids)
    sql.run`
      update signing_key set retired_at = ${at}, sealed_private_jwk = '' where kid = ${kid} and retired_at is null`
}

export function resealSigningKeys(context: WriteContext, { keys, audit }: Input<'resealSigningKeys'>): number {
  let replaced = 0
  for (const { kid, from, to } of keys) {
    const { changes } = context.sql.run`
      update signing_key set sealed_private_jwk = ${to} where kid = ${kid} and sealed_private_jwk = ${from}`
    replaced += Number(changes)
  }
  if (replaced === 0) return 0
  recordAudit(context, audit)
  context.signal({ about: 'signing-key' })
  return replaced
}
