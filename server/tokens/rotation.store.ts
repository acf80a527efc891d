// A change of a credential rotates the sign-in of its caller: in the transaction of the change, the sign-in gets a new proof, and every proof
// before it ends (decision 0063).
import type { Audited } from '../store/events.ts'
import { get, lock, lockUser, record, signal, type Write } from '../store/statements.ts'
import { isExceptionAlive, revoke, rotatedSignIn } from './tokens.store.ts'

/** The proof that the caller of a change presents, and what replaces it: `session` for a cookie, `token` for a token. */
export type Rotation = {
  userId: string
  signInId: string
  at: number
  /** When no token that the rotation revokes is alive any more. */
  revocationExpiresAt: number
  /** Null if the change proves no password and no factor: the sign-in stays as fresh as it is. */
  confirmedAt: number | null
  session?: { familyHash: string; secretHash: string; newHash: string; lastSeenAt: number }
  /** The generations in the token: of the user's credentials, and of the sign-in. */
  token?: { generation: number; signInGeneration: number }
}
export type Rotating = { rotation?: Rotation | undefined }

/** Rotates a sign-in whose user proved a password, and changes nothing else. */
export function* rotateSignIn({ rotation, audit }: { rotation: Rotation } & Audited): Write<'done' | 'outdated'> {
  yield* lockUser(rotation.userId)
  if (yield* isOutdated(rotation)) return 'outdated'
  yield* rotate(rotation)
  yield* record(audit)
  return 'done'
}

/**
 * Whether another proof has replaced the presented one, or the sign-in has ended: the change must then change nothing. False without a
 * rotation. The caller has locked the user, so of two changes at the same time the second finds that the first one rotated the sign-in.
 */
export function* isOutdated(rotation: Rotation | undefined): Write<boolean> {
  if (rotation === undefined) return false
  const { userId, signInId, session, token } = rotation
  if (session !== undefined) {
    const { familyHash, secretHash } = session
    const newest = yield* lock`
      select 1 from session where user_id = ${userId} and family_hash = ${familyHash} and secret_hash = ${secretHash}`
    return newest === undefined
  }
  if (!(yield* isExceptionAlive({ userId, exceptSignInId: signInId, exceptGeneration: token?.generation }))) return true
  const newer = yield* get`
    select 1 from token_cutoff where user_id = ${userId} and sign_in_id = ${rotatedSignIn(signInId)}
      and first_generation > ${token?.signInGeneration ?? 0}`
  return newer !== undefined
}

/** After `isOutdated`, in the same transaction. Does nothing without a rotation. */
export function* rotate(rotation: Rotation | undefined): Write<void> {
  if (rotation === undefined) return
  const { userId, signInId, at, revocationExpiresAt: expiresAt, token } = rotation
  const firstGeneration = token === undefined ? yield* rotateSession(rotation) : token.signInGeneration + 1
  if (firstGeneration === undefined) return
  yield* revoke({ userId, signInId: rotatedSignIn(signInId), at, expiresAt, firstGeneration })
}

/** Returns the generation of the sign-in if it has tokens to revoke. */
function* rotateSession({ userId, at, confirmedAt, session }: Rotation): Write<number | undefined> {
  if (session === undefined) return undefined
  const rotated = yield* get<{ generation: number; hasTokens: number }>`
    update session set secret_hash = ${session.newHash}, generation = generation + 1, rotated_at = ${at}, secret_used_at = null,
      last_seen_at = ${session.lastSeenAt}, confirmed_at = coalesce(${confirmedAt}, confirmed_at)
    where user_id = ${userId} and family_hash = ${session.familyHash} returning generation, has_tokens as "hasTokens"`
  yield* signal({ about: 'session', userId })
  return rotated?.hasTokens === 1 ? rotated.generation : undefined
}
