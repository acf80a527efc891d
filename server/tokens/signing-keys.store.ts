// The keys that sign access tokens. Changes of the set take turns; reads do not wait.
import {
  all,
  get,
  onPostgres,
  type Read,
  record,
  run,
  send,
  signal,
  type Write,
} from '../store/statements/statements.ts'
import { inList } from '../store/statements/templates.ts'
import type { Input, NewSigningKey, SigningKey } from '../store/store.ts'

export const signingKeyReads = { signingKeys }
export const signingKeyWrites = { addSigningKey, dropSigningKey, retireSigningKeys, resealSigningKeys }

function* signingKeys(): Read<SigningKey[]> {
  return yield* all<SigningKey>`
    select kid, public_jwk as "publicJwk", sealed_private_jwk as "sealedPrivateJwk", created_at as "createdAt",
      starts_at as "startsAt", retired_at as "retiredAt"
    from signing_key order by created_at, kid`
}

function* addSigningKey({ key, after, audit }: Input<'addSigningKey'>): Write<'added' | 'refused'> {
  yield* takeTurns()
  const last = yield* get<{ kid: string }>`
    select kid from signing_key order by starts_at desc, created_at desc, kid desc limit 1`
  if ((last?.kid ?? null) !== after) return 'refused'
  yield* insert(key)
  yield* record(audit)
  return 'added'
}

function* dropSigningKey({ kid, key, audit }: Input<'dropSigningKey'>): Write<'done' | 'absent'> {
  yield* takeTurns()
  const dropped = yield* run`delete from signing_key where kid = ${kid}`
  if (dropped === 0) return 'absent'
  yield* insert(key)
  yield* record(audit)
  return 'done'
}

function* takeTurns(): Write<void> {
  yield* onPostgres`select pg_advisory_xact_lock(hashtext('carillon signing keys'))`
}

function* insert({ kid, publicJwk, sealedPrivateJwk, createdAt, startsAt }: NewSigningKey): Write<void> {
  yield* send`
    insert into signing_key (kid, public_jwk, sealed_private_jwk, created_at, starts_at)
    values (${kid}, ${publicJwk}, ${sealedPrivateJwk}, ${createdAt}, ${startsAt})`
  yield* signal({ about: 'signing-key' })
}

function* retireSigningKeys({ kids, at }: Input<'retireSigningKeys'>): Write<void> {
  yield* send`
    update signing_key set retired_at = ${at}, sealed_private_jwk = '' where kid ${inList(kids)} and retired_at is null`
}

function* resealSigningKeys({ keys, audit }: Input<'resealSigningKeys'>): Write<number> {
  let replaced = 0
  for (const { kid, from, to } of keys)
    replaced += yield* run`
      update signing_key set sealed_private_jwk = ${to} where kid = ${kid} and sealed_private_jwk = ${from}`
  if (replaced === 0) return 0
  yield* record(audit)
  yield* signal({ about: 'signing-key' })
  return replaced
}
