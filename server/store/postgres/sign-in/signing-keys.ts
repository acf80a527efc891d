// The keys that sign access tokens, on PostgreSQL. The writes of several rows are in functions/sign-in/signing-keys.sql.
import type { Input, SigningKey } from '../../store.ts'
import type { Database } from '../connection/connection.ts'
import { auditText } from './audit-text.ts'

export async function signingKeys(db: Database): Promise<SigningKey[]> {
  const text = `
    select kid, public_jwk as "publicJwk", sealed_private_jwk as "sealedPrivateJwk", created_at as "createdAt",
      starts_at as "startsAt", retired_at as "retiredAt"
    from signing_key order by created_at, kid`
  return db.objects('signingKeys', text, [])
}

export async function addSigningKey(
  db: Database,
  { key, after, audit }: Input<'addSigningKey'>,
): Promise<'added' | 'refused'> {
  const values = [after, JSON.stringify(key), auditText(audit)]
  const row = await db.one('addSigningKey', 'select add_signing_key($1, $2, $3)', values)
  if (row?.[0] !== true) return 'refused'
  db.changeSignals.send({ about: 'signing-key' })
  return 'added'
}

export async function dropSigningKey(
  db: Database,
  { kid, key, audit }: Input<'dropSigningKey'>,
): Promise<'done' | 'absent'> {
  const values = [kid, JSON.stringify(key), auditText(audit)]
  const row = await db.one('dropSigningKey', 'select drop_signing_key($1, $2, $3)', values)
  if (row?.[0] !== true) return 'absent'
  db.changeSignals.send({ about: 'signing-key' })
  return 'done'
}

export async function retireSigningKeys(db: Database, { kids, at }: Input<'retireSigningKeys'>): Promise<void> {
  const text = `update signing_key set retired_at = $2, sealed_private_jwk = '' where kid = any ($1) and retired_at is null`
  await db.change('retireSigningKeys', text, [kids, at])
}

export async function resealSigningKeys(db: Database, { keys, audit }: Input<'resealSigningKeys'>): Promise<number> {
  const values = [JSON.stringify(keys), auditText(audit)]
  const row = await db.one('resealSigningKeys', 'select reseal_signing_keys($1, $2)', values)
  const replaced = Number(row?.[0] ?? 0)
  if (replaced > 0) db.changeSignals.send({ about: 'signing-key' })
  return replaced
}
