// A change of a credential gives its caller's sign-in a new proof and ends earlier ones, in the
// same transaction (decision 0063).

import { record } from '../../audit/audit.store.ts'
import type { ProvedFactor } from '../../http/operation.ts'
import type { Audited } from '../../store/events.ts'
import { exists, get, lock, send, signal, type Write } from '../../store/statements.ts'
import { revoke, rotatedSignIn } from '../../tokens/tokens.store.ts'
import { lockUser } from '../users.store.ts'

export type PresentedProof = {
  userId: string
  signInId: string
  session?: { familyHash: string; secretHash: string; newHash: string; lastSeenAt: number }
  token?: { generation: number; signInGeneration: number }
}

export type Rotation = PresentedProof & {
  at: number
  /** Null if the change proves nothing: the sign-in gets no fresher. */
  confirmedAt: number | null
  /** It adds to what the sign-in had proved. */
  factor?: ProvedFactor | undefined
}
export type Rotating = { rotation?: Rotation | undefined }

/**
 * At 'done' or 'first' it rotates the sign-in and records the entries. Returns 'outdated' if
 * another proof replaced this one: a call that waits for the user's lock sees it.
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

export function* rotateSignIn({
  rotation,
  audit,
}: { rotation: Rotation } & Audited): Write<'done' | 'outdated'> {
  yield* lockUser(rotation.userId)
  if (yield* isOutdated(rotation)) return 'outdated'
  yield* rotate(rotation)
  yield* record(audit)
  return 'done'
}

/** An earlier request must not revive a sign-in (T7). The caller has locked the user. */
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
        select 1 from revocation where user_id = ${userId} and sign_in_id = '' and except_sign_in_id = ${signInId}))
      and not exists (select 1 from revocation where user_id = ${userId} and sign_in_id = ${signInId})
      and not exists (
        select 1 from revocation where user_id = ${userId} and sign_in_id = ${rotatedSignIn(signInId)}
          and first_generation > ${token?.signInGeneration ?? 0})`)
}

function* rotate(rotation: Rotation): Write<void> {
  const { userId, signInId, at, token, factor } = rotation
  if (factor !== undefined)
    yield* send`
      update push_subscription set factor = case when factor = 'phr' then factor else ${factor} end
      where owner_id = ${userId} and sign_in_id = ${signInId}`
  const firstGeneration =
    token === undefined ? yield* rotateSession(rotation) : token.signInGeneration + 1
  if (firstGeneration === undefined) return
  yield* revoke({ userId, signInId: rotatedSignIn(signInId), at, firstGeneration })
}

function* rotateSession({
  userId,
  at,
  confirmedAt,
  factor,
  session,
}: Rotation): Write<number | undefined> {
  if (session === undefined) return undefined
  const rotated = yield* get<{ generation: number; hasTokens: number }>`
    update session set secret_hash = ${session.newHash}, generation = generation + 1, rotated_at = ${at}, secret_used_at = null,
      last_seen_at = ${session.lastSeenAt}, confirmed_at = coalesce(${confirmedAt}, confirmed_at),
      factor = case when factor = 'phr' then factor else coalesce(${factor ?? null}, factor) end
    where user_id = ${userId} and family_hash = ${session.familyHash} returning generation, has_tokens as "hasTokens"`
  yield* signal({ about: 'session', userId })
  return rotated?.hasTokens === 1 ? rotated.generation : undefined
}
