// A change of a credential rotates the sign-in of its caller: in the transaction of the change, the sign-in gets a new proof, and every proof
// before it ends (decision 0063).
import type { Audited } from '../store/events.ts'
import { exists, get, lock, lockUser, record, signal, type Write } from '../store/statements.ts'
import { revoke, rotatedSignIn } from './tokens.store.ts'

/** The proof that the caller of a change presents: `session` for a cookie, `token` for a token. */
export type PresentedProof = {
  userId: string
  signInId: string
  session?: { familyHash: string; secretHash: string; newHash: string; lastSeenAt: number }
  /** The generations in the token: of the user's credentials, and of the sign-in. */
  token?: { generation: number; signInGeneration: number }
}

/** A proof, and what replaces it. */
export type Rotation = PresentedProof & {
  at: number
  /** Null if the change proves no password and no factor: the sign-in stays as fresh as it is. */
  confirmedAt: number | null
}
export type Rotating = { rotation?: Rotation | undefined }

/**
 * The operation for a change of a user's credentials. If that is 'done', or the 'first', it rotates the sign-in and records the entries. It
 * changes nothing and returns 'absent' without such a user, and 'outdated' if another proof has replaced the presented one, or the sign-in has
 * ended: of two changes at the same time, which wait for the user's lock, the second finds that the first one rotated the sign-in.
 */
export function rotating<Change extends { userId: string } & Rotating & Audited, Outcome>(
  change: (input: Change) => Write<Outcome>,
) {
  return function* (input: Change): Write<Outcome | 'absent' | 'outdated'> {
    const { userId, rotation, audit } = input
    if (!(yield* lockUser(userId))) return 'absent'
    if (rotation !== undefined && (yield* isOutdated(rotation))) return 'outdated'
    const outcome = yield* change(input)
    if (outcome !== 'done' && outcome !== 'first') return outcome
    if (rotation !== undefined) yield* rotate(rotation)
    yield* record(audit)
    return outcome
  }
}

/** Rotates a sign-in whose user proved a password, and changes nothing else. */
export function* rotateSignIn({ rotation, audit }: { rotation: Rotation } & Audited): Write<'done' | 'outdated'> {
  yield* lockUser(rotation.userId)
  if (yield* isOutdated(rotation)) return 'outdated'
  yield* rotate(rotation)
  yield* record(audit)
  return 'done'
}

/**
 * Whether another proof has replaced the presented one, or the sign-in has ended: a request that began before must not revive it (T7). A token
 * has the user's generation, unless the revocation that raised that spared the sign-in. The caller has locked the user.
 */
export function* isOutdated({ userId, signInId, session, token }: PresentedProof): Write<boolean> {
  if (session !== undefined) {
    const { familyHash, secretHash } = session
    const newest = yield* lock`
      select 1 from session where user_id = ${userId} and family_hash = ${familyHash} and secret_hash = ${secretHash}`
    return newest === undefined
  }
  return !(yield* exists`
    select 1 from "user" u where u.id = ${userId}
      and (u.credential_generation = ${token?.generation ?? null} or exists (
        select 1 from token_cutoff where user_id = ${userId} and sign_in_id = '' and except_sign_in_id = ${signInId}))
      and not exists (select 1 from token_cutoff where user_id = ${userId} and sign_in_id = ${signInId})
      and not exists (
        select 1 from token_cutoff where user_id = ${userId} and sign_in_id = ${rotatedSignIn(signInId)}
          and first_generation > ${token?.signInGeneration ?? 0})`)
}

function* rotate(rotation: Rotation): Write<void> {
  const { userId, signInId, at, token } = rotation
  const firstGeneration = token === undefined ? yield* rotateSession(rotation) : token.signInGeneration + 1
  if (firstGeneration === undefined) return
  yield* revoke({ userId, signInId: rotatedSignIn(signInId), at, firstGeneration })
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
