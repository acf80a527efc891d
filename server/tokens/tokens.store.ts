// Revokes access tokens, and ends all proofs of a user but those of a spared sign-in.
import { hash } from 'node:crypto'
import { record } from '../audit/audit.store.ts'
import type { Audited } from '../store/events.ts'
import {
  all,
  get,
  onPostgres,
  type Read,
  send,
  sendOnPostgres,
  signal,
  type Write,
} from '../store/statements.ts'
import { revocationKeptForMs } from './read-token.ts'

export type TokenRevocation = {
  userId: string
  /** Null revokes all sign-ins of the user. */
  signInId: string | null
  /** Revokes lower generations, whatever the clocks say. */
  firstGeneration: number
  /** Spared, whatever its generation. */
  exceptSignInId: string | null
  expiresAt: number
}

export type NewRevocation = { userId: string; signInId: string; at: number; expiresAt?: number }

export type UserChange = { userId: string; at: number } & Audited

export const issuedSignIns = 'issued'

export function rotatedSignIn(signInId: string): string {
  return `rotated ${signInId}`
}

const dayMs = 24 * 3_600_000

/** Also ends the session. The later `expiresAt` counts. */
export function* revokeTokens(revocation: NewRevocation & Audited): Write<void> {
  yield* revoke(revocation)
  yield* record(revocation.audit)
}

type Revocation = NewRevocation & {
  firstGeneration?: number
  exceptSignInId?: string | null
}

/** As everywhere, locks the session first. '' revokes all but `exceptSignInId`. */
export function* revoke(revocation: Revocation): Write<void> {
  const { userId, signInId, at, firstGeneration = 0, exceptSignInId = null } = revocation
  const { expiresAt = at + revocationKeptForMs } = revocation
  const ended =
    signInId !== '' &&
    (yield* get`delete from session where user_id = ${userId} and sign_in_id = ${signInId} returning sign_in_id`)
  if (ended) yield* signal({ about: 'session', userId })
  if (signInId !== '') yield* endSubscriptions(userId, signInId)
  yield* removeExpired(at)
  yield* send`
    insert into revocation (user_id, sign_in_id, expires_at, first_generation, except_sign_in_id)
    values (${userId}, ${signInId}, ${expiresAt}, ${firstGeneration}, ${exceptSignInId})
    on conflict (user_id, sign_in_id) do update set
      first_generation = excluded.first_generation, except_sign_in_id = excluded.except_sign_in_id, expires_at =
      case when excluded.expires_at > revocation.expires_at then excluded.expires_at else revocation.expires_at end`
  yield* signal({ about: 'token-revocation' })
}

/** A day late, because the clock may be set back. */
function* removeExpired(at: number): Write<void> {
  const turn = yield* onPostgres<{ isMine: boolean }>`
    select pg_try_advisory_xact_lock(hashtext('carillon revocation')) as "isMine"`
  if (turn?.isMine !== false) yield* send`delete from revocation where expires_at <= ${at - dayMs}`
}

export function* tokenRevocations(now: number): Read<TokenRevocation[]> {
  return yield* all<TokenRevocation>`
    select user_id as "userId", nullif(sign_in_id, '') as "signInId", expires_at as "expiresAt",
      first_generation as "firstGeneration", except_sign_in_id as "exceptSignInId"
    from revocation where expires_at > ${now}`
}

export function* endSubscriptions(userId: string, signInId: string): Write<void> {
  yield* lockSubscriptions(userId)
  yield* send`delete from push_subscription where owner_id = ${userId} and sign_in_id = ${signInId}`
}

/**
 * A step that ends a sign-in takes this lock last. One that adds a subscription takes it first,
 * then looks if the sign-in has ended. So no ending sign-in gets one.
 */
export function* lockSubscriptions(userId: string): Write<void> {
  yield* sendOnPostgres`select pg_advisory_xact_lock(hashtext('carillon push'), hashtext(${userId}))`
}

export type Excepted = { exceptSignInId?: string | undefined }

export function* endProofs(change: UserChange & Excepted): Write<boolean> {
  const { userId, at, exceptSignInId = null } = change
  const user = yield* get<{ firstGeneration: number }>`
    update "user" set credential_generation = credential_generation + 1
    where id = ${userId} returning credential_generation as "firstGeneration"`
  if (user === undefined) return false
  yield* send`
    delete from session
    where user_id = ${userId} and (cast(${exceptSignInId} as text) is null or sign_in_id <> ${exceptSignInId})`
  yield* signal({ about: 'session', userId })
  yield* revoke({ userId, signInId: '', at, exceptSignInId, ...user })
  yield* lockSubscriptions(userId)
  yield* send`
    delete from push_subscription
    where owner_id = ${userId} and (cast(${exceptSignInId} as text) is null or sign_in_id <> ${exceptSignInId})`
  yield* record(change.audit)
  return true
}

const erased = 'erased-'

/** No row has the id of an erased user. */
export function erasedKey(userId: string): string {
  return erased + hash('sha256', userId, 'base64url')
}

export function isErasedKey(name: string): boolean {
  return name.startsWith(erased)
}
