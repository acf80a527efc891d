// Producers and the secrets of their keys.
import type { Audited } from '../store/events.ts'
import { all, get, Part, type Read, record, run, send, type Write } from '../store/statements.ts'

export type Producer = {
  id: string
  name: string
  /** The application whose users the producer reaches, and no others; '' for every user. */
  application: string
  secretHash: string
  scopes: readonly string[]
  /** Whether its deliveries create users: with the scope `users`, unless the key was made with `--creates-users off`. */
  createsUsers: boolean
  createdAt: number
  expiresAt: number | null
  revokedAt: number | null
  lastUsedAt: number | null
  /** The secret before the last rotation, which is accepted until `previousUntil`; null without one. */
  previousSecretHash: string | null
  previousUntil: number | null
}

type FreshProducer = Pick<Producer, 'id' | 'name' | 'secretHash' | 'scopes' | 'createdAt' | 'expiresAt'> & {
  application?: string
  createsUsers?: boolean
}

const columns = new Part(`id, name, application, secret_hash as "secretHash", scopes, created_at as "createdAt",
  expires_at as "expiresAt", revoked_at as "revokedAt", last_used_at as "lastUsedAt",
  previous_secret_hash as "previousSecretHash", previous_until as "previousUntil", creates_users as "createsUsers"`)

/** The scopes are stored as one text, with commas between them. */
type Row = Omit<Producer, 'scopes' | 'createsUsers'> & { scopes: string; createsUsers: number }

function toProducer(row: Row): Producer {
  const scopes = row.scopes.split(',').filter((scope) => scope !== '')
  return { ...row, scopes, createsUsers: row.createsUsers === 1 && scopes.includes('users') }
}

export function* addProducer(producer: FreshProducer & Audited): Write<void> {
  const { id, name, secretHash, scopes, createdAt, expiresAt, application = '', createsUsers = true, audit } = producer
  yield* send`
    insert into producer (id, name, secret_hash, scopes, created_at, expires_at, application, creates_users, number)
    select ${id}, ${name}, ${secretHash}, ${scopes.join(',')}, cast(${createdAt} as bigint), cast(${expiresAt} as bigint), ${application},
      cast(${Number(createsUsers)} as bigint), coalesce(max(number), 0) + 1 from producer`
  yield* record(audit)
}

export function* findProducer(producerId: string): Read<Producer | undefined> {
  const row = yield* get<Row>`select ${columns} from producer where id = ${producerId}`
  return row && toProducer(row)
}

/** Lists producers, oldest first, including revoked ones. */
export function* listProducers(): Read<Producer[]> {
  return (yield* all<Row>`select ${columns} from producer order by created_at, id`).map(toProducer)
}

/** Revokes a producer's key. Repeating the call keeps the first `revokedAt`. */
export function* revokeProducer(revocation: { producerId: string; at: number } & Audited): Write<'done' | 'absent'> {
  const { producerId, at, audit } = revocation
  const changed = yield* run`update producer set revoked_at = coalesce(revoked_at, ${at}) where id = ${producerId}`
  if (changed === 0) return 'absent'
  yield* record(audit)
  return 'done'
}

/** The secret before becomes the previous one. Changes nothing and returns 'absent' if the producer is unknown or revoked. */
export function* rotateProducer(
  rotation: { producerId: string; secretHash: string; previousUntil: number } & Audited,
): Write<'done' | 'absent'> {
  const { producerId, secretHash, previousUntil, audit } = rotation
  const changed = yield* run`
    update producer set previous_secret_hash = secret_hash, previous_until = ${previousUntil}, secret_hash = ${secretHash}
    where id = ${producerId} and revoked_at is null`
  if (changed === 0) return 'absent'
  yield* record(audit)
  return 'done'
}

export function* touchProducer({ producerId, at }: { producerId: string; at: number }): Write<void> {
  yield* send`update producer set last_used_at = ${at} where id = ${producerId}`
}
