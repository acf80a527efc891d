// Producers and the secrets of their keys.
import { all, get, type Read, record, run, send, type Write } from '../store/statements/statements.ts'
import { Part } from '../store/statements/templates.ts'
import type { Input, Producer } from '../store/store.ts'

export const producerReads = { findProducer, listProducers }
export const producerWrites = { addProducer, revokeProducer, rotateProducer, touchProducer }

const columns = new Part(`id, name, application, secret_hash as "secretHash", scopes, created_at as "createdAt",
  expires_at as "expiresAt", revoked_at as "revokedAt", last_used_at as "lastUsedAt",
  previous_secret_hash as "previousSecretHash", previous_until as "previousUntil"`)

/** The scopes are stored as one text, with commas between them. */
type Row = Omit<Producer, 'scopes'> & { scopes: string }

function toProducer(row: Row): Producer {
  return { ...row, scopes: row.scopes.split(',').filter((scope) => scope !== '') }
}

function* addProducer(producer: Input<'addProducer'>): Write<void> {
  const { id, name, secretHash, scopes, createdAt, expiresAt, application = '', audit } = producer
  yield* send`
    insert into producer (id, name, secret_hash, scopes, created_at, expires_at, application)
    values (${id}, ${name}, ${secretHash}, ${scopes.join(',')}, ${createdAt}, ${expiresAt}, ${application})`
  yield* record(audit)
}

function* findProducer(producerId: string): Read<Producer | undefined> {
  const row = yield* get<Row>`select ${columns} from producer where id = ${producerId}`
  return row && toProducer(row)
}

function* listProducers(): Read<Producer[]> {
  return (yield* all<Row>`select ${columns} from producer order by created_at, id`).map(toProducer)
}

function* revokeProducer({ producerId, at, audit }: Input<'revokeProducer'>): Write<'done' | 'absent'> {
  const changed = yield* run`update producer set revoked_at = coalesce(revoked_at, ${at}) where id = ${producerId}`
  if (changed === 0) return 'absent'
  yield* record(audit)
  return 'done'
}

function* rotateProducer(rotation: Input<'rotateProducer'>): Write<'done' | 'absent'> {
  const { producerId, secretHash, previousUntil, audit } = rotation
  const changed = yield* run`
    update producer set previous_secret_hash = secret_hash, previous_until = ${previousUntil}, secret_hash = ${secretHash}
    where id = ${producerId} and revoked_at is null`
  if (changed === 0) return 'absent'
  yield* record(audit)
  return 'done'
}

function* touchProducer({ producerId, at }: Input<'touchProducer'>): Write<void> {
  yield* send`update producer set last_used_at = ${at} where id = ${producerId}`
}
