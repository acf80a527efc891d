// Changes of the set take turns; reads wait for none.

import { record } from '../audit/audit.store.ts'
import type { Audited } from '../store/events.ts'
import {
  all,
  get,
  inList,
  onPostgres,
  type Read,
  run,
  send,
  signal,
  type Write,
} from '../store/statements.ts'
import { refuseIncomplete } from '../store/transfer-state.ts'

export type SigningKey = {
  kid: string
  publicJwk: string
  sealedPrivateJwk: string
  createdAt: number
  startsAt: number
  retiredAt: number | null
}

export type Resealed = { id: string; from: string; to: string }

export type NewSigningKey = Omit<SigningKey, 'retiredAt'>
type Addition = { key: NewSigningKey; after: string | null } & Audited
type Replacement = { kid: string; key: NewSigningKey } & Audited

export function* signingKeys(): Read<SigningKey[]> {
  return yield* all<SigningKey>`
    select kid, public_jwk as "publicJwk", sealed_private_jwk as "sealedPrivateJwk", created_at as "createdAt",
      starts_at as "startsAt", retired_at as "retiredAt"
    from signing_key order by created_at, kid`
}

/** Adds nothing unless `after` still starts last. */
export function* addSigningKey({ key, after, audit }: Addition): Write<'added' | 'refused'> {
  yield* takeTurns()
  const last = yield* get<{ kid: string }>`
    select kid from signing_key order by starts_at desc, created_at desc, kid desc limit 1`
  if ((last?.kid ?? null) !== after) return 'refused'
  // If an operator deleted the signing keys because the secret was lost, nothing opens these.
  if (after === null) yield* send`delete from sealed_key`
  yield* insert(key)
  // A later restore finds this row.
  if (after === null) {
    const ledger = yield* all<{ name: string }>`select name from migration`
    refuseIncomplete(ledger.map(({ name }) => name))
  }
  yield* record(audit)
  return 'added'
}

/** Without the key, does nothing. Every push subscription ends: a thief may have added some. */
export function* dropSigningKey({ kid, key, audit }: Replacement): Write<'done' | 'absent'> {
  yield* takeTurns()
  const dropped = yield* run`delete from signing_key where kid = ${kid}`
  if (dropped === 0) return 'absent'
  yield* send`delete from push_subscription`
  yield* insert(key)
  yield* record(audit)
  return 'done'
}

export function* replaceSigningKeys(key: NewSigningKey): Write<void> {
  yield* takeTurns()
  yield* send`delete from signing_key where retired_at is null`
  yield* insert(key)
}

function* takeTurns(): Write<void> {
  yield* onPostgres`select pg_advisory_xact_lock(hashtext('carillon signing keys'))`
}

function* insert({
  kid,
  publicJwk,
  sealedPrivateJwk,
  createdAt,
  startsAt,
}: NewSigningKey): Write<void> {
  yield* send`
    insert into signing_key (kid, public_jwk, sealed_private_jwk, created_at, starts_at)
    values (${kid}, ${publicJwk}, ${sealedPrivateJwk}, ${createdAt}, ${startsAt})`
  yield* signal({ about: 'signing-key' })
}

export function* retireSigningKeys({
  kids,
  at,
}: {
  kids: readonly string[]
  at: number
}): Write<void> {
  yield* send`
    update signing_key set retired_at = ${at}, sealed_private_jwk = '' where kid ${inList(kids)} and retired_at is null`
}

export function* resealSigningKeys({
  keys,
  audit,
}: { keys: readonly Resealed[] } & Audited): Write<number> {
  let replaced = 0
  for (const { id, from, to } of keys)
    replaced += yield* run`
      update signing_key set sealed_private_jwk = ${to} where kid = ${id} and sealed_private_jwk = ${from}`
  if (replaced === 0) return 0
  yield* record(audit)
  yield* signal({ about: 'signing-key' })
  return replaced
}
