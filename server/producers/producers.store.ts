import { record } from '../audit/audit.store.ts'
import type { Audited } from '../store/events.ts'
import { all, get, Part, type Read, run, send, type Write } from '../store/statements.ts'

export type KeyRate = { quota: number; seconds: number }

export type Producer = {
  id: string
  name: string
  /** '' reaches every user. */
  application: string
  secretHash: string
  scopes: readonly string[]
  createsUsers: boolean
  createdAt: number
  expiresAt: number | null
  revokedAt: number | null
  lastUsedAt: number | null
  previousSecretHash: string | null
  previousUntil: number | null
  rate: KeyRate | null
}

type FreshProducer = Pick<
  Producer,
  'id' | 'name' | 'secretHash' | 'scopes' | 'createdAt' | 'expiresAt'
> & {
  application?: string
  createsUsers?: boolean
  rate?: KeyRate | null
}

const columns =
  new Part(`id, name, application, secret_hash as "secretHash", scopes, created_at as "createdAt",
  expires_at as "expiresAt", revoked_at as "revokedAt", last_used_at as "lastUsedAt",
  previous_secret_hash as "previousSecretHash", previous_until as "previousUntil", creates_users as "createsUsers", rate_quota as quota,
  rate_seconds as seconds`)

type Row = Omit<Producer, 'scopes' | 'createsUsers' | 'rate'> & {
  scopes: string
  createsUsers: number
  quota: number | null
  seconds: number | null
}

function toProducer({ quota, seconds, ...row }: Row): Producer {
  const scopes = row.scopes.split(',').filter((scope) => scope !== '')
  const rate = quota === null || seconds === null ? null : { quota, seconds }
  return { ...row, scopes, createsUsers: row.createsUsers === 1 && scopes.includes('users'), rate }
}

export function* addProducer(producer: FreshProducer & Audited): Write<void> {
  const {
    id,
    name,
    secretHash,
    scopes,
    createdAt,
    expiresAt,
    application = '',
    createsUsers = true,
    rate = null,
    audit,
  } = producer
  yield* send`
    insert into producer (id, name, secret_hash, scopes, created_at, expires_at, application, creates_users, rate_quota, rate_seconds,
      number)
    select ${id}, ${name}, ${secretHash}, ${scopes.join(',')}, cast(${createdAt} as bigint), cast(${expiresAt} as bigint), ${application},
      cast(${Number(createsUsers)} as bigint), cast(${rate?.quota ?? null} as bigint), cast(${rate?.seconds ?? null} as bigint), coalesce(max(number), 0) + 1 from producer`
  yield* record(audit)
}

export function* findProducer(producerId: string): Read<Producer | undefined> {
  const row = yield* get<Row>`select ${columns} from producer where id = ${producerId}`
  return row && toProducer(row)
}

export function* listProducers(): Read<Producer[]> {
  return (yield* all<Row>`select ${columns} from producer order by created_at, id`).map(toProducer)
}

/** Repeating keeps the first `revokedAt`. */
export function* revokeProducer(
  revocation: { producerId: string; at: number } & Audited,
): Write<'done' | 'absent'> {
  const { producerId, at, audit } = revocation
  const changed =
    yield* run`update producer set revoked_at = coalesce(revoked_at, ${at}) where id = ${producerId}`
  if (changed === 0) return 'absent'
  yield* record(audit)
  return 'done'
}

/** Returns 'absent', and changes nothing, for an unknown or revoked producer. */
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

export function* touchProducer({
  producerId,
  at,
}: {
  producerId: string
  at: number
}): Write<void> {
  yield* send`update producer set last_used_at = ${at} where id = ${producerId}`
}

/** Returns all nodes' uses; 0 for an older window. */
export function* countUses(uses: {
  producerId: string
  window: number
  uses: number
}): Write<number> {
  const { producerId, window } = uses
  const row = yield* get<{ used: number }>`
    update producer set rate_used = case when rate_window = ${window} then rate_used + ${uses.uses} else ${uses.uses} end, rate_window = ${window}
    where id = ${producerId} and rate_window <= ${window} returning rate_used as used`
  return row?.used ?? 0
}
