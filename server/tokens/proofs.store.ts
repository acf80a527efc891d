// Ends what users prove their identity with: all sessions and tokens of a user, or all but those of one sign-in.
import { get, send, signal, type Write } from '../store/statements.ts'
import { revoke, type UserChange } from './tokens.store.ts'

/**
 * The sign-in that a revocation of every sign-in spares: the caller's. `exceptGeneration` is the credential generation that the
 * caller's token names, or undefined for a session. A counter and the stored session decide whether the sign-in is alive; no
 * clock does.
 */
export type Excepted = { exceptSignInId?: string | undefined; exceptGeneration?: number | undefined }

/**
 * Whether the excepted sign-in is alive: its session is stored, or its token has the user's generation or was spared by the
 * revocation that raised it. Otherwise a request that began before its sign-in ended could revive it (T7). The caller has locked the user.
 */
export function* isExceptionAlive({ userId, ...excepted }: { userId: string } & Excepted): Write<boolean> {
  const { exceptSignInId: signInId, exceptGeneration: generation = null } = excepted
  if (signInId === undefined) return true
  const alive = yield* get`
    select 1 from "user" u where u.id = ${userId} and (
      exists (select 1 from session where user_id = ${userId} and sign_in_id = ${signInId})
      or not exists (select 1 from token_cutoff where user_id = ${userId} and sign_in_id = ${signInId}) and (
        u.credential_generation = ${generation}
        or cast(${generation} as bigint) is not null and exists (
          select 1 from token_cutoff where user_id = ${userId} and sign_in_id = '' and except_sign_in_id = ${signInId})))`
  return alive !== undefined
}

/** `generation`: the credential generation of the user, after it was raised. */
export function* endProofs(change: UserChange & Excepted & { generation: number }): Write<void> {
  const { userId, at, revocationExpiresAt, generation, exceptSignInId: spared = null } = change
  yield* send`
    delete from session where user_id = ${userId} and (cast(${spared} as text) is null or sign_in_id <> ${spared})`
  yield* signal({ about: 'session', userId })
  yield* revoke({ userId, signInId: '', at, expiresAt: revocationExpiresAt })
  yield* send`
    update token_cutoff set first_generation = ${generation}, except_sign_in_id = ${spared}
    where user_id = ${userId} and sign_in_id = ''`
}
