// Revocations of access tokens, and the end of all sessions and tokens of a user, or all but those of one sign-in.
import { hash } from 'node:crypto'
import type { Audited } from '../store/events.ts'
import { all, get, lockUsers, onPostgres, type Read, record, send, signal, type Write } from '../store/statements.ts'
import { revocationKeptForMs } from './read-token.ts'

export type TokenRevocation = {
  userId: string
  /** One sign-in, null for every sign-in of the user, `issuedSignIns` for the tokens that were issued for the user, or a `rotatedSignIn`. */
  signInId: string | null
  /** Revokes the sign-ins, issued tokens or tokens of the sign-in with a lower generation, whatever the clocks say; 0 in a row of one sign-in. */
  firstGeneration: number
  /** In a row of every sign-in: the one sign-in that it spares, whatever the generation of its tokens. */
  exceptSignInId: string | null
  /** From this moment on every token that the row revokes has expired, and the row may be removed. */
  expiresAt: number
}

/** What a caller of the store can revoke, the tokens of one sign-in; the rest follows from a change of the user. */
export type NewRevocation = { userId: string; signInId: string; at: number; expiresAt?: number }

export type UserChange = { userId: string; at: number } & Audited

/** Used in place of a sign-in for all tokens that were issued for a user. */
export const issuedSignIns = 'issued'

/** Used in place of a sign-in for its tokens from before a rotation. */
export function rotatedSignIn(signInId: string): string {
  return `rotated ${signInId}`
}

const dayMs = 24 * 3_600_000

/** Revokes the tokens of one sign-in, and ends its session, in one step. Of two revocations the one that expires later counts. */
export function* revokeTokens(revocation: NewRevocation & Audited): Write<void> {
  yield* revoke(revocation)
  yield* record(revocation.audit)
}

/** Revokes the tokens that were issued for a user, and no other: in one step it raises the issued generation and revokes the lower ones. */
export function* revokeIssuedTokens(change: UserChange): Write<'done' | 'absent'> {
  const { userId, at } = change
  yield* lockUsers()
  const user = yield* get<{ generation: number }>`
    update "user" set issued_generation = issued_generation + 1 where id = ${userId} returning issued_generation as generation`
  if (user === undefined) return 'absent'
  const { generation: firstGeneration } = user
  yield* revoke({ userId, signInId: issuedSignIns, at, firstGeneration })
  yield* record(change.audit)
  return 'done'
}

type Revocation = NewRevocation & {
  firstGeneration?: number
  exceptSignInId?: string | null
}

/** Locks the session first, as everywhere. With '' it revokes all below the generation `firstGeneration`, except `exceptSignInId`. */
export function* revoke(revocation: Revocation): Write<void> {
  const { userId, signInId, at, firstGeneration = 0, exceptSignInId = null } = revocation
  const { expiresAt = at + revocationKeptForMs } = revocation
  const ended =
    signInId !== '' &&
    (yield* get`delete from session where user_id = ${userId} and sign_in_id = ${signInId} returning sign_in_id`)
  if (ended) yield* signal({ about: 'session', userId })
  yield* removeExpired(at)
  yield* send`
    insert into token_cutoff (user_id, sign_in_id, expires_at, first_generation, except_sign_in_id)
    values (${userId}, ${signInId}, ${expiresAt}, ${firstGeneration}, ${exceptSignInId})
    on conflict (user_id, sign_in_id) do update set
      first_generation = excluded.first_generation, except_sign_in_id = excluded.except_sign_in_id, expires_at =
      case when excluded.expires_at > token_cutoff.expires_at then excluded.expires_at else token_cutoff.expires_at end`
  yield* signal({ about: 'token-revocation' })
}

/** Rows are kept for a day after they expired: the clock may be set back. One caller at a time removes them; the others do not wait. */
function* removeExpired(at: number): Write<void> {
  const turn = yield* onPostgres<{ isMine: boolean }>`
    select pg_try_advisory_xact_lock(hashtext('carillon token_cutoff')) as "isMine"`
  if (turn?.isMine !== false) yield* send`delete from token_cutoff where expires_at <= ${at - dayMs}`
}

/** Lists the revocations that have not expired at `now`. */
export function* tokenRevocations(now: number): Read<TokenRevocation[]> {
  return yield* all<TokenRevocation>`
    select user_id as "userId", nullif(sign_in_id, '') as "signInId", expires_at as "expiresAt",
      first_generation as "firstGeneration", except_sign_in_id as "exceptSignInId"
    from token_cutoff where expires_at > ${now}`
}

/** The sign-in that a change spares: the caller's. */
export type Excepted = { exceptSignInId?: string | undefined }

/** Ends every session and token of a user, except those of `exceptSignInId`, by a higher generation. False without such a user. */
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
  yield* record(change.audit)
  return true
}

const erased = 'erased-'

/** How a token revocation names an erased user: by a hash, so that no row has the user's id. */
export function erasedKey(userId: string): string {
  return erased + hash('sha256', userId, 'base64url')
}

export function isErasedKey(name: string): boolean {
  return name.startsWith(erased)
}
