// The producers and their keys, on PostgreSQL.
import type { Input, Producer } from '../../store.ts'
import type { Database } from '../connection/connection.ts'
import { audited, auditText } from './audit-text.ts'

const columns = `id, name, application, secret_hash as "secretHash", string_to_array(scopes, ',') as scopes,
  created_at as "createdAt", expires_at as "expiresAt", revoked_at as "revokedAt", last_used_at as "lastUsedAt",
  previous_secret_hash as "previousSecretHash", previous_until as "previousUntil"`

export async function addProducer(db: Database, producer: Input<'addProducer'>): Promise<void> {
  const { id, name, secretHash, scopes, createdAt, expiresAt, application = '' } = producer
  const values = [id, name, secretHash, scopes.join(','), createdAt, expiresAt, application, auditText(producer.audit)]
  await db.one('addProducer', 'select add_new_producer($1, $2, $3, $4, $5, $6, $7), record_audit($8)', values)
}

export async function findProducer(db: Database, producerId: string): Promise<Producer | undefined> {
  const text = `select ${columns} from producer where id = $1`
  return (await db.objects<Producer>('producer', text, [producerId]))[0]
}

export async function listProducers(db: Database): Promise<Producer[]> {
  const text = `select ${columns} from producer order by created_at, id`
  return db.objects('producers', text, [])
}

export async function revokeProducer(db: Database, change: Input<'revokeProducer'>): Promise<'done' | 'absent'> {
  const text = audited('revoke_producer($1, $2)', { outcome: 'true', entries: '$3' })
  const row = await db.one('revokeProducer', text, [change.producerId, change.at, auditText(change.audit)])
  return row?.[0] === true ? 'done' : 'absent'
}

export async function touchProducer(db: Database, { producerId, at }: Input<'touchProducer'>): Promise<void> {
  await db.change('touchProducer', 'update producer set last_used_at = $2 where id = $1', [producerId, at])
}

export async function rotateProducer(db: Database, change: Input<'rotateProducer'>): Promise<'done' | 'absent'> {
  const { producerId, secretHash, previousUntil, audit } = change
  const text = audited('rotate_producer($1, $2, $3)', { outcome: 'true', entries: '$4' })
  const row = await db.one('rotateProducer', text, [producerId, secretHash, previousUntil, auditText(audit)])
  return row?.[0] === true ? 'done' : 'absent'
}
