// Ends what users prove their identity with: all sessions and tokens of a user, or all but those of one sign-in.
import type { Excepted, UserChange } from '../../../store.ts'
import type { WriteContext } from '../context.ts'
import { revokeTokens } from './tokens.ts'

/**
 * Whether the excepted sign-in is alive: its session is stored, or its token has the user's generation or was spared by the
 * revocation that raised it. Otherwise a request that began before its sign-in ended could revive it (T7).
 */
export function isExceptionAlive(
  { sql }: WriteContext,
  { userId, ...excepted }: { userId: string } & Excepted,
): boolean {
  const { exceptSignInId: signInId = null, exceptGeneration: generation = null } = excepted
  if (signInId === null) return true
  const alive = sql.get`
    select 1 from user u where u.id = ${userId} and (
      exists (select 1 from session where user_id = u.id and sign_in_id = ${signInId})
      or not exists (select 1 from token_cutoff where user_id = u.id and sign_in_id = ${signInId}) and (
        u.credential_generation = ${generation}
        or ${generation} is not null and exists (
          select 1 from token_cutoff where user_id = u.id and sign_in_id = '' and except_sign_in_id = ${signInId})))`
  return alive !== undefined
}

/** After the credential generation was raised. */
export function endProofs(context: WriteContext, change: UserChange & Excepted): void {
  const { userId, at, revocationExpiresAt } = change
  const spared = change.exceptSignInId ?? null
  context.sql.run`
    delete from session where user_id = ${userId} and (${spared} is null or sign_in_id <> ${spared})`
  context.signal({ about: 'session', userId })
  revokeTokens(context, { userId, signInId: null, at, expiresAt: revocationExpiresAt })
  context.sql.run`
    update token_cutoff set except_sign_in_id = ${spared},
      first_generation = (select credential_generation from user where id = ${userId})
    where user_id = ${userId} and sign_in_id = ''`
}
