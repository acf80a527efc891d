// The keys that sign access tokens. Changes of the set take turns; reads do not wait.
import type { Audited } from '../store/events.ts'
import { all, get, inList, onPostgres, type Read, record, run, send, signal, type Write } from '../store/statements.ts'
import { refuseIncomplete } from '../store/transfer-state.ts'

export type SigningKey = {
  kid: string
  publicJwk: string
  /** '' once the key is retired. */
  sealedPrivateJwk: string
  createdAt: number
  /** Nodes sign with the key from this moment, until another one starts. */
  startsAt: number
  /** Set when the last token of the key had expired; null until then. */
  retiredAt: number | null
}

export type Resealed = { kid: string; from: string; to: string }

export type NewSigningKey = Omit<SigningKey, 'retiredAt'>
type Addition = { key: NewSigningKey; after: string | null } & Audited
type Replacement = { kid: string; key: NewSigningKey } & Audited

/** Lists all keys, also retired ones, in the order of their creation. */
export function* signingKeys(): Read<SigningKey[]> {
  return yield* all<SigningKey>`
    select kid, public_jwk as "publicJwk", sealed_private_jwk as "sealedPrivateJwk", created_at as "createdAt",
      starts_at as "startsAt", retired_at as "retiredAt"
    from signing_key order by created_at, kid`
}

/** Adds a key, if `after` still starts last (null: there is none yet); else changes nothing. Of calls that name the same key, one adds. */
export function* addSigningKey({ key, after, audit }: Addition): Write<'added' | 'refused'> {
  yield* takeTurns()
  const last = yield* get<{ kid: string }>`
    select kid from signing_key order by starts_at desc, created_at desc, kid desc limit 1`
  if ((last?.kid ?? null) !== after) return 'refused'
  // Without a signing key, an operator has deleted them because the secret was lost, and nothing opens this key either.
  if (after === null) yield* send`delete from erased_key`
  yield* insert(key)
  // The first write of a service. A restore that began meanwhile has the empty database; one that begins later finds this row.
  if (after === null) {
    const ledger = yield* all<{ name: string }>`select name from kysely_migration`
    refuseIncomplete(ledger.map(({ name }) => name))
  }
  yield* record(audit)
  return 'added'
}

/** Removes a key and adds another one in the same step. If the key is absent, it changes nothing. */
export function* dropSigningKey({ kid, key, audit }: Replacement): Write<'done' | 'absent'> {
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

/** Marks keys as retired and removes their private parts. Repeating the call keeps the first `retiredAt`. */
export function* retireSigningKeys({ kids, at }: { kids: readonly string[]; at: number }): Write<void> {
  yield* send`
    update signing_key set retired_at = ${at}, sealed_private_jwk = '' where kid ${inList(kids)} and retired_at is null`
}

/** Replaces sealed private parts, each only if it is still `from`. Returns how many it replaced. */
export function* resealSigningKeys({ keys, audit }: { keys: readonly Resealed[] } & Audited): Write<number> {
  let replaced = 0
  for (const { kid, from, to } of keys)
    replaced += yield* run`
      update signing_key set sealed_private_jwk = ${to} where kid = ${kid} and sealed_private_jwk = ${from}`
  if (replaced === 0) return 0
  yield* record(audit)
  yield* signal({ about: 'signing-key' })
  return replaced
}
