// The producers and their keys, on PostgreSQL.
import type { Input, Producer } from '../store.ts'
import type { Database } from './connection/connection.ts'

const columns = `id, name, secret_hash as "secretHash", string_to_array(scopes, ',') as scopes,
  created_at as "createdAt", expires_at as "expiresAt", revoked_at as "revokedAt", last_used_at as "lastUsedAt"`

export async function addProducer(db: Database, producer: Input<'addProducer'>): Promise<void> {
  const { id, name, secretHash, scopes, createdAt, expiresAt } = producer
  const text = `insert into producer (id, name, secret_hash, scopes, created_at, expires_at)
      values ($1, $2, $3, $4, $5, $6)`
  await db.change('addProducer', text, [id, name, secretHash, scopes.join(','), createdAt, expiresAt])
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
  const text = 'update producer set revoked_at = coalesce(revoked_at, $2) where id = $1'
  return (await db.change('revokeProducer', text, [change.producerId, change.at])) === 1 ? 'done' : 'absent'
}

export async function touchProducer(db: Database, { producerId, at }: Input<'touchProducer'>): Promise<void> {
  await db.change('touchProducer', 'update producer set last_used_at = $2 where id = $1', [producerId, at])
}
